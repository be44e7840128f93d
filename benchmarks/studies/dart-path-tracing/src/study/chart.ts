/** Charts of points and lines, as SVG text. */

export interface Series {
  readonly label: string;
  /** Which of the colours and marks, 0..4. */
  readonly look: number;
  /** Measured: marks. Theory: a line, which has no entry in the legend. */
  readonly kind: 'marks' | 'line';
  readonly points: readonly (readonly [number, number])[];
}

/** Part of the background, between two values of x. */
export interface Band {
  readonly from: number;
  readonly to: number;
  readonly label: string;
  readonly look: number;
}

export interface Axis {
  readonly label: string;
  readonly isLogarithmic: boolean;
  readonly ticks: readonly number[];
  readonly text: (value: number) => string;
}

export interface Chart {
  readonly title: string;
  /** What the chart shows, for those who cannot see it. */
  readonly description: string;
  /** From the first tick to the last. */
  readonly x: Axis;
  readonly y: Axis;
  readonly series: readonly Series[];
  readonly bands?: readonly Band[];
}

const WIDTH = 760;
const HEIGHT = 480;
const LEFT = 84;
const RIGHT = WIDTH - 170;
const TOP = 52;
const BOTTOM = HEIGHT - 60;

const COLOURS = ['#0a6ab6', '#b94a00', '#00795a', '#9a3c86', '#7a6a00'] as const;
const DARK_COLOURS = ['#63b3f5', '#f59e5b', '#43cfa4', '#e58fd2', '#d8c84a'] as const;

function style(): string {
  const looks = (colours: readonly string[]): string =>
    colours
      .map((colour, at) => `.l${at} { stroke: ${colour}; } .m${at} { fill: ${colour}; } .b${at} { fill: ${colour}; }`)
      .join('\n    ');
  return `
    svg { color-scheme: light dark; }
    .back { fill: #ffffff; }
    text { fill: #1f2328; font: 13px system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif; }
    .title { font-size: 15px; font-weight: 600; }
    .tick { font-size: 12px; }
    .grid { stroke: #d1d9e0; }
    .axis { stroke: #59636e; }
    .line { fill: none; stroke-width: 1.5; }
    .band { opacity: 0.1; }
    ${looks(COLOURS)}
    @media (prefers-color-scheme: dark) {
    .back { fill: #0d1117; }
    text { fill: #e6edf3; }
    .grid { stroke: #30363d; }
    .axis { stroke: #9198a1; }
    ${looks(DARK_COLOURS)}
    }
`;
}

function markup(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function scale(axis: Axis, low: number, high: number): (value: number) => number {
  const of = axis.isLogarithmic ? Math.log : (value: number): number => value;
  const [first, last] = [of(axis.ticks[0]!), of(axis.ticks.at(-1)!)];
  return (value) => low + ((high - low) * (of(value) - first)) / (last - first);
}

function at(value: number): string {
  return String(Math.round(value * 10) / 10);
}

function mark(look: number, x: number, y: number): string {
  const kind = `class="m${look}"`;
  if (look % 2 === 0) return `<circle ${kind} cx="${at(x)}" cy="${at(y)}" r="4"/>`;
  return `<rect ${kind} x="${at(x - 3.5)}" y="${at(y - 3.5)}" width="7" height="7"/>`;
}

/** Draws a chart: a whole SVG document. Points outside the axes, and those that a logarithm has not, are left out. */
export function drawChart({ title, description, x, y, series, bands = [] }: Chart): string {
  const [toX, toY] = [scale(x, LEFT, RIGHT), scale(y, BOTTOM, TOP)];
  const parts: string[] = [];
  for (const { from, to, label, look } of bands) {
    const [left, right] = [toX(from), toX(to)];
    parts.push(
      `<rect class="band b${look}" x="${at(left)}" y="${TOP}" width="${at(right - left)}" height="${BOTTOM - TOP}"/>`,
      `<text class="tick" x="${at((left + right) / 2)}" y="${BOTTOM - 8}" text-anchor="middle">${markup(label)}</text>`,
    );
  }
  for (const tick of y.ticks) {
    const row = at(toY(tick));
    parts.push(
      `<line class="grid" x1="${LEFT}" y1="${row}" x2="${RIGHT}" y2="${row}"/>`,
      `<text class="tick" x="${LEFT - 8}" y="${at(toY(tick) + 4)}" text-anchor="end">${markup(y.text(tick))}</text>`,
    );
  }
  for (const tick of x.ticks) {
    const column = at(toX(tick));
    parts.push(
      `<line class="axis" x1="${column}" y1="${BOTTOM}" x2="${column}" y2="${BOTTOM + 5}"/>`,
      `<text class="tick" x="${column}" y="${BOTTOM + 20}" text-anchor="middle">${markup(x.text(tick))}</text>`,
    );
  }
  parts.push(
    `<path class="axis line" d="M${LEFT} ${TOP}V${BOTTOM}H${RIGHT}"/>`,
    `<text x="${at((LEFT + RIGHT) / 2)}" y="${HEIGHT - 14}" text-anchor="middle">${markup(x.label)}</text>`,
    `<text transform="translate(20 ${at((TOP + BOTTOM) / 2)}) rotate(-90)" text-anchor="middle">${markup(y.label)}</text>`,
  );
  let row = TOP + 10;
  for (const { label, look, kind, points } of series) {
    const shown = points
      .map(([a, b]) => [toX(a), toY(b)] as const)
      .filter(([a, b]) => a >= LEFT - 1 && a <= RIGHT + 1 && b >= TOP - 1 && b <= BOTTOM + 1);
    if (kind === 'line') {
      parts.push(`<polyline class="line l${look}" points="${shown.map(([a, b]) => `${at(a)},${at(b)}`).join(' ')}"/>`);
      continue;
    }
    parts.push(...shown.map(([a, b]) => mark(look, a, b)), mark(look, RIGHT + 20, row));
    parts.push(`<text class="tick" x="${RIGHT + 32}" y="${row + 4}">${markup(label)}</text>`);
    row += 20;
  }
  parts.push(`<text class="tick" x="${RIGHT + 14}" y="${row + 8}">marks: simulated</text>`);
  parts.push(`<text class="tick" x="${RIGHT + 14}" y="${row + 24}">lines: theory</text>`);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" role="img" aria-labelledby="title description">`,
    `  <title id="title">${markup(title)}</title>`,
    `  <desc id="description">${markup(description)}</desc>`,
    `  <style>${style()}  </style>`,
    `  <rect class="back" width="${WIDTH}" height="${HEIGHT}"/>`,
    `  <text class="title" x="${LEFT}" y="30">${markup(title)}</text>`,
    ...parts.map((part) => `  ${part}`),
    '</svg>',
    '',
  ].join('\n');
}
