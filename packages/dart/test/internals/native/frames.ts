/** RoCEv2 frames, good and damaged, and what a plain good one is, as rnic-state.ts says it. */
import { decodeRoce, encodeRoce, ROCE_OPCODE } from '@int/codec';
import { icrc, writeIcrc } from '@int/codec/internals';
import type { Random } from '@int/random';
import { ENTRY_WORDS, QUEUE_PAIRS_AT, REGIONS_AT, RNIC_STATE_WORDS, STATE_WORD } from '../../../src/rdma/rnic-state.js';

const ETHERNET_BYTES = 14;
const UDP_PORT = 4791;
/** Near the end of 32 bits: an address that is taken as too few bits shows. */
const BASE = 0x7f12_ffff_ff00n;
const REMOTE_KEYS = [0x1234_5678, 0xdead_beef] as const;
const QUEUE_PAIRS: readonly number[] = [0x11, 0xabcdef, 7];

/** A receiver with some queue pairs, of which the second is RC, and two regions, of which the second is read-only. */
export function rnicState(random: Random, size: number, checksIcrc: boolean): Uint32Array {
  const state = new Uint32Array(RNIC_STATE_WORDS);
  state[STATE_WORD.QUEUE_PAIRS] = QUEUE_PAIRS.length;
  state[STATE_WORD.REGIONS] = REMOTE_KEYS.length;
  state[STATE_WORD.PARTITION_KEY] = 0xffff;
  state[STATE_WORD.PORT] = UDP_PORT;
  state[STATE_WORD.CHECKS_ICRC] = checksIcrc ? 1 : 0;
  for (const [at, number] of QUEUE_PAIRS.entries()) {
    // Near the end of 24 bits.
    state.set([number, at === 1 ? 1 : 0, 0xffffff - random.integer(20), 1], QUEUE_PAIRS_AT + at * ENTRY_WORDS);
  }
  for (const [at, key] of REMOTE_KEYS.entries()) {
    const base = [Number(BASE & 0xffffffffn), Number(BASE >> 32n)];
    state.set([key, at === 0 ? 1 : 0, 0, ...base, size, 0], REGIONS_AT + at * ENTRY_WORDS);
  }
  return state;
}

function oneOf<T>(random: Random, usual: T, ...others: readonly T[]): T {
  return random.integer(12) > 0 ? usual : others[random.integer(others.length)]!;
}

/** A frame for the state as it is; about half of them are damaged or not for this receiver. */
export function randomFrame(random: Random, state: Uint32Array, size: number): Uint8Array {
  const pair = QUEUE_PAIRS_AT + oneOf(random, 0, 1, 2) * ENTRY_WORDS;
  const length = oneOf(random, Math.min(24, size), 0, 1, 2, 3, Math.min(size, 100));
  const offset = oneOf(random, random.integer(size - length + 1), -1, size - length + 1, size, 2 ** 32);
  const payload = Uint8Array.from({ length }, () => random.uint32());
  const fields = {
    ethernet: { destination: '02:00:00:00:00:01', source: '02:00:00:00:00:02' },
    source: '10.0.0.1',
    destination: '10.0.0.2',
    dscp: random.integer(64),
    timeToLive: 1 + random.integer(255),
    identification: random.integer(65536),
    destinationPort: oneOf(random, UDP_PORT, 4790),
    opcode: oneOf<number>(random, ROCE_OPCODE.UC_WRITE_ONLY, ROCE_OPCODE.RC_WRITE_ONLY),
    destinationQp: oneOf(random, state[pair]!, 5),
    psn: (state[pair + 2]! + oneOf(random, 0, 1, 0xffffff)) & 0xffffff,
    partitionKey: oneOf(random, 0xffff, 0x7fff, 0xfffe),
    payload,
    reth: {
      virtualAddress: BigInt.asUintN(64, BASE + BigInt(offset)),
      remoteKey: oneOf<number>(random, REMOTE_KEYS[0], REMOTE_KEYS[1], 1),
      dmaLength: oneOf(random, length, length + 1, 0),
    },
  };
  let frame: Uint8Array = encodeRoce(fields);
  if (random.integer(3) === 0) {
    frame[random.integer(frame.length)]! ^= 1 << random.integer(8);
    // A frame that is well-formed but for this, in half of the cases.
    if (random.integer(2) === 0 && isWhole(frame)) resign(frame);
  }
  if (random.integer(12) === 0) frame = frame.subarray(0, random.integer(frame.length));
  else if (random.integer(6) === 0) frame = Buffer.concat([frame, new Uint8Array(random.integer(30)).fill(255)]);
  return frame;
}

/** Whether the lengths of the headers still lead to an iCRC. */
function isWhole(frame: Uint8Array): boolean {
  const total = frame[16]! * 256 + frame[17]!;
  return frame[14] === 0x45 && total === frame.length - ETHERNET_BYTES;
}

/** Makes the iCRC right. */
function resign(frame: Uint8Array): void {
  const end = frame.length - 4;
  writeIcrc(icrc(frame, ETHERNET_BYTES, end - ETHERNET_BYTES), frame, end);
}

/** Where the payload of a plain good frame goes. */
export interface Accepted {
  readonly offset: number;
  readonly payload: Uint8Array;
}

/** Takes a frame as `rnic-state.ts` has it, by means of the codec's objects; null if it is no plain good one. */
export function accept(state: Uint32Array, frame: Uint8Array): Accepted | null {
  if (frame.length < ETHERNET_BYTES + 1 || frame[12] !== 8 || frame[13] !== 0 || frame[14] !== 0x45) return null;
  const packet = decoded(frame, state);
  if (packet === null || packet.opcode !== ROCE_OPCODE.UC_WRITE_ONLY || packet.reth === null) return null;
  if ((packet.partitionKey & 0x7fff) !== (state[STATE_WORD.PARTITION_KEY]! & 0x7fff)) return null;
  const number = QUEUE_PAIRS.indexOf(packet.destinationQp);
  const pair = QUEUE_PAIRS_AT + number * ENTRY_WORDS;
  if (number < 0 || state[pair + 1] !== 0 || state[pair + 2] !== packet.psn) return null;
  const { virtualAddress, remoteKey, dmaLength } = packet.reth;
  const offset = virtualAddress - BASE;
  const size = BigInt(state[REGIONS_AT + 5]!);
  if (remoteKey !== REMOTE_KEYS[0] || dmaLength === 0 || dmaLength !== packet.payload.length) return null;
  if (offset < 0n || offset + BigInt(dmaLength) > size) return null;
  state[pair + 2] = (packet.psn + 1) & 0xffffff;
  return { offset: Number(offset), payload: packet.payload };
}

function decoded(frame: Uint8Array, state: Uint32Array): ReturnType<typeof decodeRoce> | null {
  try {
    return decodeRoce(frame, 0, { port: UDP_PORT, verifyIcrc: state[STATE_WORD.CHECKS_ICRC] === 1 });
  } catch {
    return null;
  }
}
