/** What the charts have in common: a picture as SVG, with texts and a vertical axis. */

/** Colours of series, in order. */
export const COLOURS = [
  '#4269d0',
  '#efb118',
  '#ff725c',
  '#6cc5b0',
  '#3ca951',
  '#ff8ab7',
  '#a463f2',
  '#97bbf5',
] as const;

/** The part of a picture in which values are drawn, in pixels. */
export interface Plot {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

export class Drawing {
  readonly #parts: string[] = [];

  add(element: string): void {
    this.#parts.push(element);
  }

  /** @param anchor `start`, `middle` or `end` @param more further attributes */
  text(x: number, y: number, anchor: string, content: string, more = ''): void {
    const escaped = content.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
    this.add(`<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" text-anchor="${anchor}"${more}>${escaped}</text>`);
  }

  /**
   * Draws a vertical axis from 0 with its lines across the plot.
   * @param most the largest value
   * @param unit what a value of 1 is called
   * @returns the place of a value
   */
  verticalAxis({ left, top, width, height }: Plot, most: number, unit: string): (value: number) => number {
    const step = stepOf(most);
    const end = Math.ceil(most / step) * step;
    const y = (value: number): number => top + height * (1 - value / end);
    for (let k = 0; k * step <= end + step / 2; k++) {
      const row = y(k * step);
      this.add(`<line x1="${left}" x2="${left + width}" y1="${row.toFixed(1)}" y2="${row.toFixed(1)}" stroke="#ddd"/>`);
      this.text(left - 8, row + 4, 'end', String(Number((k * step).toPrecision(3))));
    }
    const middle = top + height / 2;
    this.text(18, middle, 'middle', unit, ` transform="rotate(-90 18 ${middle})"`);
    return y;
  }

  /** The whole, as SVG. */
  picture(width: number, height: number): string {
    const size = `width="${width}" height="${height}"`;
    return [
      `<svg xmlns="http://www.w3.org/2000/svg" ${size} font-family="sans-serif" font-size="12" fill="#222">`,
      '<rect width="100%" height="100%" fill="#fff"/>',
      ...this.#parts,
      '</svg>',
      '',
    ].join('\n');
  }
}

/** Distance of the grid's lines: 1, 2 or 5 times a power of ten, so that there are at most eight. */
function stepOf(most: number): number {
  const power = 10 ** Math.floor(Math.log10(most / 8));
  return [1, 2, 5, 10].map((times) => times * power).find((step) => most / step <= 8)!;
}
