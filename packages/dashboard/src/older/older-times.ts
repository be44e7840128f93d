/** Answers about times that are no longer retained, from the history, in the form of a view that the same code reads. */
import type { OlderSeries } from '../answers/series.js';
import type { HistoryReader } from '../history/history-reader.js';
import { olderSeries } from '../history/older-series.js';
import { BUCKET_MS } from '../protocol/entities.js';
import { parseId } from '../retention/ids.js';
import { type Kept, type KeptEvent, keptEventId, keptReportId } from '../retention/report-store.js';
import type { Retention } from '../retention/retention.js';
import type { Services, View } from '../server/routes.js';
import { LoadedView } from './loaded-view.js';
import { extentOf, newestEvents, storedRange } from './stored-range.js';

/** The range before a time that tells how the network was then. */
const BEFORE_MS = 30_000;
/** The range on either side of a packet that its biography is written from. */
const BESIDE_MS = 5000;
/** The range without `from`. */
const EVENTS_MS = 3_600_000;
const MOST_REPORTS = 20_000;
/** Answers that are kept for the next question about the same range, and how long: files are still written. */
const KEPT = 4;
const KEPT_MS = 30_000;

/** What is known of an older range. */
export interface Older {
  readonly view: View;
  /** Part of its reports that was read. */
  readonly share: number;
  /** Why there is nothing, for people; `null`: there is something. */
  readonly empty: string | null;
  /** Only the newest events were read. */
  readonly isCut?: boolean;
}

interface Range {
  readonly from: number;
  readonly to: number;
  /** All reports of this millisecond are wanted. */
  readonly wholeMs?: number;
}

/** Time of the oldest that is retained, in milliseconds; `null`: nothing is. */
export function oldestOf({ series }: Retention): number | null {
  return series.lastBucket === null ? null : series.firstBucket * BUCKET_MS;
}

/** Whether a time lies before what is retained. */
export function isOlder(timeMs: number, retention: Retention): boolean {
  const oldest = oldestOf(retention);
  return oldest === null || timeMs < oldest;
}

export class OlderTimes {
  readonly #readerOf: (services: Pick<Services, 'facts'>) => HistoryReader | null;
  readonly #kept = new Map<string, { readonly older: Older; readonly sinceMs: number }>();

  /** @param readerOf the history that the program has told of; `null`: it has none */
  constructor(readerOf: (services: Pick<Services, 'facts'>) => HistoryReader | null) {
    this.#readerOf = readerOf;
  }

  readonly series: OlderSeries = async (request, services, signal) => {
    const reader = this.#readerOf(services);
    return reader === null ? null : olderSeries(reader, request, services.live, signal);
  };

  /** The network as it was: what the 30 seconds before a time have told. @throws ApiError (rejects) if it cannot be read */
  at(timeMs: number, services: Services, signal: AbortSignal): Promise<Older> {
    const to = Math.ceil(timeMs / 1000) * 1000;
    return this.reports({ from: to - BEFORE_MS, to }, services, signal);
  }

  /** All that is known of a range of some seconds. @throws ApiError (rejects) if it cannot be read */
  async reports(range: Range, services: Services, signal: AbortSignal): Promise<Older> {
    const { from, to } = range;
    const reader = this.#readerOf(services);
    if (reader === null) return this.#without(services, from, to);
    const key = JSON.stringify([reader.directory, range]);
    const known = this.#kept.get(key);
    if (known !== undefined && performance.now() - known.sinceMs < KEPT_MS) return known.older;
    const { parts, reports, share } = await storedRange(reader, { ...range, most: MOST_REPORTS }, signal);
    const older: Older = {
      view: new LoadedView(parts, from, to, services.live.network),
      share,
      empty: reports > 0 ? null : await this.#nothing('report', from, to, reader, signal),
    };
    this.#keep(key, older);
    return older;
  }

  /**
   * The newest events of a range, without the reports that raised them.
   * @param from `null`: those of the hour before
   * @throws ApiError (rejects) if it cannot be read
   */
  async events(from: number | null, to: number, most: number, services: Services, signal: AbortSignal): Promise<Older> {
    const first = from ?? to - EVENTS_MS;
    const reader = this.#readerOf(services);
    if (reader === null) return this.#without(services, first, to);
    const { parts, isCut } = await newestEvents(reader, first, to, most, signal);
    return {
      view: new LoadedView(parts, to - BEFORE_MS, to, services.live.network),
      share: 1,
      empty: parts.length > 0 ? null : await this.#nothing('event', first, to, reader, signal),
      isCut,
    };
  }

  /** What surrounds the report that an id names; `null`: there is no history, or the id is none. */
  async near(id: string, services: Services, signal: AbortSignal): Promise<Older | null> {
    const parsed = parseId(id);
    if (parsed === null || this.#readerOf(services) === null) return null;
    const timeMs = Number(parsed.timeNs) / 1e6;
    const wholeMs = Math.floor(timeMs);
    return this.reports({ from: wholeMs - BESIDE_MS, to: wholeMs + BESIDE_MS, wholeMs }, services, signal);
  }

  #keep(key: string, older: Older): void {
    this.#kept.delete(key);
    this.#kept.set(key, { older, sinceMs: performance.now() });
    for (const [oldest] of this.#kept) if (this.#kept.size > KEPT) this.#kept.delete(oldest);
  }

  #without({ live }: Services, from: number, to: number): Older {
    return {
      view: new LoadedView([], to - Math.min(to - from, BEFORE_MS), to, live.network),
      share: 1,
      empty: `Only the last ${live.retention.seconds} s are retained, and there is no history: add a parquet sink to the configuration.`,
    };
  }

  async #nothing(
    what: 'report' | 'event',
    from: number,
    to: number,
    reader: HistoryReader,
    signal: AbortSignal,
  ): Promise<string> {
    const extent = await extentOf(reader, signal);
    const text = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
    if (extent === null) return 'The history holds no reports yet: its files are written once a minute.';
    const range = `${text(from)} to ${text(to)}`;
    return `The history holds no ${what} of ${range}. It reaches from ${text(extent.from)} to ${text(extent.to)}.`;
  }
}

/**
 * The event of an id in what was read from the history. The id of a report is made of its bytes, which the history does not hold, so
 * time and rule tell it.
 */
export function findStoredEvent({ retention: { store } }: View, id: string): KeptEvent | null {
  const parsed = parseId(id);
  if (parsed === null || !parsed.event) return null;
  const timeMs = Number(parsed.timeNs / 1_000_000n);
  const ofRule = id.slice(id.lastIndexOf('-'));
  let found: KeptEvent | null = null;
  for (const kept of store.events(timeMs - 1, timeMs + 2)) {
    if (kept.events.timeNs(kept.row) !== parsed.timeNs) continue;
    const own = keptEventId(kept);
    if (own === id) return kept;
    if (own.endsWith(ofRule)) found = kept;
  }
  return found;
}

/** The report of an id in what was read from the history: that of its time. */
export function findStoredReport({ retention: { store } }: View, id: string): Kept | null {
  const parsed = parseId(id);
  if (parsed === null) return null;
  const timeMs = Number(parsed.timeNs / 1_000_000n);
  let found: Kept | null = null;
  for (const kept of store.reports(timeMs - 1, timeMs + 2)) {
    if (kept.segment.batch.timeNs(kept.row) !== parsed.timeNs) continue;
    if (keptReportId(kept) === id) return kept;
    found = kept;
  }
  return found;
}
