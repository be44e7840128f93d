/** The contenders that are JavaScript: what keeps flows and is updated with reports. */
import { AcceleratorMemory, TelemetryBatch } from '@int/codec';
import { FlowCache, geometryOf, type LayoutName } from '@int/flowcache';
import { acceleratorBytes } from '@int/flowcache/internals';
import {
  bigintKey,
  bigintKeyOf,
  type FlowRecord,
  type FlowStore,
  HashMapStore,
  type Limits,
  LruStore,
  MapStore,
  METRICS,
  plainHops,
  ReinsertingStore,
  stringKey,
  stringKeyOf,
  typedHops,
  updateRecord,
} from './objects.js';
import { HOPS, type Workload } from './workload.js';

/** What happened so far. */
export interface Counts {
  readonly hits: number;
  readonly inserted: number;
  readonly handedOn: number;
  readonly events: number;
  readonly live: number;
}

/** Keeps flows. */
export interface Contender {
  /** Ways to give it reports: where these lie. */
  readonly inputs: readonly TelemetryBatch[];
  /** Updates it with the first `count` reports of an input. */
  update(mode: number, count: number): void;
  counts(): Counts;
  /**
   * What is known of the flow of a row, as numbers; `null` if nothing is, or since another report than that of the row.
   */
  values(reports: TelemetryBatch, row: number): number[] | null;
  /** A checksum over all rows and buckets, as the C program computes it; `null` if there are none. */
  checksum(): number | null;
}

/** The words of a checksum, four lanes of them. */
function checksumOf(words: Int32Array, from: number): number {
  const lanes = [0, 0, 0, 0];
  let [a, b, c, d] = lanes as [number, number, number, number];
  for (let at = from; at + 4 <= words.length; at += 4) {
    a = (Math.imul(a + words[at]!, 0x9e3779b1) + 1) | 0;
    b = (Math.imul(b + words[at + 1]!, 0x9e3779b1) + 1) | 0;
    c = (Math.imul(c + words[at + 2]!, 0x9e3779b1) + 1) | 0;
    d = (Math.imul(d + words[at + 3]!, 0x9e3779b1) + 1) | 0;
  }
  for (const lane of [b, c, d]) a = Math.imul(a ^ lane, 0x85ebca77);
  return a >>> 0;
}

/** FlowCache of @int/flowcache. */
class CacheContender implements Contender {
  readonly inputs: readonly TelemetryBatch[];
  readonly #cache: FlowCache;

  constructor(cache: FlowCache, inputs: readonly TelemetryBatch[]) {
    this.#cache = cache;
    this.inputs = inputs;
  }

  update(mode: number, count: number): void {
    const batch = this.inputs[mode]!;
    this.#cache.update(batch, 0, count);
  }

  counts(): Counts {
    const { hits, inserted, evictedEntries, retiredEntries, events, live } = this.#cache.totals();
    return { hits, inserted, handedOn: evictedEntries + retiredEntries, events, live };
  }

  values(batch: TelemetryBatch, row: number): number[] | null {
    const address = (word: number): string => [24, 16, 8, 0].map((shift) => (word >>> shift) & 0xff).join('.');
    const entry = this.#cache.get({
      source: address(batch.source0[row]!),
      destination: address(batch.destination0[row]!),
      protocol: batch.protocol[row]!,
      sourcePort: batch.ports[row]! >>> 16,
      destinationPort: batch.ports[row]! & 0xffff,
    });
    const first = (BigInt(batch.frameTimeHigh[row]!) << 32n) | BigInt(batch.frameTimeLow[row]!);
    if (entry === undefined || entry.firstNs !== first || entry.endToEnd === null) return null;
    const { packets, pathChanges, pathLength, lastNs, endToEnd } = entry;
    return [
      packets,
      pathChanges,
      pathLength,
      Number(lastNs >> 32n),
      Number(lastNs & 0xffffffffn),
      endToEnd.last!,
      endToEnd.count,
      Number(endToEnd.sum),
      ...entry.hops.flatMap(({ nodeId, metrics }) => [
        nodeId!,
        ...Object.values(metrics).flatMap(({ last, count, sum }) => [last!, count, Number(sum)]),
      ]),
    ];
  }

  checksum(): number {
    return checksumOf(this.#cache.words, this.#cache.geometry.rowsAt);
  }
}

/** Objects in a Map or in lru-cache. */
class ObjectContender implements Contender {
  readonly inputs: readonly TelemetryBatch[];
  readonly #store: FlowStore;
  readonly #limits: Limits;
  #offered = 0;
  #events = 0;

  constructor(store: FlowStore, workload: Workload) {
    this.#store = store;
    this.inputs = [workload.makeReports()];
    const limits = Array.from(workload.thresholds, (word) => word >>> 0);
    this.#limits = [...limits.slice(0, 2 * METRICS), limits[16]!, limits[17]!];
  }

  update(_mode: number, count: number): void {
    const batch = this.inputs[0]!;
    this.#events += updateAll(this.#store, batch, count, this.#limits);
    this.#offered += count;
  }

  counts(): Counts {
    const { inserted, evicted, size } = this.#store;
    return { hits: this.#offered - inserted, inserted, handedOn: evicted, events: this.#events, live: size };
  }

  values(batch: TelemetryBatch, row: number): number[] | null {
    const record: FlowRecord | undefined = this.#store.peek(batch, row);
    if (record === undefined) return null;
    if (record.firstHigh !== batch.frameTimeHigh[row] || record.firstLow !== batch.frameTimeLow[row]) return null;
    const { packets, pathChanges, pathLength, lastHigh, lastLow, endToEnd, endToEndCount, endToEndSum } = record;
    return [
      packets,
      pathChanges,
      pathLength,
      lastHigh,
      lastLow,
      endToEnd,
      endToEndCount,
      endToEndSum,
      ...record.hops.slice(0, HOPS * (1 + 3 * METRICS)),
    ];
  }

  checksum(): null {
    return null;
  }
}

function updateAll(store: FlowStore, batch: TelemetryBatch, count: number, limits: Limits): number {
  let events = 0;
  for (let row = 0; row < count; row++) events += updateRecord(store.touch(batch, row), batch, row, limits);
  return events;
}

/** Dimensions of what is compared. */
export interface StoreOptions {
  readonly layout: LayoutName;
  readonly rows: number;
  readonly buckets: number;
}

/** A cache of the accelerator's and room for reports beside it. */
function acceleratorContender(workload: Workload, options: StoreOptions): Contender {
  const { size } = workload;
  const room = TelemetryBatch.byteLength(workload.capacity) + 8 * size + 4096;
  const memory = new AcceleratorMemory(acceleratorBytes(geometryOf(options)) + room);
  const cache = new FlowCache({ ...options, memory });
  if (!cache.usesAccelerator) throw new Error('the WebAssembly accelerator cannot run here');
  cache.thresholds.words.set(workload.thresholds);
  return new CacheContender(cache, [workload.makeReports(memory.arena), workload.makeReports()]);
}

function plainContender(workload: Workload, options: StoreOptions): Contender {
  const cache = new FlowCache({ ...options, accelerator: false });
  cache.thresholds.words.set(workload.thresholds);
  return new CacheContender(cache, [workload.makeReports()]);
}

/** How to make each contender, by name. */
export const STORES: Readonly<Record<string, (workload: Workload, options: StoreOptions) => Contender>> = {
  accelerator: acceleratorContender,
  plain: plainContender,
  'map-string': (workload, { rows, buckets }) =>
    new ObjectContender(new MapStore(rows * buckets, stringKey, stringKeyOf), workload),
  'map-bigint': (workload, { rows, buckets }) =>
    new ObjectContender(new MapStore(rows * buckets, bigintKey, bigintKeyOf), workload),
  'map-number': (workload, { rows, buckets }) =>
    new ObjectContender(new HashMapStore(rows * buckets, plainHops), workload),
  'map-number-typed': (workload, { rows, buckets }) =>
    new ObjectContender(new HashMapStore(rows * buckets, typedHops), workload),
  'map-reinserting': (workload, { rows, buckets }) =>
    new ObjectContender(new ReinsertingStore(rows * buckets, stringKey), workload),
  'lru-string': (workload, { rows, buckets }) => new ObjectContender(new LruStore(rows * buckets, stringKey), workload),
  'lru-bigint': (workload, { rows, buckets }) => new ObjectContender(new LruStore(rows * buckets, bigintKey), workload),
};
