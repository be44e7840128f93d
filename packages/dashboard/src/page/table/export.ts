import type { Column, Row } from './columns.js';

/** A field of CSV (RFC 4180). A text that a spreadsheet would take for a formula gets a quote before it. */
function field(value: string | number | boolean | null): string {
  if (value === null) return '';
  if (typeof value !== 'string') return String(value);
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** A header with the names of the columns, and a line per row; values as they came. */
export function csvOf(columns: readonly Column[], rows: readonly Row[]): string {
  const lines = [columns.map(({ name }) => name), ...rows.map((row) => columns.map(({ value }) => field(value(row))))];
  return `${lines.map((line) => line.join(',')).join('\r\n')}\r\n`;
}

export function jsonOf(columns: readonly Column[], rows: readonly Row[]): string {
  const objects = rows.map((row) => Object.fromEntries(columns.map(({ name, value }) => [name, value(row)])));
  return `${JSON.stringify(objects, null, 1)}\n`;
}

/** Gives text to the browser as a file. */
export function download(name: string, type: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
