import type { HistoryReader } from '../history/history-reader.js';
import type { Portion, RangeSource } from '../replay/range-source.js';
import type { Segment } from '../retention/segment.js';
import { NO_FLOW } from '../retention/slabs.js';
import { segmentOf } from './loaded-view.js';
import { storedRange } from './stored-range.js';

/** Reports of a portion: of more, a part is read. */
const MOST_REPORTS = 20_000;
const PORTION_MS = 10_000;

/** A range of the history, and behind it what is retained. */
export class HistoryRange implements RangeSource {
  readonly portionMs = PORTION_MS;
  readonly #reader: HistoryReader;
  readonly #retained: readonly Segment[];
  readonly #retainedMs: number;

  /** @param retainedMs from when on the retained segments have all */
  constructor(reader: HistoryReader, retained: readonly Segment[], retainedMs: number) {
    this.#reader = reader;
    this.#retained = retained;
    this.#retainedMs = retainedMs;
  }

  async read(fromMs: number, toMs: number, signal: AbortSignal): Promise<Portion> {
    const to = Math.min(toMs, this.#retainedMs);
    const later = this.#retained.filter((each) => each.toMs >= this.#retainedMs && each.fromMs < toMs);
    if (fromMs >= to) return { segments: later, leftOut: {} };
    const { parts, reports, share } = await storedRange(this.#reader, { from: fromMs, to, most: MOST_REPORTS }, signal);
    const stored = parts.map((part) => segmentOf(part, () => NO_FLOW));
    return { segments: [...stored, ...later], leftOut: { sampled: Math.round(reports / share) - reports } };
  }
}
