import { parseDuration, quoted, ValueError } from '@int/network/internals';
import { described, type Given } from './given.js';

const LONG = /^\s*(\d{1,9}(?:\.\d{1,6})?)\s*(min|h|d)\s*$/;
const SECONDS: Readonly<Record<string, number>> = { min: 60, h: 3600, d: 86_400 };
/** 100 days. */
const LONGEST_MS = 8_640_000_000;

/** A duration in milliseconds, at most 100 days; `null` if it is wrong. @param least the shortest, in milliseconds */
export function readDurationMs(given: Given, what: string, example: string, least = 1): number | null {
  const { value } = given;
  if (typeof value !== 'string') {
    const advice = typeof value === 'number' ? `: add a unit, as ${value}s or ${value}ms` : '';
    return given.refuse(
      'WRONG_TYPE',
      `${what} is a duration with a unit, as ${example}, not ${described(value)}${advice}`,
    );
  }
  return given.attempt(() => {
    const [, number = '', unit = ''] = LONG.exec(value) ?? [];
    const ms = number === '' ? parseDuration(value) / 1e6 : Number(number) * SECONDS[unit]! * 1000;
    if (ms >= least && ms <= LONGEST_MS) return ms;
    throw new ValueError('BAD_VALUE', `${quoted(value)} is out of range: ${what} is ${least}ms to 100d`);
  });
}
