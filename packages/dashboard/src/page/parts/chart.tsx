import type { MetricUnit } from '@int/network';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { countText, measureText } from '../format/text.js';
import { isLive } from '../state/connection.js';
import { at, go, span } from '../state/location.js';
import { unitOfSeries } from '../state/network.js';
import { theme } from '../state/theme.js';
import { type Line, rangeOf, type SeriesData, useSeries } from '../state/use-series.js';
import { lineColour, MOST_LINES, Plot } from './plot.js';
import { restOf, topOf } from './top-lines.js';

export interface ChartLine extends Line {
  readonly label: string;
}

interface ChartProps {
  /** If there are more than six, the five largest are drawn, and the rest as one line. */
  readonly lines: readonly ChartLine[];
  readonly height?: number;
  /** What the values are in, if not in the unit of their metric. */
  readonly unit?: MetricUnit | null;
  readonly top?: number | null;
  /** How much earlier the same lines are drawn once more, dashed. */
  readonly compareMs?: number;
  readonly label: string;
  /** Counts in a bucket are shown as a rate per second. */
  readonly isRate?: boolean;
}

const COUNTS: readonly string[] = ['reports', 'drops', 'events'];
/** How often the largest of many lines are looked for. */
const RANK_MS = 3000;
/** Values per second of a value per bucket. */
const PER_SECOND = 10;

/** A chart of a few lines, live or at the time at which the page is stopped. It scrolls smoothly while it has the focus. */
export function Chart({ lines, height = 150, unit, top = null, compareMs = 0, label, isRate = false }: ChartProps) {
  const holder = useRef<HTMLDivElement>(null);
  const legend = useRef<HTMLUListElement>(null);
  const notice = useRef<HTMLParagraphElement>(null);
  const plot = useRef<Plot | null>(null);
  const cursor = useRef<number | null>(null);
  const hasFocus = useRef(false);
  const arrived = useRef(0);

  const metric = lines[0]?.metric ?? 'reports';
  const own = unit === undefined ? unitOfSeries(metric, lines[0]?.entity ?? null) : unit;
  const isCount = COUNTS.includes(metric);
  const isCompared = compareMs > 0;
  const seconds = span.value;
  const top1 = top ?? (metric === 'utilization' ? 1 : null);

  // Of many lines, the five largest are looked for anew every few seconds.
  const isMany = lines.length > MOST_LINES;
  const [top5, setTop5] = useState<readonly number[]>([]);
  const ranked = useRef(0);
  const reduced = (columns: (number | null)[][]): (number | null)[][] => {
    if (!isMany) return columns;
    return [...top5.map((line) => columns[line] ?? []), restOf(columns, top5, isCount)];
  };
  const shownLines = isMany
    ? [
        ...top5.flatMap((line) => lines[line] ?? []),
        { metric, entity: 'rest', label: `${isCount ? 'sum' : 'highest'} of ${lines.length - top5.length} others` },
      ]
    : lines;

  const show = (): void => {
    const { times, bands } = data;
    if (isMany && performance.now() - ranked.current > RANK_MS) {
      const next = topOf(data.columns, MOST_LINES - 1);
      if (next.join() !== top5.join()) setTop5(next);
      if (times.length > 0) ranked.current = performance.now();
    }
    const columns = reduced(data.columns);
    const drawn = isCompared
      ? [...columns, ...reduced(earlier.columns).map((each) => aligned(each, columns[0]?.length ?? 0))]
      : columns;
    arrived.current = performance.now();
    plot.current?.show(times, isRate ? drawn.map(perSecond) : drawn, bands.get(0) ?? null, rangeNow());
    write();
  };
  const data = useSeries(
    lines.map(({ metric, entity }) => ({ metric, entity })),
    seconds,
    show,
  );
  const earlier = useSeries(
    isCompared ? lines.map(({ metric, entity }) => ({ metric, entity })) : [],
    seconds,
    show,
    compareMs,
  );

  const rangeNow = (): [number, number] => {
    const fixed = rangeOf(seconds);
    if (fixed !== null) return [fixed.from / 1000, fixed.to / 1000];
    const newest = data.times.at(-1) ?? Date.now() / 1000;
    const ahead = hasFocus.current ? Math.min(0.2, (performance.now() - arrived.current) / 1000) : 0;
    return [newest - seconds + ahead, newest + ahead];
  };

  /** Writes the values beside the names. As text of a few elements it costs nothing, ten times a second. */
  const write = (): void => {
    const columns = reduced(data.columns);
    const values = legend.current?.querySelectorAll('b') ?? [];
    values.forEach((element, line) => {
      const column = columns[line] ?? [];
      const value = column[cursor.current ?? lastOf(column)] ?? null;
      const text = value === null ? '–' : isRate ? countText(value * PER_SECOND) : measureText(value, own);
      if (element.textContent !== text) element.textContent = text;
    });
    if (notice.current !== null) notice.current.textContent = emptyText(data);
  };

  const labels = shownLines.map((line) => line.label);
  const all = isCompared ? [...labels, ...labels.map((name) => `${name}, earlier`)] : labels;
  const key = JSON.stringify([all, own, height, top1, isCount]);
  const shown = theme.value;
  // Before the first picture: what is there already is in it.
  useLayoutEffect(() => {
    const created = new Plot(holder.current!, {
      height,
      unit: own,
      labels: all,
      dashed: new Set(all.flatMap((_, line) => (line >= labels.length ? [line] : []))),
      top: top1,
      isCount,
      onZoom: (from, to) => zoom(from, to),
      onCursor: (index) => {
        cursor.current = index;
        write();
      },
    });
    plot.current = created;
    show();
    return () => {
      plot.current = null;
      created.close();
    };
  }, [key, shown]);

  // Only the chart that somebody looks at moves between two values.
  useEffect(() => {
    let frame = 0;
    const move = (): void => {
      frame = 0;
      if (!hasFocus.current || !isLive.peek()) return;
      plot.current?.scroll(rangeNow());
      frame = requestAnimationFrame(move);
    };
    const begin = (): void => {
      hasFocus.current = true;
      if (frame === 0) frame = requestAnimationFrame(move);
    };
    const end = (): void => {
      hasFocus.current = false;
    };
    const element = holder.current!;
    element.addEventListener('pointerenter', begin);
    element.addEventListener('pointerleave', end);
    return () => {
      end();
      cancelAnimationFrame(frame);
      element.removeEventListener('pointerenter', begin);
      element.removeEventListener('pointerleave', end);
    };
  });

  return (
    <figure class="chart" aria-label={label}>
      <div class="plot" ref={holder} style={{ height: `${height}px` }} />
      <ul class="legend" ref={legend}>
        {shownLines.map((line, index) => (
          <li key={`${line.metric} ${line.entity}`}>
            <i style={{ '--colour': `var(--${lineColour(index)})` }} />
            {line.label}
            <b>–</b>
          </li>
        ))}
        {isCompared && <li class="dim">dashed: earlier</li>}
      </ul>
      <p class="dim" ref={notice} />
    </figure>
  );
}

/** What a zoom chooses: the page is stopped at its last quarter, where charts have their time. */
function zoom(from: number, to: number): void {
  const seconds = Math.max(1, Math.round((to - from) / 1000));
  go({ at: Math.round(from + (to - from) * 0.75), span: seconds });
}

const perSecond = (column: (number | null)[]): (number | null)[] =>
  column.map((value) => (value === null ? null : value * PER_SECOND));

/** As long as the others, from the end: an answer may have a step more or less. */
function aligned(column: readonly (number | null)[], length: number): (number | null)[] {
  if (column.length >= length) return column.slice(column.length - length);
  return [...Array.from({ length: length - column.length }, () => null), ...column];
}

function lastOf(column: readonly (number | null)[]): number {
  for (let k = column.length - 1; k >= 0; k--) if (column[k] !== null && column[k] !== undefined) return k;
  return -1;
}

function emptyText({ empty, columns, source }: SeriesData): string {
  if (columns.some((column) => column.some((value) => value !== null))) {
    return source === 'history' ? 'From the history: older than what is retained.' : '';
  }
  return empty ?? (at.value === null ? 'Nothing has come in this time.' : 'Nothing is retained of this time.');
}
