/** Lines over whole numbers, as SVG. */
import { COLOURS, Drawing, type Plot } from './drawing.js';

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

const PLOT: Plot = { left: 70, top: 34, width: 480, height: 300 };
const [RIGHT, BOTTOM] = [210, 50];

/** @param unit what a value of 1 on the y axis is called @param scale what values are divided by */
export function lineChart(title: string, axis: Axis, unit: string, scale: number, lines: readonly Line[]): string {
  const most = Math.max(...lines.flatMap(({ values }) => values)) / scale;
  const { left, top, width, height } = PLOT;
  const drawing = new Drawing();
  const x = (index: number): number => left + (index / Math.max(axis.places.length - 1, 1)) * width;
  drawing.text(left, 18, 'start', title);
  const y = drawing.verticalAxis(PLOT, most, unit);
  for (const [index, place] of axis.places.entries())
    drawing.text(x(index), top + height + 18, 'middle', String(place));
  drawing.text(left + width / 2, top + height + 38, 'middle', axis.label);
  for (const [row, { name, colour, isDashed, values }] of lines.entries()) {
    const paint = COLOURS[colour % COLOURS.length]!;
    const points = values.map((value, index) => `${x(index).toFixed(1)},${y(value / scale).toFixed(1)}`);
    const dashes = isDashed ? ' stroke-dasharray="5 4"' : '';
    drawing.add(`<polyline points="${points.join(' ')}" fill="none" stroke="${paint}" stroke-width="2"${dashes}/>`);
    const at = top + 8 + row * 18;
    const begin = left + width + 20;
    drawing.add(
      `<line x1="${begin}" x2="${begin + 26}" y1="${at}" y2="${at}" stroke="${paint}" stroke-width="2"${dashes}/>`,
    );
    drawing.text(begin + 34, at + 4, 'start', name);
  }
  return drawing.picture(left + width + RIGHT, top + height + BOTTOM);
}
