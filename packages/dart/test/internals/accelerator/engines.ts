import { AcceleratorMemory, Arena } from '@int/codec';
import { expect } from 'vitest';
import { AcceleratorEngine, type MemoryRows } from '../../../src/accelerator/accelerator-engine.js';
import type { FamilyName, StoreGeometry } from '../../../src/layout.js';
import { hashParameters, KeyHashes } from '../../../src/store/hashes.js';
import { PlainEngine } from '../../../src/store/plain-engine.js';
import { AnswerRows, type KeyRows, STATUS } from '../../../src/store/rows.js';
import { Segment } from '../../../src/store/segment.js';

/** Which memory the accelerator gets: for one thread or shared; or the upper end of 4 GiB. */
export const HOST_KINDS = ['own', 'shared', 'high'] as const;
export type HostKind = (typeof HOST_KINDS)[number];

const BYTES = 16 << 20;
const MOST_BYTES = 2 ** 32;
const HOSTS = new Map<HostKind, AcceleratorMemory>();

/** The memory of a kind: engines do not free address space soon enough for one memory a case. */
export function hostOf(kind: HostKind): AcceleratorMemory {
  const host = HOSTS.get(kind) ?? new AcceleratorMemory(kind === 'high' ? MOST_BYTES : BYTES, kind === 'shared');
  HOSTS.set(kind, host);
  return host;
}

/** A store twice, in TypeScript and in WebAssembly. */
export class EnginePair {
  readonly geometry: StoreGeometry;
  readonly hashes: KeyHashes;
  readonly plain: PlainEngine;
  readonly plainSegment: Segment;
  readonly accelerator: AcceleratorEngine;
  readonly acceleratorSegment: Segment;

  constructor(geometry: StoreGeometry, family: FamilyName, seed: number, kind: HostKind, spare = 0) {
    this.geometry = geometry;
    const parameters = hashParameters(family, seed);
    this.hashes = new KeyHashes(parameters);
    const only = geometry.segments[0]!;
    const buffer = kind === 'shared' ? new SharedArrayBuffer(only.byteLength) : new ArrayBuffer(only.byteLength);
    this.plainSegment = new Segment(only, geometry.slotBytes, { buffer, byteOffset: 0 });
    this.plain = new PlainEngine(geometry, this.hashes, [this.plainSegment]);
    const host = hostOf(kind);
    const bytes = AcceleratorEngine.byteLength(geometry) + spare;
    const start = kind === 'high' ? MOST_BYTES - bytes : 64;
    new Uint8Array(host.buffer, start, bytes).fill(0);
    const arena = new Arena(host.buffer, start, bytes);
    const part = { buffer: host.buffer, arena, instantiate: (base64: string) => host.instantiate(base64) };
    this.accelerator = new AcceleratorEngine(part, geometry, parameters, kind === 'shared');
    this.acceleratorSegment = new Segment(only, geometry.slotBytes, this.accelerator.place);
  }

  /** Rows in the accelerator's memory that are equal to given ones. */
  copyIn(keys: KeyRows, values: Uint8Array, which: Uint8Array): MemoryRows {
    const rows = this.accelerator.rows(keys.offsets.length, keys.bytes.length);
    rows.keys.bytes.set(keys.bytes);
    rows.keys.offsets.set(keys.offsets);
    rows.keys.lengths.set(keys.lengths);
    rows.values.set(values);
    rows.which.set(which);
    return rows;
  }

  /** Compares all that the two have in their segments. */
  compare(): void {
    const { plainSegment, acceleratorSegment } = this;
    expect(difference(acceleratorSegment.begun, plainSegment.begun)).toBe('');
    expect(difference(acceleratorSegment.done, plainSegment.done)).toBe('');
    expect(difference(acceleratorSegment.slots, plainSegment.slots)).toBe('');
  }

  /** Compares the answers to all rows. */
  ask(keys: KeyRows, out: AnswerRows, policy: number, from: number, to: number, inside = keys): void {
    const { valueBytes } = this.geometry;
    const expected = new AnswerRows(out.capacity, valueBytes);
    this.plain.query(keys, policy, expected, from, to);
    this.accelerator.query(inside, policy, out, from, to);
    for (let row = from; row < to; row++) {
      const hasValue = expected.status[row] === STATUS.VALUE;
      const value = (rows: AnswerRows): number[] =>
        hasValue ? [...rows.values.subarray(row * valueBytes, (row + 1) * valueBytes)] : [];
      const cells = (rows: AnswerRows): number[] => [
        row,
        rows.status[row]!,
        rows.matching[row]!,
        rows.agreeing[row]!,
        ...value(rows),
      ];
      expect(cells(out)).toEqual(cells(expected));
    }
  }
}

/** Where two columns differ first. */
function difference(found: ArrayLike<number>, expected: ArrayLike<number>): string {
  for (let at = 0; at < expected.length; at++) {
    if (expected[at] !== found[at]) return `cell ${at}: ${found[at]} instead of ${expected[at]}`;
  }
  return expected.length === found.length ? '' : `${found.length} cells instead of ${expected.length}`;
}
