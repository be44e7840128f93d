/** Groups of bars on a logarithmic scale, as SVG. */
import { COLOURS, Drawing } from './drawing.js';

export interface Bar {
  readonly name: string;
  /** One value per series; null: not measured. */
  readonly values: readonly (number | null)[];
}

const [LEFT, RIGHT, TOP, BAR, GAP, BOTTOM] = [250, 90, 46, 16, 16, 44];
const PLOT = 480;

function shown(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString('en') : value.toPrecision(2);
}

/** @param series names of the bars of a group @param unit of the axis */
export function barChart(title: string, unit: string, series: readonly string[], bars: readonly Bar[]): string {
  const all = bars.flatMap(({ values }) => values.filter((value) => value !== null));
  const least = Math.floor(Math.log10(Math.min(...all)));
  const most = Math.ceil(Math.log10(Math.max(...all)));
  const x = (value: number): number => LEFT + ((Math.log10(value) - least) / Math.max(most - least, 1)) * PLOT;
  const group = BAR * series.length + GAP;
  const bottom = TOP + group * bars.length;
  const drawing = new Drawing();
  drawing.text(LEFT, 18, 'start', title);
  for (const [k, name] of series.entries()) {
    drawing.add(`<rect x="${LEFT + k * 110}" y="26" width="10" height="10" fill="${COLOURS[k % 2]!}"/>`);
    drawing.text(LEFT + k * 110 + 15, 35, 'start', name);
  }
  for (let power = least; power <= most; power++) {
    const at = x(10 ** power).toFixed(1);
    drawing.add(`<line x1="${at}" x2="${at}" y1="${TOP}" y2="${bottom}" stroke="#ddd"/>`);
    drawing.text(x(10 ** power), bottom + 16, 'middle', (10 ** power).toLocaleString('en'));
  }
  drawing.text(LEFT + PLOT / 2, bottom + 34, 'middle', unit);
  for (const [row, { name, values }] of bars.entries()) {
    const y = TOP + row * group + GAP / 2;
    drawing.text(LEFT - 8, y + (BAR * series.length) / 2 + 4, 'end', name);
    for (const [k, value] of values.entries()) {
      if (value === null) continue;
      const width = Math.max(x(value) - LEFT, 1).toFixed(1);
      drawing.add(
        `<rect x="${LEFT}" y="${y + k * BAR}" width="${width}" height="${BAR - 2}" fill="${COLOURS[k % 2]!}"/>`,
      );
      drawing.text(x(value) + 5, y + k * BAR + 11, 'start', shown(value));
    }
  }
  return drawing.picture(LEFT + PLOT + RIGHT, bottom + BOTTOM);
}
