/** The compacted topic of states: its format, and reading a partition's state. */
import { PROCESS_CODES, ProcessError, Revoked } from './errors.js';
import type { KafkaLink } from './kafka/link.js';
import { PartitionReader } from './kafka/reader.js';
import type { StatePiece, UnitState } from './unit.js';

/** A key is a letter for the kind, and the owner's name of the piece. Each group has its own topic. */
export const STATE_KINDS = {
  /**
   * Position in the input: 8 bytes, big-endian, the offset of the first message not taken; then the id of its topic.
   */
  offset: 'o',
  /** A piece of a side. */
  side: 's',
  /** The largest record number seen from an instance of a sink: 8 bytes, big-endian; named by the instance. */
  repeats: 'r',
  /** The writers of the input, and the progress that each has confirmed. */
  writers: 'w',
} as const;
export type StateKind = keyof typeof STATE_KINDS;

/** A position in the input. */
export interface InputPlace {
  readonly offset: number;
  /** Id of the topic, which changes if it is deleted and made again; null if unknown. */
  readonly topicId: string | null;
}

const READ_WAIT_MS = 500;
const READ_BYTES = 4 * 1024 * 1024;
const STUCK_READS = 60;
const OFFSET_BYTES = 8;
const NOTHING = /* @__PURE__ */ new Uint8Array(0);

export function stateKey(kind: StateKind, name: Uint8Array = NOTHING): Uint8Array {
  const key = new Uint8Array(1 + name.length);
  key[0] = STATE_KINDS[kind].charCodeAt(0);
  key.set(name, 1);
  return key;
}

/** The last state written for a partition of the input. */
export interface StoredState extends UnitState {
  /** Position from which to continue; null if none was ever written. */
  readonly place: InputPlace | null;
}

/**
 * Reads a partition of the state topic from its beginning to its present end.
 *
 * Take over the partition's transactional id first. Then nobody else writes there, and earlier transactions under the
 * id are finally committed or aborted.
 *
 * @throws ProcessError `ERR_PROCESS_REQUEST`, and Revoked if `signal` is aborted
 */
export async function readState(
  link: KafkaLink,
  topic: string,
  partition: number,
  signal: AbortSignal,
): Promise<StoredState> {
  const end = await link.offset(topic, partition, 'latest');
  const start = await link.offset(topic, partition, 'earliest');
  const latest = new Map<string, { key: Uint8Array; value: Uint8Array | null }>();
  const reader = new PartitionReader(link, topic, partition, start);
  try {
    let stuck = 0;
    while (reader.position < end) {
      if (signal.aborted) throw new Revoked();
      const before = reader.position;
      const records = await reader.read(READ_WAIT_MS, READ_BYTES);
      // A transaction of the partition's previous owner may still be ending.
      stuck = reader.position > before ? 0 : stuck + 1;
      if (stuck > STUCK_READS) {
        throw new ProcessError(PROCESS_CODES.REQUEST, `${topic} ${partition} cannot be read beyond ${before}`);
      }
      for (const { key, value } of records) {
        if (key !== null) latest.set(Buffer.from(key).toString('latin1'), { key, value });
      }
    }
  } finally {
    reader.close();
  }
  return sorted(latest.values());
}

function sorted(records: Iterable<{ key: Uint8Array; value: Uint8Array | null }>): StoredState {
  let place: InputPlace | null = null;
  let writers: Uint8Array | null = null;
  const side: StatePiece[] = [];
  const repeats: StatePiece[] = [];
  for (const { key, value } of records) {
    if (key.length === 0 || value === null) continue;
    const kind = String.fromCharCode(key[0]!);
    const name = key.subarray(1);
    if (kind === STATE_KINDS.side) side.push({ key: name, value });
    else if (kind === STATE_KINDS.offset) place = readPlace(value);
    else if (kind === STATE_KINDS.repeats) repeats.push({ key: name, value });
    else if (kind === STATE_KINDS.writers) writers = value;
  }
  return { place, side, repeats, writers };
}

export function placeBytes({ offset, topicId }: InputPlace): Uint8Array {
  const id = new TextEncoder().encode(topicId ?? '');
  const bytes = new Uint8Array(OFFSET_BYTES + id.length);
  bytes.set(numberBytes(offset));
  bytes.set(id, OFFSET_BYTES);
  return bytes;
}

export function readPlace(bytes: Uint8Array): InputPlace {
  const id = new TextDecoder().decode(bytes.subarray(OFFSET_BYTES));
  return { offset: readNumber(bytes.subarray(0, OFFSET_BYTES)), topicId: id === '' ? null : id };
}

/** A whole number below 2^53 as 8 bytes, big-endian. */
export function numberBytes(value: number): Uint8Array {
  const bytes = new Uint8Array(8);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, Math.floor(value / 2 ** 32));
  view.setUint32(4, value >>> 0);
  return bytes;
}

/** @throws ProcessError `ERR_PROCESS_STATE` unless there are 8 bytes */
export function readNumber(bytes: Uint8Array): number {
  if (bytes.length !== 8) throw new ProcessError(PROCESS_CODES.STATE, `state: ${bytes.length} bytes for a number`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, 8);
  return view.getUint32(0) * 2 ** 32 + view.getUint32(4);
}
