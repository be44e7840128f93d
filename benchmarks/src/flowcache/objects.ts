/**
 * What a Node program does without the package: an object per flow in a `Map`, or in lru-cache, that holds what an entry
 * of the cache holds. The flow that was updated longest ago gives way.
 */
import type { TelemetryBatch } from '@int/codec';
import { flowXxh32Ipv4 } from '@int/hash';
import { LRUCache } from 'lru-cache';
import { HOPS } from './workload.js';

export const METRICS = 3;
const NONE = 0xffffffff;
/** Numbers of a hop: node id; last value, count and sum of each metric. */
const HOP_NUMBERS = 1 + 3 * METRICS;

/**
 * A flow. The hops are one array of numbers: with an object for each hop and metric, a flow takes three times the memory
 * and an update twice the time.
 */
export class FlowRecord {
  readonly source: number;
  readonly destination: number;
  readonly ports: number;
  readonly protocol: number;
  packets = 0;
  pathChanges = 0;
  pathLength = 0;
  readonly firstHigh: number;
  readonly firstLow: number;
  lastHigh = 0;
  lastLow = 0;
  endToEnd = NONE;
  endToEndCount = 0;
  endToEndSum = 0;
  readonly hops: number[] | Float64Array;
  /** The next flow of the same hash, where a hash is the key. */
  next: FlowRecord | undefined = undefined;
  /** Neighbours in the order in which flows were updated. */
  older: FlowRecord | undefined = undefined;
  newer: FlowRecord | undefined = undefined;

  constructor(batch: TelemetryBatch, row: number, hops: number[] | Float64Array) {
    this.source = batch.source0[row]!;
    this.destination = batch.destination0[row]!;
    this.ports = batch.ports[row]!;
    this.protocol = batch.protocol[row]!;
    this.firstHigh = batch.frameTimeHigh[row]!;
    this.firstLow = batch.frameTimeLow[row]!;
    this.hops = hops;
  }

  isOf(batch: TelemetryBatch, row: number): boolean {
    return (
      this.source === batch.source0[row] &&
      this.destination === batch.destination0[row] &&
      this.ports === batch.ports[row] &&
      this.protocol === batch.protocol[row]
    );
  }
}

/** What is known of a hop before its first report. */
const FRESH = /* @__PURE__ */ Array.from({ length: HOPS * HOP_NUMBERS }, (_, k) => {
  const place = k % HOP_NUMBERS;
  // A number that is no small integer makes it an array of doubles from the start.
  return place === 0 || (place - 1) % 3 === 0 ? NONE : 0;
});

/** Numbers of a flow's hops, as an array of doubles. */
export function plainHops(): number[] {
  return FRESH.slice();
}

/** The same as a typed array. */
export function typedHops(): Float64Array {
  return Float64Array.from(FRESH);
}

/** Level and change above which a value is an event; per metric, then end to end. */
export type Limits = readonly number[];

/** Does to a record what a report does to an entry. Returns the events. */
export function updateRecord(record: FlowRecord, batch: TelemetryBatch, row: number, limits: Limits): number {
  const { nodeId: ids, hopLatency, queueOccupancy, egressUtilization } = batch.hop;
  const { hops } = record;
  const isKnown = record.packets > 0;
  const first = batch.hopStart[row]!;
  const length = batch.hopCount[row]!;
  const kept = Math.min(length, HOPS);
  let events = 0;
  let hasMoved = false;
  let total = 0;
  record.packets++;
  record.lastHigh = batch.frameTimeHigh[row]!;
  record.lastLow = batch.frameTimeLow[row]!;
  for (let hop = 0; hop < kept; hop++) {
    const at = hop * HOP_NUMBERS;
    const id = ids[first + hop]!;
    const latency = hopLatency[first + hop]!;
    if (hops[at] !== id) {
      if (hops[at] !== NONE) {
        hops[at + 1] = NONE;
        hops[at + 4] = NONE;
        hops[at + 7] = NONE;
        hasMoved = true;
      }
      hops[at] = id;
    }
    total += latency;
    events += updateMetric(hops, at + 1, latency, limits, 0, isKnown);
    events += updateMetric(hops, at + 4, queueOccupancy[first + hop]!, limits, 2, isKnown);
    events += updateMetric(hops, at + 7, egressUtilization[first + hop]!, limits, 4, isKnown);
  }
  if (total > limits[6]! || (record.endToEndCount > 0 && Math.abs(total - record.endToEnd) > limits[7]!)) events++;
  record.endToEnd = total;
  record.endToEndCount++;
  record.endToEndSum += total;
  if (isKnown && (hasMoved || length !== record.pathLength)) record.pathChanges++;
  record.pathLength = length;
  return events;
}

function updateMetric(
  hops: number[] | Float64Array,
  at: number,
  value: number,
  limits: Limits,
  limit: number,
  isKnown: boolean,
): number {
  const previous = hops[at]!;
  hops[at] = value;
  hops[at + 1]!++;
  hops[at + 2]! += value;
  if (value > limits[limit]!) return 1;
  return isKnown && previous !== NONE && Math.abs(value - previous) > limits[limit + 1]! ? 1 : 0;
}

/** Flows by what is their key. */
export interface FlowStore {
  readonly size: number;
  /** Flows that gave way. */
  readonly evicted: number;
  readonly inserted: number;
  /** The record of a row's flow, made if there is none, and made the one used last. */
  touch(batch: TelemetryBatch, row: number): FlowRecord;
  /** The record of a row's flow. */
  peek(batch: TelemetryBatch, row: number): FlowRecord | undefined;
}

/** A key of a row's flow. */
export type KeyOf<K> = (batch: TelemetryBatch, row: number) => K;

export const stringKey: KeyOf<string> = ({ source0, destination0, ports, protocol }, row) =>
  `${source0[row]}:${destination0[row]}:${ports[row]}:${protocol[row]}`;
export const stringKeyOf = ({ source, destination, ports, protocol }: FlowRecord): string =>
  `${source}:${destination}:${ports}:${protocol}`;

const keyWords = /* @__PURE__ */ new Uint32Array(4);
const keyLongs = /* @__PURE__ */ new BigUint64Array(keyWords.buffer);

/** The 104 bits of the key as one number. */
function bigintOf(source: number, destination: number, ports: number, protocol: number): bigint {
  keyWords[0] = source;
  keyWords[1] = destination;
  keyWords[2] = ports;
  keyWords[3] = protocol;
  return (keyLongs[0]! << 40n) | keyLongs[1]!;
}
export const bigintKey: KeyOf<bigint> = ({ source0, destination0, ports, protocol }, row) =>
  bigintOf(source0[row]!, destination0[row]!, ports[row]!, protocol[row]!);
export const bigintKeyOf = ({ source, destination, ports, protocol }: FlowRecord): bigint =>
  bigintOf(source, destination, ports, protocol);

/** Signed: V8 keeps such a number in a pointer, and one of 2^31 or more in an object. */
const hashKey: KeyOf<number> = ({ source0, destination0, ports, protocol }, row) =>
  flowXxh32Ipv4(source0[row]!, destination0[row]!, protocol[row]!, ports[row]!) | 0;

/**
 * A Map that remembers by itself in which order its keys were used: a key is taken out and put in again. This is short,
 * and what one finds everywhere. In V8, keys taken out stay in their chain of the table until the table is made anew, and
 * putting a key in goes through all of its chain: the more often a flow comes, the slower it gets.
 */
export class ReinsertingStore<K> implements FlowStore {
  readonly #flows = new Map<K, FlowRecord>();
  readonly #capacity: number;
  readonly #keyOf: KeyOf<K>;
  evicted = 0;
  inserted = 0;

  constructor(capacity: number, keyOf: KeyOf<K>) {
    this.#capacity = capacity;
    this.#keyOf = keyOf;
  }

  get size(): number {
    return this.#flows.size;
  }

  touch(batch: TelemetryBatch, row: number): FlowRecord {
    const flows = this.#flows;
    const key = this.#keyOf(batch, row);
    let record = flows.get(key);
    if (record === undefined) {
      if (flows.size === this.#capacity) {
        flows.delete(flows.keys().next().value as K);
        this.evicted++;
      }
      record = new FlowRecord(batch, row, plainHops());
      this.inserted++;
    } else flows.delete(key);
    flows.set(key, record);
    return record;
  }

  peek(batch: TelemetryBatch, row: number): FlowRecord | undefined {
    return this.#flows.get(this.#keyOf(batch, row));
  }
}

/** The order in which flows were updated, as links between their records. */
class Order {
  #oldest: FlowRecord | undefined = undefined;
  #newest: FlowRecord | undefined = undefined;

  add(record: FlowRecord): void {
    record.older = this.#newest;
    record.newer = undefined;
    if (this.#newest === undefined) this.#oldest = record;
    else this.#newest.newer = record;
    this.#newest = record;
  }

  toFront(record: FlowRecord): void {
    if (record === this.#newest) return;
    this.#remove(record);
    this.add(record);
  }

  takeOldest(): FlowRecord {
    const record = this.#oldest!;
    this.#remove(record);
    return record;
  }

  #remove(record: FlowRecord): void {
    const { older, newer } = record;
    if (older === undefined) this.#oldest = newer;
    else older.newer = newer;
    if (newer === undefined) this.#newest = older;
    else newer.older = older;
  }
}

/** A Map, and records that are linked in the order in which they were updated. */
export class MapStore<K> implements FlowStore {
  readonly #flows = new Map<K, FlowRecord>();
  readonly #order = new Order();
  readonly #capacity: number;
  readonly #keyOf: KeyOf<K>;
  /** The key of a record, for the one that gives way. */
  readonly #keyOfRecord: (record: FlowRecord) => K;
  evicted = 0;
  inserted = 0;

  constructor(capacity: number, keyOf: KeyOf<K>, keyOfRecord: (record: FlowRecord) => K) {
    this.#capacity = capacity;
    this.#keyOf = keyOf;
    this.#keyOfRecord = keyOfRecord;
  }

  get size(): number {
    return this.#flows.size;
  }

  touch(batch: TelemetryBatch, row: number): FlowRecord {
    const flows = this.#flows;
    const key = this.#keyOf(batch, row);
    let record = flows.get(key);
    if (record !== undefined) {
      this.#order.toFront(record);
      return record;
    }
    if (flows.size === this.#capacity) {
      flows.delete(this.#keyOfRecord(this.#order.takeOldest()));
      this.evicted++;
    }
    record = new FlowRecord(batch, row, plainHops());
    flows.set(key, record);
    this.#order.add(record);
    this.inserted++;
    return record;
  }

  peek(batch: TelemetryBatch, row: number): FlowRecord | undefined {
    return this.#flows.get(this.#keyOf(batch, row));
  }
}

/** The same with a number for a key, the flow's hash: flows of the same hash are a chain. */
export class HashMapStore implements FlowStore {
  readonly #flows = new Map<number, FlowRecord>();
  readonly #order = new Order();
  readonly #capacity: number;
  readonly #newHops: () => number[] | Float64Array;
  size = 0;
  evicted = 0;
  inserted = 0;

  constructor(capacity: number, newHops: () => number[] | Float64Array) {
    this.#capacity = capacity;
    this.#newHops = newHops;
  }

  touch(batch: TelemetryBatch, row: number): FlowRecord {
    const flows = this.#flows;
    const key = hashKey(batch, row);
    const head = flows.get(key);
    for (let record = head; record !== undefined; record = record.next) {
      if (!record.isOf(batch, row)) continue;
      this.#order.toFront(record);
      return record;
    }
    if (this.size === this.#capacity) this.#evict();
    const record = new FlowRecord(batch, row, this.#newHops());
    record.next = flows.get(key);
    flows.set(key, record);
    this.#order.add(record);
    this.size++;
    this.inserted++;
    return record;
  }

  #evict(): void {
    const gone = this.#order.takeOldest();
    const { source, destination, protocol, ports } = gone;
    const key = flowXxh32Ipv4(source, destination, protocol, ports) | 0;
    let record = this.#flows.get(key)!;
    if (record === gone) {
      if (gone.next === undefined) this.#flows.delete(key);
      else this.#flows.set(key, gone.next);
    } else {
      while (record.next !== gone) record = record.next!;
      record.next = gone.next;
    }
    this.size--;
    this.evicted++;
  }

  peek(batch: TelemetryBatch, row: number): FlowRecord | undefined {
    let record = this.#flows.get(hashKey(batch, row));
    while (record !== undefined && !record.isOf(batch, row)) record = record.next;
    return record;
  }
}

/** The npm package lru-cache. */
export class LruStore<K extends string | bigint> implements FlowStore {
  readonly #flows: LRUCache<K, FlowRecord>;
  readonly #capacity: number;
  readonly #keyOf: KeyOf<K>;
  evicted = 0;
  inserted = 0;

  constructor(capacity: number, keyOf: KeyOf<K>) {
    this.#flows = new LRUCache({ max: capacity });
    this.#capacity = capacity;
    this.#keyOf = keyOf;
  }

  get size(): number {
    return this.#flows.size;
  }

  touch(batch: TelemetryBatch, row: number): FlowRecord {
    const key = this.#keyOf(batch, row);
    let record = this.#flows.get(key);
    if (record === undefined) {
      if (this.#flows.size === this.#capacity) this.evicted++;
      record = new FlowRecord(batch, row, plainHops());
      this.#flows.set(key, record);
      this.inserted++;
    }
    return record;
  }

  peek(batch: TelemetryBatch, row: number): FlowRecord | undefined {
    return this.#flows.peek(this.#keyOf(batch, row));
  }
}
