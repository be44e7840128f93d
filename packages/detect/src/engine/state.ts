import type { Arena } from '@int/codec';
import { METRICS } from '@int/codec';
import type { Rule } from '../rules/model.js';

/** How many cells of each sort there are. */
export interface CellCounts {
  readonly flowCells: number;
  readonly switchCells: number;
  /** Hop positions that a change detector follows. */
  readonly positions: number;
}

/** Kinds of state, by what a cell holds. */
export type StateKind =
  /** Per switch: the value last reported. */
  | 'perHop'
  /** Per flow: the sum last reported. */
  | 'perFlow'
  /** Per flow: a scaled accumulator below 2^48, and the average last reported. */
  | 'averageAccumulator'
  | 'averageReported'
  /** Per flow, float form: the average, and the one last reported. */
  | 'floatAverage'
  | 'floatReported'
  /** Per flow: a bit for each position seen, then switch id and value of each position. */
  | 'changeHop'
  /** Per flow: whether it was seen, the sum. */
  | 'changeEndToEnd'
  /** Per flow: number of ids plus 1, and two hashes of them. */
  | 'path'
  /** Per flow: reports seen, a bit for each metric of which there is a sum. */
  | 'history'
  /** Per flow: the previous sum. */
  | 'historySum'
  /** Per flow: reports since the last one looked at, that one included. */
  | 'sampleCount'
  /** Per flow: time of the last report looked at, upper and lower word. */
  | 'sampleTime';

const PER_SWITCH: ReadonlySet<StateKind> = /* @__PURE__ */ new Set<StateKind>(['perHop']);
const FLOATS: ReadonlySet<StateKind> = /* @__PURE__ */ new Set<StateKind>([
  'averageAccumulator',
  'floatAverage',
  'floatReported',
]);

/** A kind of state, of a metric where that matters. */
export interface StateKey {
  readonly kind: StateKind;
  readonly metric: number | null;
}

/** Numbers (words, or 64-bit floats) of one cell. */
function cellSize(kind: StateKind, positions: number): number {
  if (kind === 'changeHop') return 1 + 2 * positions;
  if (kind === 'path') return 3;
  return kind === 'changeEndToEnd' || kind === 'history' || kind === 'sampleTime' ? 2 : 1;
}

/** The state that a rule needs. */
export function stateOf(rule: Pick<Rule, 'detector' | 'sample'>): StateKey[] {
  const { detector, sample } = rule;
  const keys: StateKey[] = [];
  const metric = 'metric' in detector ? METRICS.findIndex(({ name }) => name === detector.metric) : null;
  const add = (kind: StateKind, of: number | null = metric): void => {
    keys.push({ kind, metric: of });
  };
  if (detector.kind === 'perHop') add('perHop');
  else if (detector.kind === 'perFlow') add('perFlow');
  else if (detector.kind === 'change') add(detector.scope === 'hop' ? 'changeHop' : 'changeEndToEnd');
  else if (detector.kind === 'pathChange') add('path');
  else if (detector.kind === 'movingAverage') {
    add('alpha' in detector ? 'floatAverage' : 'averageAccumulator');
    add('alpha' in detector ? 'floatReported' : 'averageReported');
  } else if (detector.kind === 'complex') {
    const conditions = detector.expression.flat();
    if (conditions.some(({ aggregate }) => aggregate === 'count' || aggregate === 'delta')) add('history', null);
    for (const name of new Set(conditions.filter((each) => each.aggregate === 'delta').map((each) => each.metric))) {
      add(
        'historySum',
        METRICS.findIndex((each) => each.name === name),
      );
    }
  }
  if (sample !== null) add('oneIn' in sample ? 'sampleCount' : 'sampleTime', null);
  return keys;
}

/** An array of cells. */
export interface StateArray extends StateKey {
  /** Index of cell 0: in {@link StatePool.words}, or in {@link StatePool.floats} for a float kind. */
  readonly base: number;
  /** Numbers of a cell. */
  readonly size: number;
  readonly isFloat: boolean;
  readonly isPerSwitch: boolean;
}

/**
 * The memory of all detectors, as registers of a switch: one array of cells for each kind of state and metric, shared
 * by all rules that use it. Its size is fixed; arrays are carved out of it when the first rule needs them and stay, so
 * that state survives the rules.
 */
export class StatePool {
  readonly words: Int32Array;
  readonly floats: Float64Array;
  readonly byteLength: number;
  readonly cells: CellCounts;
  readonly #arrays: StateArray[] = [];
  #used = 0;

  /** @param byteLength what {@link StatePool.bytesOf} gives for all that is to fit in */
  constructor(arena: Arena, cells: CellCounts, byteLength: number) {
    this.cells = cells;
    this.byteLength = byteLength;
    const start = arena.take(byteLength);
    this.words = new Int32Array(arena.buffer, start, Math.floor(byteLength / 4));
    this.floats = new Float64Array(arena.buffer, start, Math.floor(byteLength / 8));
  }

  /** Bytes of one array. */
  static bytesOf({ kind }: StateKey, cells: CellCounts): number {
    const count = PER_SWITCH.has(kind) ? cells.switchCells : cells.flowCells;
    const bytes = count * cellSize(kind, cells.positions) * (FLOATS.has(kind) ? 8 : 4);
    return Math.ceil(bytes / 64) * 64;
  }

  /** Bytes not yet given out. */
  get free(): number {
    return this.byteLength - this.#used;
  }

  /** All arrays in use. */
  get arrays(): readonly StateArray[] {
    return this.#arrays;
  }

  find({ kind, metric }: StateKey): StateArray | undefined {
    return this.#arrays.find((array) => array.kind === kind && array.metric === metric);
  }

  /** Bytes that the states among `keys` which do not exist yet would take. */
  missing(keys: readonly StateKey[]): number {
    const seen = new Set<string>();
    let bytes = 0;
    for (const key of keys) {
      const name = `${key.kind} ${key.metric}`;
      if (seen.has(name) || this.find(key) !== undefined) continue;
      seen.add(name);
      bytes += StatePool.bytesOf(key, this.cells);
    }
    return bytes;
  }

  /** The array of a state, made if need be. The caller has asked {@link missing}. */
  take(key: StateKey): StateArray {
    const known = this.find(key);
    if (known !== undefined) return known;
    const isFloat = FLOATS.has(key.kind);
    const array: StateArray = {
      ...key,
      base: this.#used / (isFloat ? 8 : 4),
      size: cellSize(key.kind, this.cells.positions),
      isFloat,
      isPerSwitch: PER_SWITCH.has(key.kind),
    };
    this.#used += StatePool.bytesOf(key, this.cells);
    this.#arrays.push(array);
    return array;
  }

  /** Zeroes the state of one flow (or switch): the next report of the cell is a first sight. */
  forget(cell: number, isSwitch: boolean): void {
    for (const { base, size, isFloat, isPerSwitch } of this.#arrays) {
      if (isPerSwitch !== isSwitch) continue;
      const at = base + cell * size;
      if (isFloat) this.floats.fill(0, at, at + size);
      else this.words.fill(0, at, at + size);
    }
  }
}
