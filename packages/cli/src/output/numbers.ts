/** A whole number with separators: `1,234,567`. */
export function grouped(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}

/** A number in at most six characters: `987`, `12,345`, `1.2M`, `3.4G`. For narrow columns. */
export function compact(value: number | null): string {
  if (value === null) return '-';
  if (value < 99_999.5) return grouped(value);
  if (value < 999_950) return `${(value / 1e3).toFixed(0)}k`;
  if (value < 999_950_000) return `${(value / 1e6).toFixed(1)}M`;
  return `${(value / 1e9).toFixed(1)}G`;
}

/** Bytes in binary units: `416 KiB`. */
export function bytes(value: number): string {
  if (value < 1024) return `${value} B`;
  if (value < 1024 * 1024) return `${Math.round(value / 1024)} KiB`;
  return `${Math.round(value / (1024 * 1024))} MiB`;
}

/** Bytes in binary units, with three digits or more: `1.20 MiB`, `27.9 GiB`. */
export function byteText(value: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
  let unit = 0;
  let scaled = value;
  for (; scaled >= 1024 && unit < units.length - 1; unit++) scaled /= 1024;
  if (unit === 0) return `${value} B`;
  return `${scaled >= 100 ? grouped(scaled) : scaled.toPrecision(3)} ${units[unit]}`;
}

/** `1 report`, `2 reports`. */
export function counted(value: number, noun: string, plural = `${noun}s`): string {
  return `${grouped(value)} ${value === 1 ? noun : plural}`;
}

/** A fraction as a percentage: `7.91 %`. */
export function percent(fraction: number): string {
  const value = fraction * 100;
  return value > 0 && value < 0.005 ? '<0.01 %' : `${value.toFixed(2)} %`;
}

/** A factor of growth: `12.6`, `1,234`. */
export function factor(value: number): string {
  return value < 99.95 ? value.toFixed(1) : grouped(value);
}
