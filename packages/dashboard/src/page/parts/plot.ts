import type { MetricUnit } from '@int/network';
import uPlot from 'uplot';
import { clockText, measureText } from '../format/text.js';
import { colour } from '../state/theme.js';

export const MOST_LINES = 6;
export const lineColour = (index: number): string => `s${(index % MOST_LINES) + 1}`;

export interface PlotOptions {
  readonly height: number;
  readonly unit: MetricUnit | null;
  /** Names of the lines. */
  readonly labels: readonly string[];
  /** Lines that are dashed: what is compared with. */
  readonly dashed: ReadonlySet<number>;
  /** Largest value of the scale; `null`: what the values need. A share always has 0 to 100 %. */
  readonly top: number | null;
  /** Whether values are counts, which are drawn as steps from 0. */
  readonly isCount: boolean;
  readonly onZoom: (fromMs: number, toMs: number) => void;
  /** The value of each line under the cursor; `null`: the newest. */
  readonly onCursor: (index: number | null) => void;
}

/** Bounds of a band under line 0. */
export interface Band {
  readonly low: (number | null)[];
  readonly high: (number | null)[];
}

/** A chart of series over time. It is drawn when it is told to, and only while it can be seen. */
/** Room for the labels of the upright axis. */
const axisSize = (labels: readonly (string | null)[] | null): number =>
  Math.max(62, 18 + 6.5 * Math.max(0, ...(labels ?? []).map((label) => label?.length ?? 0)));

export class Plot {
  readonly #plot: uPlot;
  readonly #element: HTMLElement;
  readonly #observers: { disconnect(): void }[] = [];
  #isSeen = true;
  #pending: uPlot.AlignedData | null = null;
  #range: readonly [number, number] | null = null;
  #hasBand = false;

  constructor(element: HTMLElement, options: PlotOptions) {
    this.#element = element;
    this.#plot = new uPlot(this.#options(options), [[]], element);
    const resize = new ResizeObserver(() => {
      const { clientWidth } = element;
      if (clientWidth > 0 && clientWidth !== this.#plot.width) {
        this.#plot.setSize({ width: clientWidth, height: options.height });
      }
    });
    resize.observe(element);
    const seen = new IntersectionObserver((entries) => {
      this.#isSeen = entries.at(-1)?.isIntersecting ?? true;
      if (this.#isSeen && this.#pending !== null) this.#draw(this.#pending);
    });
    seen.observe(element);
    this.#observers.push(resize, seen);
  }

  /** @param range seconds of the first and the last moment shown */
  show(times: number[], columns: (number | null)[][], band: Band | null, range: readonly [number, number]): void {
    this.#range = range;
    const empty = band === null ? [] : null;
    this.#hasBand = band !== null;
    const data = [
      times,
      ...columns,
      band?.low ?? empty ?? [],
      band?.high ?? empty ?? [],
    ] as unknown as uPlot.AlignedData;
    if (this.#isSeen) this.#draw(data);
    else this.#pending = data;
  }

  /** Moves the chart along without new values. */
  scroll(range: readonly [number, number]): void {
    this.#range = range;
    if (this.#isSeen) this.#plot.setScale('x', { min: range[0], max: range[1] });
  }

  close(): void {
    for (const observer of this.#observers) observer.disconnect();
    this.#plot.destroy();
  }

  #draw(data: uPlot.AlignedData): void {
    this.#pending = null;
    this.#plot.setData(data, true);
  }

  #options(options: PlotOptions): uPlot.Options {
    const { height, unit, labels, dashed, top, isCount, onZoom, onCursor } = options;
    const text = colour('dim');
    const grid = { stroke: colour('line'), width: 1 };
    const font = '11px system-ui, "DejaVu Sans", sans-serif';
    const count = labels.length;
    const bandFill = `color-mix(in srgb, ${colour('s1')} 14%, transparent)`;
    return {
      width: Math.max(100, this.#element.clientWidth),
      height,
      padding: [8, 8, 0, 0],
      legend: { show: false },
      cursor: {
        y: false,
        sync: { key: 'time' },
        points: { size: 6 },
        drag: { x: true, y: false, setScale: false },
      },
      scales: {
        x: { time: true, range: () => [...(this.#range ?? [0, 1])] as uPlot.Range.MinMax },
        y: {
          range: (_, __, max) => {
            if (top !== null) return [0, top];
            return [0, max > 0 ? max * 1.08 : 1];
          },
        },
      },
      axes: [
        {
          stroke: text,
          grid,
          ticks: { show: false },
          font,
          size: 24,
          space: 70,
          values: (_, splits) => splits.map((each) => clockText(each * 1000, 0)),
        },
        {
          stroke: text,
          grid,
          ticks: { show: false },
          font,
          size: (_, values) => axisSize(values),
          space: 34,
          values: (_, splits) => splits.map((each) => measureText(each, unit)),
        },
      ],
      series: [
        {},
        ...labels.map(
          (label, line): uPlot.Series => ({
            label,
            stroke: colour(lineColour(line)),
            width: 1.5,
            points: { show: false },
            ...(dashed.has(line) ? { dash: [5, 4], width: 1 } : {}),
            ...(isCount && count === 1
              ? { fill: `color-mix(in srgb, ${colour(lineColour(line))} 16%, transparent)` }
              : {}),
          }),
        ),
        { label: 'low', width: 0, points: { show: false } },
        { label: 'high', width: 0, points: { show: false } },
      ],
      bands: [{ series: [count + 2, count + 1], fill: () => (this.#hasBand ? bandFill : 'transparent') }],
      hooks: {
        setSelect: [
          (plot) => {
            const { left, width } = plot.select;
            if (width < 4) return;
            onZoom(plot.posToVal(left, 'x') * 1000, plot.posToVal(left + width, 'x') * 1000);
            plot.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
          },
        ],
        setCursor: [(plot) => onCursor(plot.cursor.idx ?? null)],
      },
    };
  }
}
