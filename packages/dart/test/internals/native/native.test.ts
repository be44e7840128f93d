import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AnswerRows, DartStore, type DartStoreOptions, type Policy, STATUS } from '@int/dart';
import { Random } from '@int/random';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runs } from '../../../../../.ci/test/length.js';
import { nativePrograms } from '../../../../../.ci/test/native.js';
import { dumpFile, framesOperation, type Operation, randomOperation, rowsOf, WHAT } from '../../native/operations.js';
import { SEED } from '../../seed.js';
import { accept, randomFrame, rnicState } from './frames.js';

const PROGRAMS = [
  ['dart_dump'],
  ['dart_dump', 'prefetch'],
  ['dart_dump_asan'],
  ['dart_dump_asan', 'prefetch'],
] as const;

const SETUPS: readonly (DartStoreOptions & { slots: number; name: string })[] = [
  { name: 'the usual slots of 24 bytes', slots: 200 },
  { name: 'the usual slots, four copies, crc', slots: 256, copies: 4, hash: 'crc' },
  { name: 'the usual slots, crc', slots: 131, hash: 'crc', collectors: 3, collector: 1 },
  { name: 'the usual slots, four copies, a seed', slots: 97, copies: 4, seed: 0xdeadbeef },
  { name: 'short checksums, which collide', slots: 64, checksumBits: 8, copies: 3, valueBytes: 3 },
  { name: 'eight copies, crc, odd sizes', slots: 45, checksumBits: 21, copies: 8, valueBytes: 7, hash: 'crc' },
  { name: 'eight copies, 16 bits', slots: 512, checksumBits: 16, copies: 8, valueBytes: 1, seed: 7 },
  { name: 'slots of 8 bytes, five copies, crc', slots: 77, copies: 5, valueBytes: 4, hash: 'crc' },
  { name: 'one slot', slots: 1, copies: 2, valueBytes: 5, checksumBits: 9 },
  { name: 'one copy of a long value', slots: 50, copies: 1, valueBytes: 1024, hash: 'crc' },
];

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'int-native-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The folder of the C programs. */
function programs(): string {
  return nativePrograms('dart_dump', 'dart_dump_asan');
}

function policyOf(number: number): Policy {
  if (number === 0) return 'single';
  return number === 1 ? 'plurality' : { consensus: number };
}

/** Does the operation, and gives its answers as dart_dump.c writes them. */
function perform(store: DartStore, operation: Operation, seen: Set<number>): Uint8Array {
  const { what, keys, number, values, which } = operation;
  const rows = keys.offsets.length;
  if (what === WHAT.WRITE) store.writeRows(keys, values, 0, rows, number);
  else if (what === WHAT.WRITE_COPY) store.writeCopyRows(keys, values, which);
  if (what !== WHAT.QUERY) return new Uint8Array(0);
  const { valueBytes } = store.geometry;
  const out = new AnswerRows(rows, valueBytes);
  store.queryRows(keys, out, policyOf(number));
  const answers = new Uint8Array(rows * (4 + valueBytes));
  for (let row = 0; row < rows; row++) {
    const at = row * (4 + valueBytes);
    answers.set([out.status[row]!, out.matching[row]!, out.agreeing[row]!], at);
    seen.add(out.status[row]!);
    if (out.status[row] !== STATUS.VALUE) continue;
    answers.set(out.values.subarray(row * valueBytes, (row + 1) * valueBytes), at + 4);
  }
  return answers;
}

/** All bytes of a store of one segment. */
function image(store: DartStore): Uint8Array {
  const { buffer, byteOffset, geometry } = store.segments[0]!;
  return new Uint8Array(buffer, byteOffset, geometry.byteLength);
}

interface Difference {
  readonly at: number;
  readonly actual: number | undefined;
  readonly expected: number | undefined;
}

/** Where two runs of bytes differ first. */
function difference(actual: Uint8Array, expected: Uint8Array): Difference | null {
  if (actual.length === expected.length && Buffer.compare(actual, expected) === 0) return null;
  let at = 0;
  while (actual[at] === expected[at]) at++;
  return { at, actual: actual[at], expected: expected[at] };
}

function expectSame(file: Uint8Array, expected: Uint8Array): void {
  const path = join(folder, 'work.bin');
  writeFileSync(path, file);
  for (const [program, ...how] of PROGRAMS) {
    const actual = execFileSync(join(programs(), program), [path, ...how], { maxBuffer: 1 << 28, timeout: 100_000 });
    expect([program, ...how, difference(actual, expected)]).toEqual([program, ...how, null]);
  }
}

describe('the C twin of the store', () => {
  it.each(SETUPS.map((setup) => [setup.name, setup] as const))('leaves the same bytes: %s', (_name, setup) => {
    const random = new Random(SEED).derive(setup.name);
    const seen = new Set<number>();
    for (let run = 0; run < runs(8); run++) {
      const store = new DartStore({ ...setup, engine: run % 2 === 0 ? 'auto' : 'plain' });
      const { valueBytes, copies } = store.geometry;
      const header = store.segments[0]!.header.slice();
      const operations = Array.from({ length: 40 }, () => randomOperation(random, valueBytes, copies));
      const answers = operations.map((operation) => perform(store, operation, seen));
      const file = dumpFile(header, store.segments[0]!.geometry.byteLength, new Uint32Array(0), operations);
      expectSame(file, Buffer.concat([image(store), ...answers]));
    }
    // What was compared is not nothing: with one slot or one copy, values cannot contradict each other.
    const statuses = setup.slots === 1 || setup.copies === 1 ? [STATUS.VALUE, STATUS.ABSENT] : [0, 1, 2];
    expect([...seen]).toEqual(expect.arrayContaining([...statuses]));
  });
});

describe('the C twin of the receiver', () => {
  it.each([
    ['slots of 24 bytes', { slots: 300 }, true],
    ['slots of 24 bytes, iCRC not looked at', { slots: 300 }, false],
    ['small odd slots', { slots: 70, valueBytes: 5, checksumBits: 16 }, true],
  ] as const)('takes the same frames and leaves the same bytes: %s', (name, options, checksIcrc) => {
    const random = new Random(SEED).derive(name);
    let taken = 0;
    let refused = 0;
    for (let run = 0; run < runs(8); run++) {
      const store = new DartStore({ ...options, engine: 'plain' });
      const header = store.segments[0]!.header.slice();
      const state = rnicState(random, store.byteLength, checksIcrc);
      const before = state.slice();
      const answers: number[] = [];
      const operations = Array.from({ length: 10 }, () => {
        const frames = Array.from({ length: 60 }, () => {
          const frame = randomFrame(random, state, store.byteLength);
          const accepted = accept(state, frame);
          if (accepted !== null) store.writeBytes(accepted.offset, accepted.payload, 0, accepted.payload.length);
          answers.push(accepted === null ? 0 : 1);
          return frame;
        });
        return framesOperation(rowsOf(random, frames));
      });
      for (const answer of answers) {
        if (answer === 1) taken++;
        else refused++;
      }
      const file = dumpFile(header, store.segments[0]!.geometry.byteLength, before, operations);
      expectSame(file, Buffer.concat([image(store), new Uint8Array(state.buffer), Uint8Array.from(answers)]));
    }
    expect(taken).toBeGreaterThan(100);
    expect(refused).toBeGreaterThan(100);
  });
});
