import { crc32 } from 'node:zlib';

/** A value as a line of JSON without its end; its last member is the CRC-32 of the text before it. @param value an object */
export function sealed(value: object): string {
  const text = JSON.stringify(value, tagged).slice(0, -1);
  return `${text},"crc":"${checksum(text)}"}`;
}

/** @returns what was sealed, without the checksum; `null` if the text is damaged */
export function unsealed(text: string): unknown {
  const end = /^(.*),"crc":"([0-9a-f]{8})"\}$/.exec(text);
  if (end === null || checksum(end[1]!) !== end[2]) return null;
  try {
    return JSON.parse(`${end[1]}}`, untagged);
  } catch {
    return null;
  }
}

const checksum = (text: string): string => crc32(text).toString(16).padStart(8, '0');

/** Numbers and bytes that JSON does not have. */
export function tagged(this: unknown, key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return { $integer: `${value}` };
  if (typeof value === 'number' && !Number.isFinite(value)) return { $number: `${value}` };
  // What JSON makes of a Buffer comes first.
  const given = (this as Readonly<Record<string, unknown>>)[key];
  return given instanceof Uint8Array ? { $bytes: Buffer.from(given).toString('hex') } : value;
}

function untagged(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if ('$integer' in value && typeof value.$integer === 'string') return BigInt(value.$integer);
  if ('$number' in value && typeof value.$number === 'string') return Number(value.$number);
  return '$bytes' in value && typeof value.$bytes === 'string'
    ? Uint8Array.from(Buffer.from(value.$bytes, 'hex'))
    : value;
}
