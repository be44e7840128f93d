import { type AcceleratorHost, AcceleratorMemory, Arena, TelemetryBatch } from '@int/codec';
import { expect } from 'vitest';
import { AcceleratorEngine, acceleratorBytes } from '../../../src/accelerator/accelerator-engine.js';
import type { Engine } from '../../../src/cache/engine.js';
import { PlainEngine } from '../../../src/cache/plain-engine.js';
import { initialize } from '../../../src/cache/region.js';
import { type CacheGeometry, COMPACT, EXACT, type HashName } from '../../../src/layout.js';

/** Which kind of memory the accelerator gets: for one thread or shared; the upper end of 4 GiB. */
export const HOST_KINDS = ['own', 'shared', 'high'] as const;
export type HostKind = (typeof HOST_KINDS)[number];

const BYTES = 48 << 20;
const MOST_BYTES = 0x100000000;
const CAPACITY = { frames: 700, reports: 700, hops: 6000 } as const;

function makeHost(kind: HostKind): AcceleratorHost {
  return kind === 'high' ? new AcceleratorMemory(MOST_BYTES) : new AcceleratorMemory(BYTES, kind === 'shared');
}

const HOSTS = new Map<HostKind, AcceleratorHost>();

/** The memory of a kind: engines do not free address space soon enough for one memory a case. */
function hostOf(kind: HostKind): AcceleratorHost {
  const host = HOSTS.get(kind) ?? makeHost(kind);
  HOSTS.set(kind, host);
  return host;
}

/** A cache twice, in TypeScript and in WebAssembly. */
export class EnginePair {
  readonly geometry: CacheGeometry;
  readonly plain: Engine;
  readonly accelerator: AcceleratorEngine;
  /** In the accelerator's memory and outside of it. */
  readonly inside: TelemetryBatch;
  readonly outside = new TelemetryBatch(CAPACITY);
  readonly #arena: Arena;

  constructor(geometry: CacheGeometry, hash: HashName, seed: number, kind: HostKind) {
    this.geometry = geometry;
    const host = hostOf(kind);
    const { buffer } = host;
    const bytes = acceleratorBytes(geometry);
    const start = kind === 'high' ? MOST_BYTES - bytes : 64;
    const arena = new Arena(buffer, start, bytes);
    new Uint8Array(buffer, start, bytes).fill(0);
    this.accelerator = new AcceleratorEngine(
      { buffer, arena, instantiate: (base64) => host.instantiate(base64) },
      geometry,
      hash,
      seed,
    );
    this.plain = new PlainEngine(new Int32Array(geometry.words), geometry, hash, seed);
    for (const engine of [this.plain, this.accelerator]) initialize(engine.words, geometry, hash, seed);
    this.#arena = new Arena(buffer, kind === 'high' ? 64 : 64 + bytes);
    this.inside = new TelemetryBatch(CAPACITY, this.#arena);
  }

  /** Room for times in the accelerator's memory. */
  words(count: number): Uint32Array {
    return this.#arena.words(count);
  }

  /** Sets the thresholds of both. */
  limit(limits: readonly number[]): void {
    for (const { thresholds } of [this.plain, this.accelerator]) thresholds.set(limits);
  }

  /** Sets how many records the outboxes seem to hold. */
  occupy(entries: number, events: number): void {
    for (const engine of [this.plain, this.accelerator]) {
      engine.entries.count = entries;
      engine.events.count = events;
    }
  }

  /** Makes the packet counts of some buckets full. */
  fillPackets(buckets: readonly number[]): void {
    const { bucketsAt, bucketStride, layout, rows, buckets: each } = this.geometry;
    const packets = layout === 'exact' ? EXACT.PACKETS : COMPACT.PACKETS;
    for (const bucket of buckets) {
      const at = bucketsAt + (bucket % (rows * each)) * bucketStride + packets;
      for (const { words } of [this.plain, this.accelerator]) if (words[at] !== 0) words[at] = -1;
    }
  }

  /** Lets both have a batch and compares all they leave. @returns the first row not looked at */
  run(batch: TelemetryBatch, from: number, to: number): number {
    const { plain, accelerator } = this;
    const before = [plain.entries.count, plain.events.count] as const;
    const reached = plain.run(batch, from, to);
    expect(accelerator.run(batch, from, to)).toBe(reached);
    expect(difference(plain.words, accelerator.words)).toBe('');
    expect([accelerator.entries.count, accelerator.events.count]).toEqual([plain.entries.count, plain.events.count]);
    for (const [index, box] of (['entries', 'events'] as const).entries()) {
      const { recordWords, count } = plain[box];
      const [first, end] = [before[index]! * recordWords, count * recordWords];
      expect(difference(plain[box].words.subarray(first, end), accelerator[box].words.subarray(first, end))).toBe('');
    }
    return reached;
  }
}

/** Where two arrays differ first. */
function difference(expected: Int32Array, found: Int32Array): string {
  for (let at = 0; at < expected.length; at++) {
    if (expected[at] !== found[at]) return `word ${at}: ${found[at]} instead of ${expected[at]}`;
  }
  return expected.length === found.length ? '' : `${found.length} words instead of ${expected.length}`;
}
