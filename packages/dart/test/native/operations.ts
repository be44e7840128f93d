/** Random operations on a store, and the file in which `benchmarks/native/twins/dart_dump.c` takes them. */

import type { KeyRows } from '@int/dart';
import type { Random } from '@int/random';

/** What is done, as dart_dump.c numbers it. */
export const WHAT = { WRITE: 0, WRITE_COPY: 1, QUERY: 2, FRAMES: 3 } as const;

export interface Operation {
  readonly what: number;
  /** Keys, or frames. */
  readonly keys: KeyRows;
  /** Copies of a write, policy of a query. */
  readonly number: number;
  readonly values: Uint8Array;
  readonly which: Uint8Array;
}

const NONE = new Uint8Array(0);

/** Rows of any bytes; gaps between them, so that offsets matter. */
export function rowsOf(random: Random, items: readonly Uint8Array[]): KeyRows {
  const parts: Uint8Array[] = [];
  const offsets = new Uint32Array(items.length);
  const lengths = new Uint32Array(items.length);
  let at = 0;
  for (const [row, item] of items.entries()) {
    const gap = new Uint8Array(random.integer(4));
    parts.push(gap, item);
    offsets[row] = at + gap.length;
    lengths[row] = item.length;
    at += gap.length + item.length;
  }
  return { bytes: new Uint8Array(Buffer.concat(parts)), offsets, lengths };
}

/** One of some dozens of keys. All have 13 bytes where `isFlows`; else some are empty, and some longer than a stripe. */
function randomKey(random: Random, isFlows: boolean): Uint8Array {
  const id = random.integer(60);
  const key = new Uint8Array(isFlows || id % 3 === 0 ? 13 : id);
  key.fill(id);
  if (key.length > 3) key[key.length - 3] = id * 7;
  return key;
}

/** Writes and queries; few values, so that slots of a key agree and disagree. */
export function randomOperation(random: Random, valueBytes: number, copies: number): Operation {
  const what = random.integer(3);
  // Some more than a block of C.
  const rows = random.integer(4) === 0 ? random.integer(300) : random.integer(90);
  const isFlows = random.integer(2) === 0;
  const keys = rowsOf(
    random,
    Array.from({ length: rows }, () => randomKey(random, isFlows)),
  );
  const values = new Uint8Array(what === WHAT.QUERY ? 0 : rows * valueBytes);
  for (let row = 0; row < values.length / valueBytes; row++) {
    values.fill(random.integer(3), row * valueBytes, (row + 1) * valueBytes);
    values[(row + 1) * valueBytes - 1] = random.integer(2);
  }
  const which = what === WHAT.WRITE_COPY ? Uint8Array.from({ length: rows }, () => random.integer(copies)) : NONE;
  const number = what === WHAT.WRITE ? 1 + random.integer(copies) : random.integer(4);
  return { what, keys, number, values, which };
}

export function framesOperation(keys: KeyRows): Operation {
  return { what: WHAT.FRAMES, keys, number: 0, values: NONE, which: NONE };
}

function bytesOf(part: Uint8Array | Uint32Array): Uint8Array {
  const bytes = new Uint8Array(part.buffer, part.byteOffset, part.byteLength);
  const padded = new Uint8Array(Math.ceil(bytes.length / 4) * 4);
  padded.set(bytes);
  return padded;
}

/** The file; `state` are the words of an RNIC, none where there is none. */
export function dumpFile(
  header: Uint32Array,
  segmentBytes: number,
  state: Uint32Array,
  operations: readonly Operation[],
): Uint8Array {
  const about = new Uint32Array(16);
  about.set([0x44544e49, segmentBytes, operations.length, state.length]);
  const parts = operations.flatMap(({ what, keys, number, values, which }) => [
    Uint32Array.of(what, keys.offsets.length, number, keys.bytes.length, 0, 0, 0, 0),
    keys.offsets,
    keys.lengths,
    keys.bytes,
    values,
    which,
  ]);
  return Buffer.concat([about, header, state, ...parts].map(bytesOf));
}
