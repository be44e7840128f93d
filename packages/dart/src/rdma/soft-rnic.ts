import { ROCE_OPCODE } from '@int/codec';
import { ROCE_PORT } from '@int/codec/internals';
import { whole } from '../layout.js';
import { checkRange, checkRows } from '../store/checks.js';
import { AnswerWriter, AtomicAnswers, SYNDROME } from './answers.js';
import { type DatagramEnds, DatagramRebuilder } from './datagram.js';
import { MOST_ADDRESSES, MULTI_WRITE_FIXED_BYTES, MULTI_WRITE_OPCODE, MULTI_WRITE_VERSION } from './multi-write.js';
import { FIRST_REJECT, OUTCOME, OUTCOME_NAMES, type Outcome, type RnicCounters } from './outcomes.js';
import { PacketReader, uint16At, uint24At, uint32At } from './packet-reader.js';
import { type QueuePairOptions, QueuePairs } from './queue-pairs.js';
import { type RegionOptions, Regions } from './regions.js';
import { RNIC_STATE_WORDS, type RnicAccelerator, STATE_WORD } from './rnic-state.js';
import type { RdmaTarget } from './target.js';

/** Options for a software RNIC. */
export interface SoftRnicOptions {
  readonly queuePairs?: readonly QueuePairOptions[];
  readonly regions?: readonly RegionOptions[];
  /** UDP destination port of frames and IP packets; default 4791. For datagrams, the socket determines it. */
  readonly port?: number;
  /** Partition key, 16 bits, of which the lower 15 are compared; default 0xffff. */
  readonly partitionKey?: number;
  /**
   * `check`, the default: a packet with a wrong iCRC is rejected; datagrams are assumed to have had the IPv4
   * identification 0 and "do not fragment". `any-identification`: datagrams may have had any identification and flag,
   * which leaves 15 of the iCRC's 32 bits to find errors. `skip`: iCRCs are not checked.
   */
  readonly icrc?: 'check' | 'any-identification' | 'skip';
  /** Whether multi-slot writes are executed (MULTI-WRITE.md); default false. */
  readonly multiWrite?: boolean;
  /** Memory for the state, such as an accelerator's: at least `RNIC_STATE_WORDS` words. The constructor zeroes it. */
  readonly state?: Uint32Array;
  /** Receives immediate data of writes, after the write. It must not pass packets to the RNIC. */
  readonly onImmediate?: (value: number, queuePair: number) => void;
}

const WRITE = 1;
const WRITE_IMMEDIATE = 2;
const ATOMIC = 3;
const MULTI = 4;

const KINDS: Uint8Array = /* @__PURE__ */ (() => {
  const kinds = new Uint8Array(256);
  kinds[ROCE_OPCODE.RC_WRITE_ONLY] = kinds[ROCE_OPCODE.UC_WRITE_ONLY] = WRITE;
  kinds[ROCE_OPCODE.RC_WRITE_ONLY_IMMEDIATE] = kinds[ROCE_OPCODE.UC_WRITE_ONLY_IMMEDIATE] = WRITE_IMMEDIATE;
  kinds[ROCE_OPCODE.RC_COMPARE_SWAP] = kinds[ROCE_OPCODE.RC_FETCH_ADD] = ATOMIC;
  kinds[MULTI_WRITE_OPCODE] = MULTI;
  return kinds;
})();

const BTH_BYTES = 12;
const RETH_BYTES = 16;
const ATOMIC_ETH_BYTES = 28;
/** Most frames executed here before the accelerator is tried again. The number doubles at each immediate refusal. */
const MOST_PATIENCE = 256;

/**
 * An RDMA NIC in software. It receives RoCEv2 packets, executes RDMA WRITE-only, COMPARE&SWAP and FETCH&ADD, and writes
 * into the memory of its regions. It never writes outside of them, whatever arrives.
 *
 * Checks have this order, and the first that fails determines the counter: lengths and headers; iCRC; queue pair;
 * partition; opcode; service; lengths that depend on the opcode; packet sequence number; remote key; access; DMA
 * length; bounds; alignment.
 *
 * On UC queue pairs, a gap in the sequence numbers is counted and skipped. An earlier packet is rejected as stale.
 * After 16 stale packets with successive numbers, the switch is assumed to have restarted, and its next packet is
 * accepted. On RC queue pairs, only the next packet is accepted. A write is acknowledged on request, an atomic always,
 * and a gap once, with a NAK. A repeated request is answered again, but not executed. A request that cannot be executed
 * is answered with a NAK; unlike in hardware, the queue pair stays usable.
 *
 * Packets rejected by a check after that of the sequence number still advance the sequence, with one exception: a
 * packet without a valid remote key changes nothing, so that senders without a key cannot disturb others.
 *
 * A write of zero bytes is rejected (`dmaLength`). The checksums of the IPv4 header and of UDP are not checked: the
 * iCRC covers all relevant fields.
 */
export class SoftRnic {
  /** See rnic-state.ts. */
  readonly state: Uint32Array;
  /**
   * Receives the answers of RC queue pairs. An answer starts with the same header as its request: Ethernet, IP, or (for
   * a datagram) the BTH. It is valid only during the call, in which the RNIC must not receive packets. Null: no
   * answers.
   */
  onAnswer: ((packet: Uint8Array) => void) | null = null;
  readonly #options: SoftRnicOptions;
  readonly #outcomes = new Float64Array(OUTCOME_NAMES.length);
  readonly #queuePairs: QueuePairs;
  readonly #regions: Regions;
  readonly #reader = new PacketReader();
  readonly #rebuilder = new DatagramRebuilder();
  readonly #answers = new AnswerWriter();
  readonly #atomics = new Map<number, AtomicAnswers>();
  readonly #targets = new Float64Array(MOST_ADDRESSES);
  #acknowledgements = 0;
  #negative = 0;
  #accelerator: RnicAccelerator | null = null;
  #start = 0;
  #isDatagram = false;

  /** @throws RangeError for an option out of its range */
  constructor(options: SoftRnicOptions = {}) {
    const { state = new Uint32Array(RNIC_STATE_WORDS), port = ROCE_PORT, partitionKey = 0xffff } = options;
    const { icrc = 'check' } = options;
    if (state.length < RNIC_STATE_WORDS) throw new RangeError(`the state needs ${RNIC_STATE_WORDS} words`);
    whole('port', port, 0, 0xffff);
    whole('partitionKey', partitionKey, 0, 0xffff);
    if (!['check', 'any-identification', 'skip'].includes(icrc)) throw new RangeError(`icrc ${String(icrc)}`);
    this.state = state;
    state.fill(0, 0, RNIC_STATE_WORDS);
    state[STATE_WORD.PORT] = port;
    state[STATE_WORD.PARTITION_KEY] = partitionKey;
    state[STATE_WORD.CHECKS_ICRC] = icrc === 'skip' ? 0 : 1;
    this.#options = options;
    this.#queuePairs = new QueuePairs(state);
    this.#regions = new Regions(state);
    for (const queuePair of options.queuePairs ?? []) this.#queuePairs.add(queuePair);
    for (const region of options.regions ?? []) this.#regions.add(region);
  }

  /** @throws RangeError for a number out of its range, or a queue pair that already exists */
  addQueuePair(queuePair: QueuePairOptions): void {
    this.#queuePairs.add(queuePair);
  }

  /** @throws RangeError for a number out of its range, or a remote key that already exists */
  addRegion(region: RegionOptions): void {
    this.#regions.add(region);
  }

  /**
   * Binds a remote key to another target, as at the end of an epoch. It stops the use of an accelerator, which writes
   * into the old target.
   *
   * @throws RangeError if the key does not exist, or the target is smaller than the region
   */
  rebind(remoteKey: number, target: RdmaTarget): void {
    this.#regions.rebind(remoteKey, target);
    this.#accelerator = null;
  }

  /**
   * Sets the next sequence number of a queue pair; null takes it from the next packet.
   *
   * @throws RangeError if the queue pair does not exist
   */
  expect(queuePair: number, psn: number | null): void {
    this.#queuePairs.expect(queuePair, psn);
  }

  /** Lets an accelerator execute plain good frames in {@link receiveRows}; null stops this. */
  useAccelerator(accelerator: RnicAccelerator | null): void {
    this.#accelerator = accelerator;
  }

  /** A copy of the counters. */
  get counters(): RnicCounters {
    const outcomes = this.#outcomes;
    const named = Object.fromEntries(OUTCOME_NAMES.map((name, at) => [name, outcomes[at]!])) as RnicCounters;
    named.accepted = outcomes.subarray(0, FIRST_REJECT).reduce((sum, count) => sum + count, 0);
    named.rejected = outcomes.subarray(FIRST_REJECT).reduce((sum, count) => sum + count, 0);
    const { lost, gaps, restarts } = this.#queuePairs;
    const acknowledgements = this.#acknowledgements;
    return Object.assign(named, { lost, gaps, restarts, acknowledgements, negativeAcknowledgements: this.#negative });
  }

  /**
   * Takes an Ethernet frame, without its frame check sequence.
   *
   * @returns its outcome; see `OUTCOME_NAMES`
   * @throws RangeError for a range that is not inside `frame`
   */
  receive(frame: Uint8Array, offset = 0, length: number = frame.length - offset): Outcome {
    checkRange(offset, length, frame.length);
    return this.#receiveFrame(frame, offset, offset + length);
  }

  /** Like {@link receive}, for a packet that starts with its IP header. */
  receiveIp(packet: Uint8Array, offset = 0, length: number = packet.length - offset): Outcome {
    checkRange(offset, length, packet.length);
    this.#isDatagram = false;
    this.#start = offset;
    const end = offset + length;
    const rejected = this.#reader.openIp(packet, offset, end);
    return this.#count(rejected < 0 ? this.#take(packet, end, this.state[STATE_WORD.PORT]!) : rejected);
  }

  /**
   * Takes a payload from a UDP socket: BTH to iCRC. The headers before it, which the iCRC covers, are rebuilt.
   *
   * @throws AddressError, RangeError for invalid addresses or two IP versions
   */
  receiveDatagram(payload: Uint8Array, ends: DatagramEnds): Outcome {
    const rebuilder = this.#rebuilder;
    const length = rebuilder.rebuild(payload, ends);
    if (length < 0) return this.#count(OUTCOME.header);
    this.#isDatagram = true;
    this.#start = 0;
    this.#reader.openIp(rebuilder.bytes, 0, length);
    return this.#count(this.#take(rebuilder.bytes, length, -1));
  }

  /**
   * Takes many Ethernet frames: frame i is `bytes[offsets[i] .. offsets[i] + lengths[i])`. Allocates nothing, except
   * for atomics.
   *
   * @returns packets executed
   * @throws RangeError for rows outside the columns, before any frame is taken
   */
  receiveRows(bytes: Uint8Array, offsets: Uint32Array, lengths: Uint32Array, from = 0, to = offsets.length): number {
    checkRows({ offsets, lengths }, from, to);
    for (let row = from; row < to; row++) {
      if (offsets[row]! + lengths[row]! > bytes.length) throw new RangeError(`frame ${row} is not inside the bytes`);
    }
    const accelerator = this.#accelerator;
    let accepted = 0;
    let patience = 1;
    for (let row = from; row < to; ) {
      if (accelerator !== null) {
        const next = accelerator.run(bytes, offsets, lengths, row, to);
        this.#outcomes[OUTCOME.write]! += next - row;
        accepted += next - row;
        // The accelerator is tried less often on traffic that it refuses.
        patience = next > row ? 1 : Math.min(patience * 2, MOST_PATIENCE);
        row = next;
      } else patience = to - row;
      for (const stop = Math.min(row + patience, to); row < stop; row++) {
        const offset = offsets[row]!;
        if (this.#receiveFrame(bytes, offset, offset + lengths[row]!) < FIRST_REJECT) accepted++;
      }
    }
    return accepted;
  }

  #count(outcome: number): Outcome {
    this.#outcomes[outcome]!++;
    return outcome as Outcome;
  }

  #receiveFrame(bytes: Uint8Array, offset: number, end: number): Outcome {
    this.#isDatagram = false;
    this.#start = offset;
    const rejected = this.#reader.openFrame(bytes, offset, end);
    return this.#count(rejected < 0 ? this.#take(bytes, end, this.state[STATE_WORD.PORT]!) : rejected);
  }

  #take(bytes: Uint8Array, end: number, port: number): number {
    const reader = this.#reader;
    const rejected = reader.read(bytes, end, port);
    if (rejected >= 0) return rejected;
    if (this.state[STATE_WORD.CHECKS_ICRC] === 1) {
      const anyIdentification = this.#isDatagram && this.#options.icrc === 'any-identification';
      if (!reader.hasRightIcrc(bytes, anyIdentification)) return OUTCOME.icrc;
    }
    const { bthAt, opcode } = reader;
    const queuePair = this.#queuePairs.find(uint24At(bytes, bthAt + 5));
    if (queuePair < 0) return OUTCOME.queuePair;
    if (((uint16At(bytes, bthAt + 2) ^ this.state[STATE_WORD.PARTITION_KEY]!) & 0x7fff) !== 0) return OUTCOME.partition;
    const kind = KINDS[opcode]!;
    if (kind === 0 || (kind === MULTI && this.#options.multiWrite !== true)) return OUTCOME.opcode;
    const isReliable = this.#queuePairs.isReliable(queuePair);
    // The upper three bits of an opcode are the service; 0 is RC.
    if ((opcode >>> 5 === 0) !== isReliable) return OUTCOME.service;
    const badLength = this.#checkBody(bytes, kind);
    if (badLength >= 0) return badLength;
    const psn = uint24At(bytes, bthAt + 9);
    const region = this.#regions.find(uint32At(bytes, bthAt + BTH_BYTES + (kind === MULTI ? 4 : 8)));
    if (!isReliable) {
      const order = this.#queuePairs.takeUnreliable(queuePair, psn, region >= 0);
      if (order >= 0) return order;
      return kind === MULTI ? this.#multiWrite(bytes, region) : this.#write(bytes, kind, region);
    }
    const order = this.#queuePairs.takeReliable(queuePair, psn, region >= 0);
    if (order >= 0) {
      if (region >= 0) this.#answerOrder(bytes, queuePair, kind, psn, order);
      return order;
    }
    const outcome = kind === ATOMIC ? this.#atomic(bytes, queuePair, psn, region) : this.#write(bytes, kind, region);
    if (outcome >= FIRST_REJECT) this.#answerReject(bytes, queuePair, outcome, psn);
    else if (kind !== ATOMIC && this.#asksForAnswer(bytes)) this.#answer(bytes, queuePair, SYNDROME.ACKNOWLEDGED, psn);
    return outcome;
  }

  /** Checks for the headers that the opcode requires. @returns outcome of a reject, or -1 */
  #checkBody(bytes: Uint8Array, kind: number): number {
    const reader = this.#reader;
    const body = reader.bodyBytes;
    if (kind === ATOMIC) {
      if (body < ATOMIC_ETH_BYTES) return OUTCOME.truncated;
      return body === ATOMIC_ETH_BYTES && reader.padCount === 0 ? -1 : OUTCOME.header;
    }
    if (kind !== MULTI) return body < RETH_BYTES + (kind === WRITE_IMMEDIATE ? 4 : 0) ? OUTCOME.truncated : -1;
    if (body < MULTI_WRITE_FIXED_BYTES) return OUTCOME.truncated;
    const at = reader.bthAt + BTH_BYTES;
    const count = bytes[at + 1]!;
    if (bytes[at] !== MULTI_WRITE_VERSION || count === 0 || count > MOST_ADDRESSES) return OUTCOME.opcode;
    return body < MULTI_WRITE_FIXED_BYTES + 8 * count ? OUTCOME.truncated : -1;
  }

  #write(bytes: Uint8Array, kind: number, region: number): number {
    const reader = this.#reader;
    const at = reader.bthAt + BTH_BYTES;
    if (region < 0) return OUTCOME.remoteKey;
    if (!this.#regions.canWrite(region)) return OUTCOME.access;
    const headerBytes = kind === WRITE ? RETH_BYTES : RETH_BYTES + 4;
    const length = uint32At(bytes, at + 12);
    if (length === 0 || length !== reader.bodyBytes - headerBytes) return OUTCOME.dmaLength;
    const offset = this.#regions.offsetOf(region, uint32At(bytes, at), uint32At(bytes, at + 4), length);
    if (offset < 0) return OUTCOME.bounds;
    this.#regions.targetOf(region).writeBytes(offset, bytes, at + headerBytes, length);
    if (kind === WRITE_IMMEDIATE) {
      this.#options.onImmediate?.(uint32At(bytes, at + RETH_BYTES), uint24At(bytes, reader.bthAt + 5));
    }
    return OUTCOME.write;
  }

  #multiWrite(bytes: Uint8Array, region: number): number {
    const reader = this.#reader;
    const at = reader.bthAt + BTH_BYTES;
    if (region < 0) return OUTCOME.remoteKey;
    if (!this.#regions.canWrite(region)) return OUTCOME.access;
    const count = bytes[at + 1]!;
    const headerBytes = MULTI_WRITE_FIXED_BYTES + 8 * count;
    const length = uint16At(bytes, at + 2);
    if (length === 0 || length !== reader.bodyBytes - headerBytes) return OUTCOME.dmaLength;
    const targets = this.#targets;
    for (let index = 0, address = at + 8; index < count; index++, address += 8) {
      const offset = this.#regions.offsetOf(region, uint32At(bytes, address), uint32At(bytes, address + 4), length);
      if (offset < 0) return OUTCOME.bounds;
      targets[index] = offset;
    }
    const target = this.#regions.targetOf(region);
    for (let index = 0; index < count; index++) target.writeBytes(targets[index]!, bytes, at + headerBytes, length);
    return OUTCOME.multiWrite;
  }

  #atomic(bytes: Uint8Array, queuePair: number, psn: number, region: number): number {
    const { bthAt, opcode } = this.#reader;
    const at = bthAt + BTH_BYTES;
    if (region < 0) return OUTCOME.remoteKey;
    if (!this.#regions.canAtomic(region)) return OUTCOME.access;
    const offset = this.#regions.offsetOf(region, uint32At(bytes, at), uint32At(bytes, at + 4), 8);
    if (offset < 0) return OUTCOME.bounds;
    if (offset % 8 !== 0) return OUTCOME.alignment;
    const isSwap = opcode === ROCE_OPCODE.RC_COMPARE_SWAP;
    const target = this.#regions.targetOf(region);
    const view = new DataView(bytes.buffer, bytes.byteOffset + at, ATOMIC_ETH_BYTES);
    const swapOrAdd = view.getBigUint64(12);
    const original = isSwap
      ? target.compareSwap(offset, view.getBigUint64(20), swapOrAdd)
      : target.fetchAdd(offset, swapOrAdd);
    let kept = this.#atomics.get(queuePair);
    if (kept === undefined) {
      kept = new AtomicAnswers();
      this.#atomics.set(queuePair, kept);
    }
    kept.keep(psn, opcode, bytes, at, original);
    this.#answer(bytes, queuePair, SYNDROME.ACKNOWLEDGED, psn, original);
    return isSwap ? OUTCOME.compareSwap : OUTCOME.fetchAdd;
  }

  #asksForAnswer(bytes: Uint8Array): boolean {
    return bytes[this.#reader.bthAt + 8]! >= 0x80;
  }

  #answerReject(bytes: Uint8Array, queuePair: number, outcome: number, psn: number): void {
    const isInvalid = outcome === OUTCOME.dmaLength || outcome === OUTCOME.alignment;
    this.#answer(bytes, queuePair, isInvalid ? SYNDROME.INVALID_REQUEST : SYNDROME.REMOTE_ACCESS_ERROR, psn);
  }

  /** Answers a gap once, and a repeated packet with its first answer. */
  #answerOrder(bytes: Uint8Array, queuePair: number, kind: number, psn: number, order: number): void {
    const queuePairs = this.#queuePairs;
    const expected = queuePairs.expectedOf(queuePair);
    if (order === OUTCOME.gap) {
      if (queuePairs.shouldAnswerGap(queuePair)) this.#answer(bytes, queuePair, SYNDROME.SEQUENCE_ERROR, expected);
    } else if (kind === ATOMIC) {
      const { opcode, bthAt } = this.#reader;
      const original = this.#atomics.get(queuePair)?.find(psn, opcode, bytes, bthAt + BTH_BYTES);
      // Without a kept answer there is no reply, as specified.
      if (original !== undefined) this.#answer(bytes, queuePair, SYNDROME.ACKNOWLEDGED, psn, original);
    } else if (this.#asksForAnswer(bytes)) {
      // Everything up to the last packet has arrived.
      this.#answer(bytes, queuePair, SYNDROME.ACKNOWLEDGED, (expected - 1) & 0xffffff);
    }
  }

  #answer(bytes: Uint8Array, queuePair: number, syndrome: number, psn: number, original?: bigint): void {
    if (this.onAnswer === null) return;
    if (syndrome === SYNDROME.ACKNOWLEDGED) this.#acknowledgements++;
    else this.#negative++;
    const messages = this.#queuePairs.messagesOf(queuePair);
    const peer = this.#queuePairs.peerOf(queuePair);
    const partitionKey = this.state[STATE_WORD.PARTITION_KEY]!;
    const fields = { syndrome, psn, messages, peer, partitionKey, ...(original === undefined ? {} : { original }) };
    this.onAnswer(this.#answers.write(bytes, this.#start, this.#reader, this.#isDatagram, fields));
  }
}
