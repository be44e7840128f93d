import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { EntityKey, SeriesAnswer } from '../../client/index.js';
import { BUCKET_MS, type SeriesMetric } from '../../protocol/entities.js';
import { client, hear, isLive, messageOf, newestWhenStopped, useLive } from './connection.js';
import { firstState } from './first-state.js';
import { at, replay } from './location.js';
import { SeriesWindow } from './series-window.js';

/** One line of a chart. */
export interface Line {
  readonly metric: SeriesMetric;
  readonly entity: EntityKey;
}

/** What a chart draws: times in seconds, and a column for each line. */
export interface SeriesData {
  readonly times: number[];
  readonly columns: (number | null)[][];
  /** Usual values of the lines that have a baseline. */
  readonly bands: Map<number, { readonly low: (number | null)[]; readonly high: (number | null)[] }>;
  /** Why there is nothing. */
  empty: string | null;
  source: SeriesAnswer['source'];
}

/** Seconds up to which a chart has each bucket as it comes; longer ones are asked for. */
const LONGEST_STREAM = 120;
/** Points of a chart at most, where it is asked for. */
const MOST_POINTS = 1200;

/** Range that charts show, in milliseconds: up to now, or around the time at which the page is stopped. */
export function rangeOf(spanSeconds: number): { readonly from: number; readonly to: number } | null {
  const stopped = at.value;
  if (stopped === null) return null;
  const after = Math.max(stopped, Math.min(stopped + spanSeconds * 250, newestWhenStopped.value ?? stopped));
  const to = Math.ceil(after / BUCKET_MS) * BUCKET_MS;
  return { from: to - spanSeconds * 1000, to };
}

/**
 * The series of some lines, kept up to date.
 * @param onData called when there is something new to draw
 * @param shiftMs how much earlier the values are, to compare
 */
export function useSeries(lines: readonly Line[], spanSeconds: number, onData: () => void, shiftMs = 0): SeriesData {
  const key = JSON.stringify(lines);
  const draw = useRef(onData);
  draw.current = onData;
  const isStream = isLive.value && spanSeconds <= LONGEST_STREAM && shiftMs === 0;
  const byMetric = useMemo(() => groups(JSON.parse(key) as Line[]), [key]);
  const held = useMemo(() => {
    const data: SeriesData = {
      times: [],
      columns: lines.map(() => []),
      bands: new Map(),
      empty: null,
      source: 'retained',
    };
    const created = { data, window: new SeriesWindow(lines.length, spanSeconds * 10 + 50) };
    if (isStream && takeFirst(created, byMetric)) read(created, spanSeconds);
    return created;
  }, [key, spanSeconds]);

  // Frames come as they are; what is older is asked for.
  const first = byMetric[0];
  const second = byMetric[1];
  useGroup(isStream ? first : undefined, held, spanSeconds, draw);
  useGroup(isStream ? second : undefined, held, spanSeconds, draw);

  const range = rangeOf(spanSeconds);
  const rangeKey = range === null ? 'live' : `${range.from}-${range.to}`;
  useEffect(() => {
    if (lines.length === 0) return;
    const controller = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const stepMs = isStream
      ? BUCKET_MS
      : Math.max(1, Math.ceil((spanSeconds * 1000) / BUCKET_MS / MOST_POINTS)) * BUCKET_MS;
    const ask = async (): Promise<void> => {
      try {
        const answers = await Promise.all(
          byMetric.map(({ metric, entities }) =>
            client.series(
              {
                metric,
                entities,
                stepMs,
                from: range === null ? undefined : range.from - shiftMs,
                to: range === null ? undefined : range.to - shiftMs,
                ...(range === null ? liveRange(spanSeconds, shiftMs) : {}),
              },
              { signal: controller.signal },
            ),
          ),
        );
        if (controller.signal.aborted) return;
        for (const [k, answer] of answers.entries()) take(held, byMetric[k]!, answer, isStream, shiftMs);
        if (isStream) read(held, spanSeconds);
        draw.current();
      } catch (error) {
        if (controller.signal.aborted) return;
        held.data.empty = messageOf(error);
        draw.current();
      }
      if (range === null && !isStream) timer = setTimeout(ask, Math.max(1000, stepMs));
    };
    void ask();
    return () => {
      controller.abort();
      clearTimeout(timer);
    };
  }, [key, rangeKey, spanSeconds, isStream, shiftMs, replay.value, held]);
  return held.data;
}

interface Group {
  readonly metric: SeriesMetric;
  readonly entities: readonly EntityKey[];
  /** Index of each entity's line. */
  readonly lines: readonly number[];
}

interface Held {
  readonly data: SeriesData;
  readonly window: SeriesWindow;
}

function groups(lines: readonly Line[]): Group[] {
  const metrics = [...new Set(lines.map(({ metric }) => metric))];
  return metrics.map((metric) => {
    const own = lines.flatMap((line, index) => (line.metric === metric ? [{ ...line, index }] : []));
    return { metric, entities: own.map(({ entity }) => entity), lines: own.map(({ index }) => index) };
  });
}

/** Without an end, the server takes the newest; a comparison needs the time by which it is earlier. */
function liveRange(spanSeconds: number, shiftMs: number): { from?: number; to?: number } {
  const to = Math.ceil((lastHeard ?? Date.now()) / BUCKET_MS) * BUCKET_MS - shiftMs;
  return { from: to - spanSeconds * 1000, to };
}

let lastHeard: number | null = null;

function useGroup(group: Group | undefined, held: Held, spanSeconds: number, draw: { current: () => void }): void {
  useLive(
    group === undefined ? null : { type: 'series', metric: group.metric, entities: group.entities },
    (message) => {
      if (message.type !== 'series' || group === undefined) return;
      const { t0, dt, n, columns } = message.frame;
      for (let k = 0; k < group.lines.length; k++) {
        const column = columns[k];
        if (column !== undefined) held.window.put(group.lines[k]!, t0, dt, column);
      }
      lastHeard = t0 + dt * Math.max(0, n - 1);
      hear(lastHeard);
      held.data.empty = null;
      read(held, spanSeconds);
      draw.current();
    },
  );
}

function take(held: Held, group: Group, answer: SeriesAnswer, isStream: boolean, shiftMs: number): void {
  const { data, window } = held;
  data.source = answer.source;
  data.empty = answer.empty;
  answer.series.forEach(({ values }, k) => {
    const line = group.lines[k];
    if (line === undefined) return;
    if (isStream) window.put(line, answer.from, answer.stepMs, values);
    else data.columns[line] = [...values];
  });
  const length = answer.series[0]?.values.length ?? 0;
  if (!isStream) {
    data.times.length = length;
    for (let k = 0; k < length; k++) data.times[k] = (answer.from + shiftMs + k * answer.stepMs) / 1000;
  }
  data.bands.clear();
  for (const { entity, low, high } of answer.bands ?? []) {
    const line = group.lines[group.entities.indexOf(entity)];
    // A band has a value per step of this answer; in a stream it is laid under what is drawn by its own steps.
    if (line !== undefined && !isStream) data.bands.set(line, { low: [...low], high: [...high] });
  }
}

/** How long what the document holds is worth to be drawn, in milliseconds after the page was loaded. */
const FIRST_MS = 5000;

/** Takes what the document holds of some series, until they are answered. @returns whether it holds all of them */
function takeFirst(held: Held, wanted: readonly Group[]): boolean {
  if (firstState === null || replay.peek() !== null || performance.now() > FIRST_MS || wanted.length === 0)
    return false;
  const answers = wanted.map(({ metric, entities }) =>
    entities.length === 1 && entities[0] === 'all'
      ? firstState?.series.find((each) => each.metric === metric && each.empty === null)
      : undefined,
  );
  if (!answers.every((each) => each !== undefined)) return false;
  for (const [k, answer] of answers.entries()) take(held, wanted[k]!, answer, true, 0);
  return true;
}

/** Lays the newest buckets out for the chart. */
function read({ data, window }: Held, spanSeconds: number): void {
  const to = window.newestMs;
  if (to === null) return;
  const length = (spanSeconds * 1000) / BUCKET_MS;
  for (const [line, column] of data.columns.entries()) window.read(line, to, length, column);
  data.times.length = length;
  for (let k = 0; k < length; k++) data.times[k] = (to - (length - 1 - k) * BUCKET_MS) / 1000;
}
