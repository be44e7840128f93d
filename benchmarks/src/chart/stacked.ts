/** Bars of parts one above the other, as SVG. */

export interface Bar {
  readonly name: string;
  /** From the bottom; names are the same in all bars where they mean the same. */
  readonly parts: readonly { readonly name: string; readonly value: number }[];
}

const COLOURS = ['#4269d0', '#efb118', '#ff725c', '#6cc5b0', '#3ca951', '#ff8ab7', '#a463f2', '#97bbf5'] as const;
const [LEFT, TOP, BAR, GAP, HEIGHT, RIGHT, BOTTOM] = [70, 34, 90, 40, 320, 190, 40];

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}

/** Distance of the grid's lines: 1, 2 or 5 times a power of ten, so that there are at most eight. */
function stepOf(most: number): number {
  const power = 10 ** Math.floor(Math.log10(most / 8));
  return [1, 2, 5, 10].map((times) => times * power).find((step) => most / step <= 8)!;
}

export function stackedChart(title: string, unit: string, bars: readonly Bar[]): string {
  const names = [...new Set(bars.flatMap(({ parts }) => parts.map(({ name }) => name)))];
  const sum = ({ parts }: Bar): number => parts.reduce((total, { value }) => total + Math.max(value, 0), 0);
  const most = Math.max(...bars.map(sum));
  const step = stepOf(most);
  const top = Math.ceil(most / step) * step;
  const width = bars.length * (BAR + GAP) + GAP;
  const y = (value: number): number => TOP + HEIGHT * (1 - value / top);
  const out: string[] = [];
  const text = (at: number, row: number, anchor: string, content: string, more = ''): void => {
    const place = `x="${at.toFixed(1)}" y="${row.toFixed(1)}" text-anchor="${anchor}"`;
    out.push(`<text ${place}${more}>${escaped(content)}</text>`);
  };
  text(LEFT, 18, 'start', title);
  for (let k = 0; k * step <= top + step / 2; k++) {
    const row = y(k * step).toFixed(1);
    out.push(`<line x1="${LEFT}" x2="${LEFT + width}" y1="${row}" y2="${row}" stroke="#ddd"/>`);
    text(LEFT - 8, y(k * step) + 4, 'end', String(Number((k * step).toPrecision(3))));
  }
  const middle = TOP + HEIGHT / 2;
  text(18, middle, 'middle', unit, ` transform="rotate(-90 18 ${middle})"`);
  for (const [index, bar] of bars.entries()) {
    const x = LEFT + GAP + index * (BAR + GAP);
    let below = 0;
    for (const { name, value } of bar.parts) {
      const paint = COLOURS[names.indexOf(name) % COLOURS.length]!;
      const height = (Math.max(value, 0) / top) * HEIGHT;
      out.push(
        `<rect x="${x}" y="${(y(below) - height).toFixed(1)}" width="${BAR}" height="${height.toFixed(1)}" fill="${paint}"/>`,
      );
      below += Math.max(value, 0);
    }
    text(x + BAR / 2, TOP + HEIGHT + 18, 'middle', bar.name);
    text(x + BAR / 2, y(below) - 5, 'middle', below.toFixed(0));
  }
  for (const [row, name] of names.entries()) {
    const at = TOP + 8 + row * 18;
    const begin = LEFT + width + 20;
    out.push(`<rect x="${begin}" y="${at - 7}" width="14" height="14" fill="${COLOURS[row % COLOURS.length]!}"/>`);
    text(begin + 22, at + 4, 'start', name);
  }
  const size = `width="${LEFT + width + RIGHT}" height="${TOP + HEIGHT + BOTTOM}"`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" ${size} font-family="sans-serif" font-size="12" fill="#222">`,
    '<rect width="100%" height="100%" fill="#fff"/>',
    ...out,
    '</svg>',
    '',
  ].join('\n');
}
