import { NOT_AVAILABLE } from '@int/codec';
import { type Entity, type EntityKey, entityKey, parseEntity, type SeriesMetric } from '../protocol/entities.js';
import { binValue } from './bins.js';
import {
  CELL,
  epochOf,
  headerOf,
  type KeyColumns,
  KIND,
  keysOf,
  NUMBER,
  ROW,
  type SharedRetention,
  SIGNAL,
} from './geometry.js';

/** An entity with series. */
export interface SeriesEntity {
  readonly key: EntityKey;
  readonly entity: Entity;
  readonly row: number;
}

const FIXED: readonly Entity[] = [
  { kind: 'all' },
  { kind: 'other', of: 'switch' },
  { kind: 'other', of: 'queue' },
  { kind: 'other', of: 'link' },
];

/** Reads the retained series, in the dashboard's thread. */
export class SeriesReader {
  readonly #shared: SharedRetention;
  readonly #cells: Uint32Array;
  readonly #keys: KeyColumns;
  readonly #signals: Int32Array;
  readonly #numbers: Float64Array;
  #version = -1;
  #entities: readonly SeriesEntity[] = [];
  #byKey: ReadonlyMap<EntityKey, SeriesEntity> = new Map();

  constructor(shared: SharedRetention) {
    this.#shared = shared;
    this.#cells = new Uint32Array(shared.cells);
    this.#keys = keysOf(shared);
    const { signals, numbers } = headerOf(shared);
    this.#signals = signals;
    this.#numbers = numbers;
  }

  /** Changes with each bucket that is complete. */
  get version(): number {
    return Atomics.load(this.#signals, SIGNAL.BUCKETS);
  }

  /** Changes when time is set back. */
  get generation(): number {
    return this.#numbers[NUMBER.GENERATION]!;
  }

  /** The last complete bucket; `null`: there is none. */
  get lastBucket(): number | null {
    const closed = this.#numbers[NUMBER.CLOSED]!;
    return closed < 0 || closed < this.#numbers[NUMBER.FIRST]! ? null : closed;
  }

  get firstBucket(): number {
    const first = this.#numbers[NUMBER.CLOSED]! - this.#shared.geometry.readable + 1;
    return Math.max(this.#numbers[NUMBER.FIRST]!, first);
  }

  /** All entities that have series now. */
  entities(): readonly SeriesEntity[] {
    this.#refresh();
    return this.#entities;
  }

  /** `null`: it has none. */
  find(key: EntityKey): SeriesEntity | null {
    this.#refresh();
    const found = this.#byKey.get(key);
    if (found !== undefined) return found;
    const entity = parseEntity(key);
    return entity === null ? null : (this.#byKey.get(entityKey(entity)) ?? null);
  }

  /**
   * Values of an entity in `count` buckets from `bucket` on, into `out`; NaN where nothing was seen. Counts of entities that were
   * seen are 0 or more; utilisation is in the device's unit.
   */
  read(
    row: number,
    metric: SeriesMetric,
    bucket: number,
    count: number,
    out: Float32Array | Float64Array,
    at = 0,
  ): void {
    const { buckets } = this.#shared.geometry;
    const cells = this.#cells;
    const first = Math.max(this.firstBucket, this.#keys.since[row]!);
    const last = this.lastBucket ?? -1;
    const generation = this.#numbers[NUMBER.GENERATION]!;
    for (let index = 0; index < count; index++) {
      const own = bucket + index;
      let value = Number.NaN;
      if (own >= first && own <= last) {
        const cell = (row * buckets + (own % buckets)) * CELL.WORDS;
        if (cells[cell] === epochOf(generation, own)) value = numberOf(cells, cell, metric);
      }
      out[at + index] = value;
    }
  }

  #refresh(): void {
    const version = Atomics.load(this.#signals, SIGNAL.ROWS);
    if (version === this.#version) return;
    const { kind, a, b, c, d } = this.#keys;
    const port = (word: number): number | null => (word === NOT_AVAILABLE ? null : word);
    const found: SeriesEntity[] = [];
    for (let row = 0; row < kind.length; row++) {
      let entity: Entity;
      if (row < ROW.FIRST) entity = FIXED[row]!;
      else if (kind[row] === KIND.SWITCH) entity = { kind: 'switch', switchId: a[row]! };
      else if (kind[row] === KIND.QUEUE) entity = { kind: 'queue', switchId: a[row]!, queue: b[row]! };
      else if (kind[row] === KIND.LINK)
        entity = { kind: 'link', from: a[row]!, fromPort: port(b[row]!), to: c[row]!, toPort: port(d[row]!) };
      else continue;
      found.push({ key: entityKey(entity), entity, row });
    }
    this.#entities = found;
    this.#byKey = new Map(found.map((each) => [each.key, each]));
    // While they change, they are read again the next time.
    this.#version = (version & 1) === 0 && version === Atomics.load(this.#signals, SIGNAL.ROWS) ? version : -1;
  }
}

const plusOne = (word: number): number => (word === 0 ? Number.NaN : word - 1);
const ofBin = (bin: number): number => (bin === 0 ? Number.NaN : binValue(bin - 1));

function numberOf(cells: Uint32Array, cell: number, metric: SeriesMetric): number {
  switch (metric) {
    case 'reports':
      return cells[cell + CELL.REPORTS]!;
    case 'drops':
      return cells[cell + CELL.DROPS]!;
    case 'events':
      return cells[cell + CELL.EVENTS]!;
    case 'latencyP50':
      return ofBin(cells[cell + CELL.QUANTILES]! & 0xffff);
    case 'latencyP99':
      return ofBin(cells[cell + CELL.QUANTILES]! >>> 16);
    case 'latencyMax':
      return plusOne(cells[cell + CELL.LATENCY_MAX]!);
    case 'occupancy':
      return plusOne(cells[cell + CELL.OCCUPANCY]!);
    case 'utilization':
      return plusOne(cells[cell + CELL.UTILIZATION]!);
  }
}

const COUNTS: ReadonlySet<SeriesMetric> = /* @__PURE__ */ new Set(['reports', 'drops', 'events']);

/**
 * Puts values of buckets together into steps of `width` buckets, in place: counts add up, p50 is the median of the buckets', the
 * others are the largest.
 * @returns the number of steps
 */
export function coarsen(metric: SeriesMetric, values: Float64Array, width: number): number {
  const steps = Math.ceil(values.length / width);
  for (let step = 0; step < steps; step++) {
    const part = values
      .subarray(step * width, Math.min(values.length, (step + 1) * width))
      .filter((value) => !Number.isNaN(value));
    let value = Number.NaN;
    if (part.length > 0) {
      if (COUNTS.has(metric)) value = part.reduce((sum, each) => sum + each, 0);
      else if (metric === 'latencyP50') value = part.sort()[(part.length - 1) >> 1]!;
      else value = part.reduce((most, each) => Math.max(most, each));
    }
    values[step] = value;
  }
  return steps;
}
