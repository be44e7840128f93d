/** Line charts on a logarithmic scale, as SVG text: a few shapes and a style sheet for light and dark surroundings. */

/** One line. */
export interface Series {
  readonly label: string;
  /** Which of the four colours and marks. */
  readonly look: 0 | 1 | 2 | 3;
  readonly dashed: boolean;
  /** A value above 0 for each category; `null`: no mark, and a gap in the line. */
  readonly values: readonly (number | null)[];
}

export interface Chart {
  readonly title: string;
  /** What the chart shows, in words, for those who cannot see it. */
  readonly description: string;
  readonly xLabel: string;
  readonly yLabel: string;
  readonly categories: readonly string[];
  readonly series: readonly Series[];
  /** The upper corner that the lines leave free. */
  readonly legend: 'left' | 'right';
}

const WIDTH = 760;
const HEIGHT = 480;
const FRAME = { left: 84, right: 20, top: 52, bottom: 60 } as const;
const LEGEND_ROW = 18;

const STYLE = `
    svg { color-scheme: light dark; }
    .back { fill: #ffffff; }
    text { fill: #1f2328; font: 13px system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif; }
    .title { font-size: 15px; font-weight: 600; }
    .tick { font-size: 12px; }
    .grid { stroke: #d1d9e0; stroke-width: 1; }
    .axis { stroke: #59636e; stroke-width: 1; }
    .legend { fill: #ffffff; stroke: #d1d9e0; }
    .line { fill: none; stroke-width: 2; stroke-linejoin: round; }
    .dashed { stroke-dasharray: 6 4; }
    .s0 { stroke: #0a6ab6; } .m0 { fill: #0a6ab6; }
    .s1 { stroke: #b94a00; } .m1 { fill: #b94a00; }
    .s2 { stroke: #00795a; } .m2 { fill: #00795a; }
    .s3 { stroke: #9a3c86; } .m3 { fill: #9a3c86; }
    @media (prefers-color-scheme: dark) {
      .back { fill: #0d1117; }
      text { fill: #e6edf3; }
      .grid { stroke: #30363d; }
      .axis { stroke: #9198a1; }
      .legend { fill: #0d1117; stroke: #30363d; }
      .s0 { stroke: #63b3f5; } .m0 { fill: #63b3f5; }
      .s1 { stroke: #f59e5b; } .m1 { fill: #f59e5b; }
      .s2 { stroke: #43cfa4; } .m2 { fill: #43cfa4; }
      .s3 { stroke: #e58fd2; } .m3 { fill: #e58fd2; }
    }
`;

function markup(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

/** Coordinates with one decimal. */
function at(value: number): string {
  return String(Math.round(value * 10) / 10);
}

const PREFIXES = ['', ' k', ' M', ' G', ' T', ' P'] as const;

/** `2.5 M`: a number with a metric prefix and at most three digits. */
export function short(value: number): string {
  const digits = Number(value.toPrecision(3));
  const step = Math.min(PREFIXES.length - 1, Math.max(0, Math.floor(Math.log10(digits) / 3 + 1e-9)));
  return `${Number((digits / 1000 ** step).toPrecision(3))}${PREFIXES[step]!}`;
}

/** Ends of the scale and its ticks: decades, or 1, 2 and 5 of each if there are few. */
function scaleOf(values: readonly number[]): { low: number; high: number; ticks: number[] } {
  const exponents = [Math.floor(Math.log10(Math.min(...values))), Math.ceil(Math.log10(Math.max(...values)))];
  const [from, to] = [exponents[0]!, Math.max(exponents[1]!, exponents[0]! + 1)];
  const steps = to - from > 3 ? [1] : [1, 2, 5];
  const all: number[] = [];
  for (let exponent = from; exponent <= to; exponent++) all.push(...steps.map((step) => step * 10 ** exponent));
  const above = all.findIndex((tick) => tick >= Math.max(...values) * (1 - 1e-9));
  const below = all.findLastIndex((tick) => tick <= Math.min(...values) * (1 + 1e-9));
  const ticks = all.slice(Math.max(0, below), above + 1);
  return { low: ticks[0]!, high: ticks[ticks.length - 1]!, ticks };
}

/** A mark by its number: circle, square, triangle, diamond. */
function mark(look: number, x: number, y: number): string {
  const place = (points: readonly (readonly [number, number])[]): string =>
    `<polygon class="m${look}" points="${points.map(([dx, dy]) => `${at(x + dx)},${at(y + dy)}`).join(' ')}"/>`;
  if (look === 0) return `<circle class="m0" cx="${at(x)}" cy="${at(y)}" r="4"/>`;
  if (look === 1) return `<rect class="m1" x="${at(x - 3.5)}" y="${at(y - 3.5)}" width="7" height="7"/>`;
  const corners =
    look === 2
      ? ([
          [0, -5],
          [4.5, 4],
          [-4.5, 4],
        ] as const)
      : ([
          [0, -5],
          [5, 0],
          [0, 5],
          [-5, 0],
        ] as const);
  return place(corners);
}

function line(from: readonly [number, number], to: readonly [number, number], kind: string): string {
  return `<line class="${kind}" x1="${at(from[0])}" y1="${at(from[1])}" x2="${at(to[0])}" y2="${at(to[1])}"/>`;
}

/**
 * Draws a chart.
 * @returns a whole SVG document
 * @throws RangeError if no series has a value
 */
export function drawChart(chart: Chart): string {
  const { title, description, categories, series } = chart;
  const values = series.flatMap((each) => each.values).filter((value) => value !== null);
  if (values.length === 0) throw new RangeError(`nothing to draw: ${title}`);
  const { low, high, ticks } = scaleOf(values);
  const [left, right, top, bottom] = [FRAME.left, WIDTH - FRAME.right, FRAME.top, HEIGHT - FRAME.bottom];
  const step = (right - left) / categories.length;
  const x = (index: number): number => left + (index + 0.5) * step;
  const y = (value: number): number => bottom - ((bottom - top) * Math.log(value / low)) / Math.log(high / low);
  const parts: string[] = [];
  for (const tick of ticks) {
    parts.push(line([left, y(tick)], [right, y(tick)], 'grid'));
    parts.push(`<text class="tick" x="${left - 8}" y="${at(y(tick) + 4)}" text-anchor="end">${short(tick)}</text>`);
  }
  categories.forEach((category, index) => {
    parts.push(line([x(index), bottom], [x(index), bottom + 5], 'axis'));
    const label = markup(category);
    parts.push(`<text class="tick" x="${at(x(index))}" y="${bottom + 20}" text-anchor="middle">${label}</text>`);
  });
  parts.push(line([left, bottom], [right, bottom], 'axis'), line([left, top], [left, bottom], 'axis'));
  const middle = at((top + bottom) / 2);
  parts.push(
    `<text x="${at((left + right) / 2)}" y="${HEIGHT - 14}" text-anchor="middle">${markup(chart.xLabel)}</text>`,
    `<text transform="translate(20 ${middle}) rotate(-90)" text-anchor="middle">${markup(chart.yLabel)}</text>`,
  );
  for (const each of series) parts.push(...drawSeries(each, x, y));
  const legendWidth = 60 + 6.6 * Math.max(...series.map(({ label }) => label.length));
  const legendLeft = chart.legend === 'left' ? left + 14 : right - legendWidth - 14;
  parts.push(...drawLegend(series, Math.round(legendLeft), top + 10, legendWidth));
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" role="img" aria-labelledby="title description">`,
    `  <title id="title">${markup(title)}</title>`,
    `  <desc id="description">${markup(description)}</desc>`,
    `  <style>${STYLE}  </style>`,
    `  <rect class="back" width="${WIDTH}" height="${HEIGHT}"/>`,
    `  <text class="title" x="${left}" y="30">${markup(title)}</text>`,
    ...parts.map((part) => `  ${part}`),
    '</svg>',
    '',
  ].join('\n');
}

function drawSeries(
  { look, dashed, values }: Series,
  x: (index: number) => number,
  y: (value: number) => number,
): string[] {
  const parts: string[] = [];
  let run: string[] = [];
  const end = (): void => {
    const kind = `line s${look}${dashed ? ' dashed' : ''}`;
    if (run.length > 1) parts.push(`<polyline class="${kind}" points="${run.join(' ')}"/>`);
    run = [];
  };
  const marks: string[] = [];
  values.forEach((value, index) => {
    if (value === null) {
      end();
      return;
    }
    run.push(`${at(x(index))},${at(y(value))}`);
    marks.push(mark(look, x(index), y(value)));
  });
  end();
  return [...parts, ...marks];
}

function drawLegend(series: readonly Series[], left: number, top: number, width: number): string[] {
  const height = series.length * LEGEND_ROW + 10;
  const parts = [`<rect class="legend" x="${left}" y="${top}" width="${at(width)}" height="${height}" rx="4"/>`];
  series.forEach(({ label, look, dashed }, index) => {
    const row = top + 14 + index * LEGEND_ROW;
    parts.push(
      line([left + 10, row], [left + 42, row], `line s${look}${dashed ? ' dashed' : ''}`),
      mark(look, left + 26, row),
      `<text class="tick" x="${left + 50}" y="${row + 4}">${markup(label)}</text>`,
    );
  });
  return parts;
}
