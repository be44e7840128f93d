const BARS = '▁▂▃▄▅▆▇█';

/** A line of bars for the last `width` values, scaled to the largest. Missing values are blanks. */
export function sparkline(values: readonly (number | null)[], width: number): string {
  const shown = values.slice(-width);
  const largest = shown.reduce<number>((most, value) => Math.max(most, value ?? 0), 0);
  const bars = shown.map((value) => {
    if (value === null) return ' ';
    const level = largest === 0 ? 0 : Math.min(BARS.length - 1, Math.floor((value / largest) * BARS.length));
    return BARS[level]!;
  });
  return bars.join('').padStart(width);
}
