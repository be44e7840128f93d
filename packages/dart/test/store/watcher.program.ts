/** A thread that queries a store which another one writes, and says what it saw. */
import { parentPort, workerData } from 'node:worker_threads';
import { AnswerRows, DartReader, fixedKeyRows, type SegmentPlace, STATUS } from '@int/dart';

export interface WatcherData {
  readonly places: readonly SegmentPlace[];
  /** Keys are one byte: 0..keys - 1. */
  readonly keys: number;
  /** Word 0: not 0 if the watcher is to stop; word 1: rounds that it has done; word 3: how often a value had changed. */
  readonly control: Int32Array;
}

export interface WatcherReport {
  /** Values that were no value of their key: some of them. */
  readonly mixed: readonly string[];
  readonly found: number;
  readonly busy: number;
  /** Values that differed from the one seen before. */
  readonly changed: number;
}

const { places, keys, control } = workerData as WatcherData;
const reader = new DartReader(places);
const { valueBytes } = reader.geometry;
const rows = fixedKeyRows(
  Uint8Array.from({ length: keys }, (_, id) => id),
  1,
);
const out = new AnswerRows(keys, valueBytes);
const last = new Uint32Array(keys);
const mixed: string[] = [];
const counts = { found: 0, busy: 0, changed: 0 };

// A value is its key and a version in every word.
function check(id: number): void {
  const value = out.values.slice(id * valueBytes, (id + 1) * valueBytes);
  const words = new Uint32Array(value.buffer, 0, valueBytes >> 2);
  const [first = 0] = words;
  if (first >>> 24 !== id || words.some((word) => word !== first)) mixed.push(`${id}: ${words.join(' ')}`);
  if (first !== last[id]) counts.changed++;
  last[id] = first;
}

while (Atomics.load(control, 0) === 0) {
  reader.queryRows(rows, out, 'single');
  for (let id = 0; id < keys; id++) {
    const status = out.status[id]!;
    if (status === STATUS.BUSY) counts.busy++;
    if (status !== STATUS.VALUE) continue;
    counts.found++;
    if (mixed.length < 20) check(id);
  }
  Atomics.store(control, 3, counts.changed);
  Atomics.add(control, 1, 1);
}
parentPort?.postMessage({ mixed, ...counts } satisfies WatcherReport);
