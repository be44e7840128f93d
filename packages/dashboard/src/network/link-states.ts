/** Which links are up and which went down, as the series of links and switches tell. */
import type { LinkInfo } from '../protocol/http.js';
import type { Retention } from '../retention/retention.js';

/** Buckets that a link's present load and rate are of. */
const RECENT = 10;
/**
 * A link that was busy before is down after so many silent buckets at least. The bucket in which it failed is not among them, so that
 * this is known at most 600 ms after the fault.
 */
const SILENT = 5;
/** Reports that would have come in the silence, had it gone on as before. */
const EXPECTED = 10;
/** Buckets that tell how busy a link was. */
const BUSY = 100;

/** What is known of a link at a time. */
export interface LinkState {
  readonly state: LinkInfo['state'];
  readonly reportsPerSecond: number;
  /** The largest of the last second, in the device's unit; NaN: none was seen. */
  readonly utilization: number;
}

/** Reads the states of links at the end of a bucket. */
export class LinkStates {
  readonly #retention: Retention;
  readonly #last: number;
  readonly #values = new Float64Array(BUSY);
  readonly #isReporting = new Map<number, boolean>();

  /** @param last the bucket, complete */
  constructor(retention: Retention, last: number) {
    this.#retention = retention;
    this.#last = last;
  }

  /** `null`: it has no series. @param key of the link */
  of(key: string, from: number, to: number): LinkState | null {
    const row = this.#retention.series.find(key)?.row;
    if (row === undefined) return null;
    const count = this.#over(row, 'reports', this.#last, RECENT);
    return {
      state: this.#isUp(row) ? 'up' : this.#whenSilent(row, from, to, this.#retention.series.firstBucket),
      reportsPerSecond: Number.isNaN(count) ? 0 : count,
      utilization: this.#over(row, 'utilization', this.#last, RECENT),
    };
  }

  /**
   * The keys of the links that are down, as one text, without those that have been silent for more than ten seconds: made ten times a
   * second, it tells when a link goes down or comes back.
   */
  newlyDown(): string {
    const oldest = Math.max(this.#retention.series.firstBucket, this.#last - BUSY + 1);
    let keys = '';
    for (const { key, entity, row } of this.#retention.series.entities()) {
      if (entity.kind !== 'link' || entity.from === entity.to || this.#isUp(row)) continue;
      if (this.#whenSilent(row, entity.from, entity.to, oldest) === 'down') keys += `${key} `;
    }
    return keys;
  }

  #isUp(row: number): boolean {
    return this.#over(row, 'reports', this.#last, SILENT) > 0;
  }

  /** @param oldest the bucket back to which its last report is looked for */
  #whenSilent(row: number, from: number, to: number, oldest: number): LinkInfo['state'] {
    const seen = this.#lastSeen(row, oldest);
    if (seen < 0) return 'unseen';
    const silent = this.#last - seen;
    const before = this.#over(row, 'reports', seen, BUSY);
    const isMissed = silent >= SILENT && silent * before >= EXPECTED * BUSY;
    return isMissed && this.#reports(from) && this.#reports(to) ? 'down' : 'up';
  }

  /** Whether a switch reports: of one that is silent itself, nobody knows its links. */
  #reports(id: number): boolean {
    let known = this.#isReporting.get(id);
    if (known === undefined) {
      const row = this.#retention.series.find(`switch:${id}`)?.row;
      known = row !== undefined && this.#isUp(row);
      this.#isReporting.set(id, known);
    }
    return known;
  }

  /** The sum of counts, or largest value, in `count` buckets up to `last`; NaN: none was seen. */
  #over(row: number, metric: 'reports' | 'utilization', last: number, count: number): number {
    this.#retention.series.read(row, metric, last - count + 1, count, this.#values);
    let result = Number.NaN;
    for (let at = 0; at < count; at++) {
      const value = this.#values[at]!;
      if (Number.isNaN(value)) continue;
      if (Number.isNaN(result)) result = value;
      else result = metric === 'reports' ? result + value : Math.max(result, value);
    }
    return result;
  }

  /** The last bucket with reports; -1: there is none from `oldest` on. */
  #lastSeen(row: number, oldest: number): number {
    for (let end = this.#last; end >= oldest; end -= BUSY) {
      this.#retention.series.read(row, 'reports', end - BUSY + 1, BUSY, this.#values);
      for (let at = BUSY - 1; at >= 0; at--) if (this.#values[at]! > 0) return end - BUSY + 1 + at;
    }
    return -1;
  }
}
