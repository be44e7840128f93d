/** Finds what was measured for a combination. */
import { type Cell, HIGH_LOAD, keyOf, LOW_LOAD, type MethodId } from './matrix.js';
import type { CellResult, Measure } from './measures.js';
import type { Estimate } from './statistics.js';

export interface Where {
  readonly method: MethodId;
  readonly load: 'low' | 'high' | 'none';
  readonly switches: number;
  readonly recover: boolean;
  readonly loss?: number;
  readonly losesFeedback?: boolean;
}

const LOADS = { low: LOW_LOAD, high: HIGH_LOAD, none: 0 } as const;

export class Lookup {
  readonly #byKey: ReadonlyMap<string, CellResult>;
  /** Numbers of switches with sound links, ascending. */
  readonly sizes: readonly number[];
  /** Numbers of switches with lossy links under high load, ascending. */
  readonly degradedSizes: readonly number[];
  /** Probabilities of loss, ascending, without 0. */
  readonly losses: readonly number[];

  constructor(results: readonly CellResult[]) {
    this.#byKey = new Map(results.map((result) => [keyOf(result.cell), result]));
    const distinct = (keep: (cell: Cell) => boolean, of: (cell: Cell) => number): number[] =>
      [...new Set(results.filter(({ cell }) => keep(cell)).map(({ cell }) => of(cell)))].sort((a, b) => a - b);
    this.sizes = distinct(
      ({ loss, load }) => loss === 0 && load > 0,
      ({ switches }) => switches,
    );
    this.degradedSizes = distinct(
      ({ loss, load }) => loss > 0 && load > 0,
      ({ switches }) => switches,
    );
    this.losses = distinct(
      ({ loss, load }) => loss > 0 && load > 0,
      ({ loss }) => loss,
    );
  }

  /** `undefined` if it was not measured. */
  find(where: Where, measure: Measure): Estimate | undefined {
    const { method, load, switches, recover, loss = 0, losesFeedback = true } = where;
    const cell: Cell = { method, load: LOADS[load], switches, loss, losesFeedback, recover };
    return this.#byKey.get(keyOf(cell))?.estimates[measure];
  }

  /** @throws NotMeasured */
  mean(where: Where, measure: Measure): number {
    const found = this.find(where, measure);
    if (found === undefined) throw new NotMeasured();
    return found.mean;
  }

  /** The largest of some numbers that must exist. */
  get largest(): number {
    return orMissing(this.sizes.at(-1));
  }

  get largestDegraded(): number {
    return orMissing(this.degradedSizes.at(-1));
  }
}

/** An expectation looks at what this study has left out. */
export class NotMeasured extends Error {}

function orMissing(value: number | undefined): number {
  if (value === undefined) throw new NotMeasured();
  return value;
}
