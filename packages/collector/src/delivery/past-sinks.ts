import type { RecordKind, SinkTotals } from '../stage.js';
import { addByName, addTotals } from './add-totals.js';

/** Most names of removed sinks that are told apart. */
const MOST_NAMES = 64;
/** The name under which the others are counted. */
const OTHERS = 'removed sinks';

/** The last counters of sinks that have been removed, by name. Their number is bounded. */
export class PastSinks {
  readonly #byName: Record<string, SinkTotals> = {};
  #names = 0;

  add(name: string, totals: SinkTotals): void {
    if (Object.keys(totals).length === 0) return;
    let key = name;
    if (!Object.hasOwn(this.#byName, key)) {
      if (this.#names >= MOST_NAMES) key = OTHERS;
      else this.#names++;
    }
    addByName(this.#byName, { [key]: totals }, addTotals);
  }

  /** Counts records that came after the end of a sink. */
  refuse(name: string, kind: RecordKind, records: number): void {
    this.add(name, { [kind]: { offered: records, delivered: 0, pending: 0, dropped: { closed: records } } });
  }

  /** Adds all of it to other counters. */
  addTo(all: Record<string, SinkTotals>): void {
    addByName(all, this.#byName, addTotals);
  }
}
