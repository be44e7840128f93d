/** Lines over whole numbers, as SVG. */

export interface Line {
  readonly name: string;
  /** Number of its colour; lines of one colour belong together. */
  readonly colour: number;
  readonly isDashed: boolean;
  /** One for each place on the x axis. */
  readonly values: readonly number[];
}

export interface Axis {
  readonly label: string;
  readonly places: readonly number[];
}

const COLOURS = ['#4269d0', '#efb118', '#ff725c', '#6cc5b0'] as const;
const [LEFT, TOP, WIDTH, HEIGHT, RIGHT, BOTTOM] = [70, 34, 480, 300, 210, 50];

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}

/** Distance of the grid's lines: 1, 2 or 5 times a power of ten, so that there are at most eight. */
function stepOf(most: number): number {
  const power = 10 ** Math.floor(Math.log10(most / 8));
  return [1, 2, 5, 10].map((times) => times * power).find((step) => most / step <= 8)!;
}

/** @param unit what a value of 1 on the y axis is called @param scale what values are divided by */
export function lineChart(title: string, axis: Axis, unit: string, scale: number, lines: readonly Line[]): string {
  const most = Math.max(...lines.flatMap(({ values }) => values)) / scale;
  const step = stepOf(most);
  const top = Math.ceil(most / step) * step;
  const x = (index: number): number => LEFT + (index / Math.max(axis.places.length - 1, 1)) * WIDTH;
  const y = (value: number): number => TOP + HEIGHT * (1 - value / top);
  const parts: string[] = [];
  const text = (at: number, row: number, anchor: string, content: string, more = ''): void => {
    const place = `x="${at.toFixed(1)}" y="${row.toFixed(1)}" text-anchor="${anchor}"`;
    parts.push(`<text ${place}${more}>${escaped(content)}</text>`);
  };
  text(LEFT, 18, 'start', title);
  for (let k = 0; k * step <= top + step / 2; k++) {
    const row = y(k * step).toFixed(1);
    parts.push(`<line x1="${LEFT}" x2="${LEFT + WIDTH}" y1="${row}" y2="${row}" stroke="#ddd"/>`);
    text(LEFT - 8, y(k * step) + 4, 'end', String(Number((k * step).toPrecision(3))));
  }
  for (const [index, place] of axis.places.entries()) text(x(index), TOP + HEIGHT + 18, 'middle', String(place));
  text(LEFT + WIDTH / 2, TOP + HEIGHT + 38, 'middle', axis.label);
  const middle = TOP + HEIGHT / 2;
  text(18, middle, 'middle', unit, ` transform="rotate(-90 18 ${middle})"`);
  for (const [row, { name, colour, isDashed, values }] of lines.entries()) {
    const paint = COLOURS[colour % COLOURS.length]!;
    const points = values.map((value, index) => `${x(index).toFixed(1)},${y(value / scale).toFixed(1)}`);
    const dashes = isDashed ? ' stroke-dasharray="5 4"' : '';
    parts.push(`<polyline points="${points.join(' ')}" fill="none" stroke="${paint}" stroke-width="2"${dashes}/>`);
    const at = TOP + 8 + row * 18;
    const begin = LEFT + WIDTH + 20;
    parts.push(
      `<line x1="${begin}" x2="${begin + 26}" y1="${at}" y2="${at}" stroke="${paint}" stroke-width="2"${dashes}/>`,
    );
    text(begin + 34, at + 4, 'start', name);
  }
  const size = `width="${LEFT + WIDTH + RIGHT}" height="${TOP + HEIGHT + BOTTOM}"`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" ${size} font-family="sans-serif" font-size="12" fill="#222">`,
    '<rect width="100%" height="100%" fill="#fff"/>',
    ...parts,
    '</svg>',
    '',
  ].join('\n');
}
