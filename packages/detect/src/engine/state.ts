import { type Arena, metricOf } from '@int/codec';
import type { Rule } from '../rules/model.js';

/** How many cells of each sort there are. */
export interface CellCounts {
  readonly flowCells: number;
  readonly switchCells: number;
  /** Hop positions that a change detector follows. */
  readonly positions: number;
  /** Whether perHop and perFlow tell the first value of a cell from later ones: exact state. */
  readonly marksFirst?: boolean;
}

/** A cell of a flow, or of a switch: so many words, or 64-bit floats. */
interface Cell {
  readonly size: number;
  readonly isFloat?: boolean;
  readonly isPerSwitch?: boolean;
}

/** Kinds of state, by what a cell holds. */
const KINDS = {
  /** A cell of a switch: the value last reported. */
  perHop: { size: 1, isPerSwitch: true },
  /** The sum last reported. */
  perFlow: { size: 1 },
  /** Integer form: a scaled accumulator below 2^48, and the average last reported. */
  averageAccumulator: { size: 1, isFloat: true },
  averageReported: { size: 1 },
  /** Float form: the average, and the one last reported. */
  floatAverage: { size: 1, isFloat: true },
  floatReported: { size: 1, isFloat: true },
  /** A bit for each position seen; then, beyond `size`, switch id and value of each position. */
  changeHop: { size: 1 },
  /** Whether it was seen, the sum. */
  changeEndToEnd: { size: 2 },
  /** Number of ids plus 1, and two hashes of them. */
  path: { size: 3 },
  /** Reports seen, a bit for each metric of which there is a sum. */
  history: { size: 2 },
  /** The previous sum. */
  historySum: { size: 1 },
  /** Reports since the last one looked at, that one included. */
  sampleCount: { size: 1 },
  /** Time of the last report looked at, upper and lower word. */
  sampleTime: { size: 2 },
} satisfies Record<string, Cell>;
export type StateKind = keyof typeof KINDS;

/** A kind of state, of a metric where that matters. */
export interface StateKey {
  readonly kind: StateKind;
  readonly metric: number | null;
  /** The slot of the one rule that it belongs to; missing: all rules share it. */
  readonly owner?: number | null;
}

function cellOf(kind: StateKind, { positions, marksFirst = false }: CellCounts): Cell {
  if (kind === 'changeHop') return { size: 1 + 2 * positions };
  // The second word: 1 after the first value.
  return marksFirst && (kind === 'perHop' || kind === 'perFlow') ? { ...KINDS[kind], size: 2 } : KINDS[kind];
}

/** The state that a rule needs. @param owner its slot, if it shares state with no other; `null`: it does */
export function stateOf(rule: Pick<Rule, 'detector' | 'sample'>, owner: number | null = null): StateKey[] {
  const { detector, sample } = rule;
  const keys: StateKey[] = [];
  const metric = 'metric' in detector ? metricOf(detector.metric).id : null;
  const add = (kind: StateKind, of: number | null = metric): void => {
    keys.push({ kind, metric: of, owner });
  };
  if (detector.kind === 'perHop' || detector.kind === 'perFlow') add(detector.kind);
  else if (detector.kind === 'change') add(detector.scope === 'hop' ? 'changeHop' : 'changeEndToEnd');
  else if (detector.kind === 'pathChange') add('path');
  else if (detector.kind === 'movingAverage') {
    add('alpha' in detector ? 'floatAverage' : 'averageAccumulator');
    add('alpha' in detector ? 'floatReported' : 'averageReported');
  } else if (detector.kind === 'complex') {
    const conditions = detector.expression.flat();
    if (conditions.some(({ aggregate }) => aggregate === 'count' || aggregate === 'delta')) add('history', null);
    const deltas = conditions.flatMap((each) => (each.aggregate === 'delta' ? (each.metric ?? []) : []));
    for (const name of new Set(deltas)) add('historySum', metricOf(name).id);
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
 * The memory of all detectors, like the registers of a switch: one array of cells for each kind of state and metric,
 * shared by all rules that use it. Its size is fixed. The first rule that needs an array takes it out of the pool, and
 * it stays, so that state survives the rules.
 */
export class StatePool {
  readonly words: Int32Array;
  readonly floats: Float64Array;
  readonly byteLength: number;
  readonly cells: CellCounts;
  readonly #arrays: StateArray[] = [];
  #used = 0;

  /** @param byteLength the sum of {@link StatePool.bytesOf} for all that is to fit */
  constructor(arena: Arena, cells: CellCounts, byteLength: number) {
    this.cells = cells;
    this.byteLength = byteLength;
    const start = arena.take(byteLength);
    this.words = new Int32Array(arena.buffer, start, Math.floor(byteLength / 4));
    this.floats = new Float64Array(arena.buffer, start, Math.floor(byteLength / 8));
  }

  /** Bytes of one array. */
  static bytesOf({ kind }: StateKey, cells: CellCounts): number {
    const { size, isFloat, isPerSwitch } = cellOf(kind, cells);
    const bytes = (isPerSwitch ? cells.switchCells : cells.flowCells) * size * (isFloat ? 8 : 4);
    return Math.ceil(bytes / 64) * 64;
  }

  /** Bytes not yet given out. */
  get free(): number {
    return this.byteLength - this.#used;
  }

  find({ kind, metric, owner = null }: StateKey): StateArray | undefined {
    return this.#arrays.find(
      (array) => array.kind === kind && array.metric === metric && (array.owner ?? null) === owner,
    );
  }

  /** Bytes of the states among `keys` that do not exist yet. */
  missing(keys: readonly StateKey[]): number {
    const seen = new Set<string>();
    let bytes = 0;
    for (const key of keys) {
      const name = `${key.kind} ${key.metric} ${key.owner ?? ''}`;
      if (seen.has(name) || this.find(key) !== undefined) continue;
      seen.add(name);
      bytes += StatePool.bytesOf(key, this.cells);
    }
    return bytes;
  }

  /** The array of a state, made if need be. Ask {@link missing} first. */
  take(key: StateKey): StateArray {
    const known = this.find(key);
    if (known !== undefined) return known;
    const { size, isFloat = false, isPerSwitch = false } = cellOf(key.kind, this.cells);
    const array = { ...key, base: this.#used / (isFloat ? 8 : 4), size, isFloat, isPerSwitch };
    this.#used += StatePool.bytesOf(key, this.cells);
    this.#arrays.push(array);
    return array;
  }

  /** Zeroes the state that belongs to the rule of a slot alone: another rule is to have the slot. */
  clear(owner: number): void {
    for (const array of this.#arrays) {
      if (array.owner !== owner) continue;
      const { base, size, isFloat, isPerSwitch } = array;
      const end = base + size * (isPerSwitch ? this.cells.switchCells : this.cells.flowCells);
      if (isFloat) this.floats.fill(0, base, end);
      else this.words.fill(0, base, end);
    }
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
