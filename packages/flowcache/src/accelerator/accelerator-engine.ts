import { type AcceleratorHost, AcceleratorMemory, type TelemetryBatch } from '@int/codec';
import { canRunAccelerator } from '@int/codec/internals';
import { flowCrc32Columns } from '@int/hash';
import { COMPARISON, type Engine, eventsPerReport, Outbox, outboxWords } from '../cache/engine.js';
import type { ResolvedOptions } from '../cache/options.js';
import { PlainEngine } from '../cache/plain-engine.js';
import { type CacheGeometry, EVENT_WORDS, type HashName, THRESHOLDS } from '../layout.js';
import { CACHE_WASM } from './cache.wasm.js';
import { AcceleratorColumns } from './columns.js';
import { BLOCK, CONTEXT, CONTEXT_WORDS, PLACE_WORDS, writeDimensions } from './context.js';
import { AcceleratorTimes } from './times.js';

interface Exports {
  attach(context: number): void;
  hashRows(from: number, to: number): void;
  run(from: number, to: number): number;
}

/** The accelerator's `run` returns these, as signed numbers, when it cannot do a block. It has then done nothing. */
const BAD_HOPS = -1;
const BAD_TIMES = -2;

const LINE = 64;

/** Whether this JavaScript engine can run the accelerator: WebAssembly with 128-bit SIMD. */
export function flowAcceleratorAvailable(): boolean {
  return canRunAccelerator(CACHE_WASM);
}

/**
 * The update loop in WebAssembly. It does what {@link PlainEngine} does, to the last bit.
 *
 * Batches and times in its memory are read in place; others are copied in, block by block. If the hop rows of a batch
 * are in no order, as no decoder leaves them, TypeScript takes the batch.
 */
export class AcceleratorEngine implements Engine {
  readonly isAccelerator = true;
  readonly buffer: ArrayBufferLike;
  readonly words: Int32Array;
  readonly entries: Outbox;
  readonly events: Outbox;
  readonly thresholds: Int32Array;
  readonly #exports: Exports;
  readonly #context: Uint32Array;
  readonly #columns: AcceleratorColumns;
  readonly #times: AcceleratorTimes;
  readonly #hashes: Uint32Array;
  readonly #hash: HashName;
  /** For blocks that the accelerator refuses. */
  readonly #substitute: PlainEngine;
  #crcs = new Uint32Array(0);

  /**
   * @param host where the accelerator and the cache are to lie; takes {@link acceleratorBytes} of it, which must be 0
   * @throws RangeError if there is not that much left
   * @throws Error where the engine cannot run the accelerator
   */
  constructor(host: AcceleratorHost, geometry: CacheGeometry, hash: HashName, seed: number) {
    const { arena } = host;
    const signed = (words: number): Int32Array => new Int32Array(arena.buffer, arena.take(words * 4), words);
    this.buffer = host.buffer;
    this.#hash = hash;
    this.#context = arena.words(CONTEXT_WORDS);
    this.#hashes = arena.words(BLOCK);
    const places = arena.words(BLOCK * PLACE_WORDS);
    this.#columns = new AcceleratorColumns(arena, this.#context, geometry);
    this.#times = new AcceleratorTimes(arena, this.#context);
    this.thresholds = signed(THRESHOLDS.WORDS).fill(-1);
    const room = outboxWords(geometry);
    this.entries = new Outbox(geometry.bucketStride, signed(room.entries));
    this.events = new Outbox(EVENT_WORDS, signed(room.events));
    this.words = signed(geometry.words);
    arena.take(LINE);
    const context = this.#context;
    writeDimensions(context, geometry, this.words.byteOffset, seed);
    context[CONTEXT.HASHES] = this.#hashes.byteOffset;
    context[CONTEXT.PLACES] = places.byteOffset;
    context[CONTEXT.THRESHOLDS] = this.thresholds.byteOffset;
    context[CONTEXT.ENTRIES] = this.entries.words.byteOffset;
    context[CONTEXT.ENTRY_CAPACITY] = this.entries.capacity;
    context[CONTEXT.EVENTS] = this.events.words.byteOffset;
    context[CONTEXT.EVENT_LIMIT] = this.events.capacity - eventsPerReport(geometry);
    this.#exports = host.instantiate(CACHE_WASM) as unknown as Exports;
    this.#exports.attach(context.byteOffset);
    this.#substitute = new PlainEngine(this.words, geometry, hash, seed, COMPARISON, this);
  }

  run(batch: TelemetryBatch, from: number, to: number): number {
    let row = from;
    while (row < to) {
      let stop = Math.min(to, row + BLOCK);
      let end = stop;
      if (batch.buffer === this.buffer) this.#columns.useInPlace(batch);
      else end = this.#columns.copy(batch, row, stop);
      if (end > row) stop = end;
      const reached = end > row ? this.#runBlock(batch, row, end) : -1;
      row = reached >= 0 ? reached : this.#runPlainly(batch, row, stop);
      if (row < stop) return row;
    }
    return row;
  }

  #runPlainly(batch: TelemetryBatch, from: number, to: number): number {
    this.#substitute.thresholds.set(this.thresholds);
    return this.#substitute.run(batch, from, to);
  }

  /** @returns the first row not looked at, or -1 if the accelerator cannot do the block */
  #runBlock(batch: TelemetryBatch, from: number, to: number): number {
    const context = this.#context;
    const accelerator = this.#exports;
    const times = this.#times;
    // Row 0 of a copy is the first row of the block.
    const shift = batch.buffer === this.buffer ? 0 : from;
    const start = from - shift;
    const end = to - shift;
    if (this.#hash === 'crc32') this.#hashCrc(batch, from, to);
    else accelerator.hashRows(start, end);
    context[CONTEXT.ENTRY_COUNT] = this.entries.count;
    context[CONTEXT.EVENT_COUNT] = this.events.count;
    let reached = BAD_TIMES;
    if (times.stage(batch, from, to, start, this.#columns.frames)) reached = accelerator.run(start, end);
    if (reached === BAD_TIMES && batch.isTimed) {
      times.gather(batch, from, to, start);
      reached = accelerator.run(start, end);
    }
    if (reached === BAD_HOPS) return -1;
    this.entries.count = context[CONTEXT.ENTRY_COUNT]!;
    this.events.count = context[CONTEXT.EVENT_COUNT]!;
    return reached + shift;
  }

  #hashCrc(batch: TelemetryBatch, from: number, to: number): void {
    if (this.#crcs.length < to) this.#crcs = new Uint32Array(batch.capacity.reports);
    flowCrc32Columns(batch, from, to, this.#crcs);
    this.#hashes.set(this.#crcs.subarray(from, to));
  }
}

/**
 * The accelerator with a cache. `undefined` without WebAssembly with SIMD, if the cache exceeds its 4 GiB, or if there
 * is not that much address space.
 */
export function makeAcceleratorEngine(options: Omit<ResolvedOptions, 'accelerator'>): AcceleratorEngine | undefined {
  const { geometry, hash, seed, shared } = options;
  const bytes = acceleratorBytes(geometry);
  if (!flowAcceleratorAvailable()) return undefined;
  try {
    return new AcceleratorEngine(options.memory ?? new AcceleratorMemory(bytes, shared), geometry, hash, seed);
  } catch (error) {
    // Not enough memory.
    if (error instanceof RangeError && options.memory === undefined) return undefined;
    throw error;
  }
}

/** Bytes that the accelerator and a cache take of a memory. */
export function acceleratorBytes(geometry: CacheGeometry): number {
  const { entries, events } = outboxWords(geometry);
  const working = CONTEXT_WORDS + BLOCK + BLOCK * PLACE_WORDS + THRESHOLDS.WORDS;
  const columns = AcceleratorColumns.byteLength(geometry) + AcceleratorTimes.byteLength;
  // Each part begins with a cache line; the accelerator touches up to a line behind the cache.
  return (working + entries + events) * 4 + columns + geometry.byteLength + 16 * LINE;
}
