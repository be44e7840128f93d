/** Bars of parts one above the other, as SVG. */
import { COLOURS, Drawing } from './drawing.js';

export interface Bar {
  readonly name: string;
  /** From the bottom; names are the same in all bars where they mean the same. */
  readonly parts: readonly { readonly name: string; readonly value: number }[];
}

const [LEFT, TOP, BAR, GAP, HEIGHT, RIGHT, BOTTOM] = [70, 34, 90, 40, 320, 190, 40];

export function stackedChart(title: string, unit: string, bars: readonly Bar[]): string {
  const names = [...new Set(bars.flatMap(({ parts }) => parts.map(({ name }) => name)))];
  const sum = ({ parts }: Bar): number => parts.reduce((total, { value }) => total + Math.max(value, 0), 0);
  const most = Math.max(...bars.map(sum));
  const width = bars.length * (BAR + GAP) + GAP;
  const drawing = new Drawing();
  drawing.text(LEFT, 18, 'start', title);
  const y = drawing.verticalAxis({ left: LEFT, top: TOP, width, height: HEIGHT }, most, unit);
  for (const [index, bar] of bars.entries()) {
    const x = LEFT + GAP + index * (BAR + GAP);
    let below = 0;
    for (const { name, value } of bar.parts) {
      const paint = COLOURS[names.indexOf(name) % COLOURS.length]!;
      const height = y(0) - y(Math.max(value, 0));
      drawing.add(
        `<rect x="${x}" y="${(y(below) - height).toFixed(1)}" width="${BAR}" height="${height.toFixed(1)}" fill="${paint}"/>`,
      );
      below += Math.max(value, 0);
    }
    drawing.text(x + BAR / 2, TOP + HEIGHT + 18, 'middle', bar.name);
    drawing.text(x + BAR / 2, y(below) - 5, 'middle', below.toFixed(0));
  }
  for (const [row, name] of names.entries()) {
    const at = TOP + 8 + row * 18;
    const begin = LEFT + width + 20;
    drawing.add(`<rect x="${begin}" y="${at - 7}" width="14" height="14" fill="${COLOURS[row % COLOURS.length]!}"/>`);
    drawing.text(begin + 22, at + 4, 'start', name);
  }
  return drawing.picture(LEFT + width + RIGHT, TOP + HEIGHT + BOTTOM);
}
