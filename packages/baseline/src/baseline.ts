import { BaselineTable, USUALNESS } from './baseline-table.js';
import type { BaselineOptions } from './options.js';

/** What a window was, in comparison with what is usual. */
export interface Judgement {
  /** End of the window, in milliseconds since 1970. */
  readonly timeMs: number;
  /** The median of its values; `null`: there were none. */
  readonly value: number | null;
  /** What would have been usual; `null` while nothing has been learned. */
  readonly usual: number | null;
  /** How many spreads the value is above what is usual. */
  readonly deviation: number | null;
  readonly usualness: 'learning' | 'usual' | 'above' | 'below' | 'silent';
}

const NAMES = Object.keys(USUALNESS).map((name) => name.toLowerCase()) as Judgement['usualness'][];
const orNull = (value: number): number | null => (Number.isNaN(value) ? null : value);
/** Windows without values that are judged in a row. Of a longer silence, only these and the last ones are. */
const MOST_EMPTY = 10_000;

/**
 * What is usual for one number: values and their times in, a judgement per window out. See {@link BaselineTable}, which does the
 * same for many keys.
 *
 * @example
 * const baseline = new Baseline({ above: 2 });
 * for (const judgement of baseline.observe(Date.now(), latency)) if (judgement.usualness === 'above') alarm(judgement);
 */
export class Baseline {
  readonly #table: BaselineTable;
  readonly #windowMs: number;
  /** End of the window that goes on; NaN before the first value. */
  #end = Number.NaN;

  /** @throws RangeError for an option out of range */
  constructor(options: BaselineOptions = {}) {
    this.#table = new BaselineTable(1, options);
    this.#windowMs = options.windowMs ?? 1000;
  }

  /**
   * Adds a value, and judges the windows that have ended before it. A value from before the window that goes on counts as one of it.
   * @param value 0 to 2^32 - 1
   */
  observe(timeMs: number, value: number): Judgement[] {
    const judgements = this.advance(timeMs);
    if (Number.isNaN(this.#end)) this.#end = (Math.floor(timeMs / this.#windowMs) + 1) * this.#windowMs;
    this.#table.add(0, value);
    return judgements;
  }

  /** Judges the windows that have ended by a time. */
  advance(timeMs: number): Judgement[] {
    const judgements: Judgement[] = [];
    const late = Math.floor((timeMs - this.#end) / this.#windowMs) - MOST_EMPTY;
    while (timeMs >= this.#end) {
      judgements.push(this.#close());
      if (judgements.length === 1 && late > 0) this.#end += late * this.#windowMs;
    }
    return judgements;
  }

  #close(): Judgement {
    const table = this.#table;
    table.close(this.#end);
    const timeMs = this.#end;
    this.#end += this.#windowMs;
    return {
      timeMs,
      value: orNull(table.value[0]!),
      usual: orNull(table.usual[0]!),
      deviation: orNull(table.deviation[0]!),
      usualness: NAMES[table.usualness[0]!]!,
    };
  }
}
