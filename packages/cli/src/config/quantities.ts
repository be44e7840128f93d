/** Sizes and times that the schema of int.yaml accepts. */

/** Bytes in each unit of size. */
export const BYTES: Readonly<Record<string, number>> = {
  B: 1,
  kB: 1e3,
  MB: 1e6,
  GB: 1e9,
  TB: 1e12,
  KiB: 2 ** 10,
  MiB: 2 ** 20,
  GiB: 2 ** 30,
  TiB: 2 ** 40,
};
const MILLISECONDS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  ms: 1,
  s: 1e3,
  min: 60e3,
  h: 3600e3,
  d: 86_400e3,
};

/** A number, or a number and its unit. */
export type Quantity = number | string;

function scaled(quantity: Quantity, units: Readonly<Record<string, number>>): number {
  if (typeof quantity === 'number') return quantity;
  const [, value = '', unit = ''] = /^([\d.]+)([A-Za-z]+)$/.exec(quantity) ?? [];
  return Number(value) * (units[unit] ?? Number.NaN);
}

/** Whole bytes. */
export const bytesOf = (quantity: Quantity): number => Math.floor(scaled(quantity, BYTES));

/** Whole milliseconds; a time above 0 is at least 1. */
export const millisecondsOf = (quantity: Quantity): number => Math.ceil(scaled(quantity, MILLISECONDS));

/** Whole nanoseconds. */
export const nanosecondsOf = (quantity: Quantity): bigint => BigInt(Math.ceil(scaled(quantity, MILLISECONDS) * 1e6));
