/** Line charts with confidence intervals, as SVG text. */

import { parse, View } from 'vega';
import { compile, type TopLevelSpec } from 'vega-lite';

export interface ChartPoint {
  readonly series: string;
  readonly x: number;
  readonly y: number;
  readonly halfWidth: number;
  /** Which of the charts side by side; all the same where there is one. */
  readonly facet: string;
}

/** A line: `look` is which of the six colours and marks, so that a series looks the same in all charts. */
export interface ChartSeries {
  readonly label: string;
  readonly look: number;
}

export interface Chart {
  readonly title: string;
  /** What the chart shows, for those who cannot see it. */
  readonly description: string;
  readonly xLabel: string;
  readonly yLabel: string;
  /** Series in the order of the legend. */
  readonly series: readonly ChartSeries[];
  /** Logarithmic where values differ by factors; all must be above 0. */
  readonly yScale: 'linear' | 'log';
  /** Heads of the charts side by side; none for one chart. */
  readonly facets: readonly string[];
  readonly points: readonly ChartPoint[];
}

/** Colours of the series in light surroundings, and what they become in dark ones. */
const COLOURS = ['#0a6ab6', '#b94a00', '#00795a', '#9a3c86', '#59636f', '#7a6a00'] as const;
const DARK_COLOURS = ['#63b3f5', '#f59e5b', '#43cfa4', '#e58fd2', '#a3adb8', '#d8c84a'] as const;
const TEXT = ['#1f2328', '#e6edf3'] as const;
const GRID = ['#d1d9e0', '#30363d'] as const;
const AXIS = ['#59636e', '#9198a1'] as const;
const BACK = ['#ffffff', '#0d1117'] as const;
const FONT = "system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif";

function markup(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

/** Rules for dark surroundings: colours are found by what they are, since the marks have no classes of their own. */
function darkStyle(): string {
  const pairs = [TEXT, GRID, AXIS, BACK, ...COLOURS.map((colour, i) => [colour, DARK_COLOURS[i]!] as const)];
  const rules = pairs.flatMap(([light, dark]) => [
    `[fill="${light}"]{fill:${dark}}`,
    `[stroke="${light}"]{stroke:${dark}}`,
  ]);
  return `<style>svg{color-scheme:light dark}@media (prefers-color-scheme:dark){${rules.join('')}}</style>`;
}

const SHAPES = ['circle', 'square', 'triangle-up', 'diamond', 'triangle-down', 'cross'] as const;

/** Ends of a logarithmic axis: room for the marks, and for as much of the intervals as is near them. */
function logDomain(points: readonly ChartPoint[]): [number, number] {
  const values = points.map(({ y }) => y);
  const highs = points.map(({ y, halfWidth }) => y + halfWidth);
  return [0.6 * Math.min(...values), Math.min(1.1 * Math.max(...highs), 4 * Math.max(...values))];
}

function specOf({ title, xLabel, yLabel, yScale, series, facets, points }: Chart): TopLevelSpec {
  const domain = series.map(({ label }) => label);
  const colour = {
    field: 'series',
    type: 'nominal' as const,
    sort: domain,
    title: null,
    scale: { domain, range: series.map(({ look }) => COLOURS[look]!) },
  };
  const shape = { ...colour, scale: { domain, range: series.map(({ look }) => SHAPES[look]!) } };
  const x = {
    field: 'x',
    type: 'quantitative' as const,
    title: xLabel,
    scale: { zero: false, padding: 12 },
    axis: { values: [...new Set(points.map((point) => point.x))].sort((a, b) => a - b), grid: false },
  };
  const [low, high] = [Math.min(...points.map((point) => point.x)), Math.max(...points.map((point) => point.x))];
  // Side by side, so that the intervals do not hide each other.
  const dodge = (label: string): number => (domain.indexOf(label) - (domain.length - 1) / 2) * 0.008 * (high - low);
  const [least, most] = yScale === 'log' ? logDomain(points) : [0, Number.POSITIVE_INFINITY];
  const scale = yScale === 'log' ? { type: 'log' as const, domain: [least, most], nice: false } : { zero: true };
  const y = { field: 'y', type: 'quantitative' as const, title: yLabel, scale, axis: { tickCount: 6 } };
  const interval = { y: { field: 'low', type: 'quantitative' as const, title: yLabel, scale }, y2: { field: 'high' } };
  const layers = [
    { mark: { type: 'line' as const, strokeWidth: 1.5 }, encoding: { x, y, color: colour } },
    { mark: { type: 'rule' as const, strokeWidth: 1 }, encoding: { x, ...interval, color: colour } },
    { mark: { type: 'point' as const, filled: true, size: 55, opacity: 1 }, encoding: { x, y, color: colour, shape } },
  ];
  const values = points.map((point) => ({
    ...point,
    x: point.x + dodge(point.series),
    low: Math.max(least, point.y - point.halfWidth),
    high: Math.min(most, point.y + point.halfWidth),
  }));
  const common = {
    $schema: 'https://vega.github.io/schema/vega-lite/v6.json',
    title: { text: title, anchor: 'start' as const, offset: 14 },
    data: { values },
    background: BACK[0],
    padding: 14,
    config: {
      font: FONT,
      title: { color: TEXT[0], fontSize: 15, fontWeight: 600 },
      axis: {
        labelColor: TEXT[0],
        titleColor: TEXT[0],
        domainColor: AXIS[0],
        tickColor: AXIS[0],
        gridColor: GRID[0],
        labelFontSize: 12,
        titleFontSize: 13,
        titleFontWeight: 400,
      },
      legend: { labelColor: TEXT[0], labelFontSize: 12, symbolSize: 70 },
      header: { labelColor: TEXT[0], labelFontSize: 12 },
      view: { stroke: null },
    },
  } as const;
  if (facets.length === 0) return { ...common, width: 520, height: 320, layer: layers } as TopLevelSpec;
  return {
    ...common,
    facet: { column: { field: 'facet', type: 'nominal', sort: [...facets], title: null } },
    spec: { width: 210, height: 260, layer: layers },
  } as TopLevelSpec;
}

/** Draws a chart: a whole SVG document for light and dark surroundings. */
export async function drawChart(chart: Chart): Promise<string> {
  const view = new View(parse(compile(specOf(chart)).spec), { renderer: 'none' });
  const svg = await view.toSVG();
  view.finalize();
  const head = `<title>${markup(chart.title)}</title><desc>${markup(chart.description)}</desc>${darkStyle()}`;
  return `${svg.replace(/<svg ([^>]*)>/, `<svg role="img" $1>${head}`)}\n`;
}
