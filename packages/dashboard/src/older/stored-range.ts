/** Reads ranges of the history, whole or a fair part of them. */
import type { HistoryReader } from '../history/history-reader.js';
import type { Part } from './loaded-view.js';
import { belongsToNone, eventsAlone, eventsSql, storedEvents } from './stored-events.js';
import { idOf, reportsSql, type StoredRow, storedReports, timeOf } from './stored-reports.js';

const LIMIT_MS = 20_000;
/** Rows of hops that one query gives, and queries of a range. */
const MOST_ROWS = 50_000;
const MOST_QUERIES = 16;
const NS_PER_MS = 1_000_000n;

const nsOf = (ms: number): bigint => BigInt(Math.round(ms * 1000)) * 1000n;

/** The condition of a range, from before to, in milliseconds. Only numbers are put into it. */
const within = (fromMs: number, toMs: number): string => between(nsOf(fromMs), nsOf(toMs));
const between = (fromNs: bigint, toNs: bigint): string =>
  `time >= make_timestamp_ns(${fromNs}) AND time < make_timestamp_ns(${toNs})`;

/** What was read of a range. */
export interface StoredRange {
  readonly parts: readonly Part[];
  readonly reports: number;
  /** Part of all reports that was read: 1 if there are not more than were wanted. */
  readonly share: number;
}

/**
 * Reads reports and events.
 * @param most reports wanted: of more, every so many-th of each sink is read
 * @param wholeMs all reports of this millisecond are read
 * @throws ApiError (rejects) if the history cannot be read in time; the signal's reason
 */
export async function storedRange(
  reader: HistoryReader,
  {
    from,
    to,
    most,
    wholeMs,
  }: { readonly from: number; readonly to: number; readonly most: number; readonly wholeMs?: number },
  signal: AbortSignal,
): Promise<StoredRange> {
  const range = within(from, to);
  const counted = await reader.query(`SELECT count(*) FROM reports WHERE ${range}`, { rows: 1, ms: LIMIT_MS }, signal);
  const total = Number(counted.rows[0]?.[0] ?? 0);
  const every = Math.max(1, Math.ceil(total / most));
  const events = await reader.query(eventsSql(range), { rows: MOST_ROWS, ms: LIMIT_MS }, signal);
  if (total === 0 && events.rows.length === 0) return { parts: [], reports: 0, share: 1 };
  // The number of a record is the second part of its id.
  const whole = wholeMs === undefined ? '' : ` OR (${within(wholeMs, wholeMs + 1)})`;
  const sample = every === 1 ? '' : ` AND (CAST(split_part(id, '-', 2) AS BIGINT) % ${every} = 0${whole})`;
  const rows = total === 0 ? [] : await allRows(reader, nsOf(from), nsOf(to), sample, signal);
  const reports = storedReports(rows);
  const joined = storedEvents(events.rows, reports);
  const parts: Part[] = [];
  if (reports.reports > 0) {
    const { within: found } = joined;
    parts.push({
      batch: reports,
      events: found?.events ?? null,
      isApart: false,
      names: found?.rules.names ?? new Map(),
    });
  }
  // Reports of events may not be part of the sample.
  if (joined.apart !== null) {
    parts.push({ ...joined.apart, names: joined.apart.rules.names });
  }
  return { parts, reports: reports.reports, share: total === 0 ? 1 : reports.reports / total };
}

/** Rows of all reports of a range, by as many queries as it takes. */
async function allRows(
  reader: HistoryReader,
  fromNs: bigint,
  toNs: bigint,
  sample: string,
  signal: AbortSignal,
): Promise<StoredRow[]> {
  const rows: StoredRow[] = [];
  let next = fromNs;
  for (let query = 0; query < MOST_QUERIES; query++) {
    const sql = reportsSql(`${between(next, toNs)}${sample}`);
    const answer = await reader.query(sql, { rows: MOST_ROWS, ms: LIMIT_MS }, signal);
    rows.push(...answer.rows);
    if (!answer.truncated) return rows;
    // The last time may not be whole: it is read once more.
    const last = timeOf(rows.at(-1)!);
    let keep = rows.length;
    while (keep > 0 && timeOf(rows[keep - 1]!) === last) keep--;
    if (last === next || keep === 0) {
      next = last + 1n;
    } else {
      rows.length = keep;
      next = last;
    }
  }
  // The last report may not be whole.
  const last = rows.length === 0 ? '' : idOf(rows.at(-1)!);
  while (rows.length > 0 && idOf(rows.at(-1)!) === last) rows.pop();
  return rows;
}

/** The newest events of a range, without their reports. */
export async function newestEvents(
  reader: HistoryReader,
  from: number,
  to: number,
  most: number,
  signal: AbortSignal,
): Promise<{ readonly parts: readonly Part[]; readonly isCut: boolean }> {
  const sql = eventsSql(within(from, to), 'DESC');
  const { rows, truncated } = await reader.query(sql, { rows: most, ms: LIMIT_MS }, signal);
  if (rows.length === 0) return { parts: [], isCut: false };
  const inOrder = rows.toReversed();
  const parts = [false, true].flatMap((isApart): Part[] => {
    const some = inOrder.filter((row) => belongsToNone(row) === isApart);
    if (some.length === 0) return [];
    const alone = eventsAlone(some, isApart);
    return [{ ...alone, names: alone.rules.names }];
  });
  return { parts, isCut: truncated };
}

/** First and last time of the reports in the history, in milliseconds; `null`: it has none. */
export async function extentOf(
  reader: HistoryReader,
  signal: AbortSignal,
): Promise<{ readonly from: number; readonly to: number } | null> {
  const sql = 'SELECT epoch_ns(min(time)), epoch_ns(max(time)) FROM reports';
  const { rows } = await reader.query(sql, { rows: 1, ms: LIMIT_MS }, signal);
  const [first, last] = rows[0] ?? [];
  if (first === null || first === undefined || last === null || last === undefined) return null;
  const ms = (ns: unknown): number => Number(BigInt(ns as number | string) / NS_PER_MS);
  return { from: ms(first), to: ms(last) };
}
