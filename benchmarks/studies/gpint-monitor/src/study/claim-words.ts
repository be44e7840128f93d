/** What statements of the paper are about, and how numbers are put into words. */
import type { Lookup, Where } from './lookup.js';
import { METHODS, type MethodId } from './matrix.js';
import type { Measure } from './measures.js';

export const PARTITIONS = ['gpint-2', 'gpint-3', 'gpint-5'] as const satisfies readonly MethodId[];
export const EVERY = [...PARTITIONS, 'euler', 'snmp'] as const satisfies readonly MethodId[];

/** A load, with recovery or without; `loss` where links lose packets. */
export type At = Omit<Where, 'method' | 'switches'>;

export const LOW_OFF: At = { load: 'low', recover: false };
export const HIGH_OFF: At = { load: 'high', recover: false };
export const LOW_ON: At = { load: 'low', recover: true };
export const HIGH_ON: At = { load: 'high', recover: true };

/** Means of some methods at all sizes. */
export function all(look: Lookup, methods: readonly MethodId[], at: At, measure: Measure): number[] {
  const sizes = at.loss === undefined ? look.sizes : look.degradedSizes;
  const values = sizes.flatMap((switches) => methods.map((method) => look.mean({ ...at, method, switches }, measure)));
  // Throws where nothing was measured.
  if (values.length === 0) look.mean({ ...at, method: methods[0]!, switches: 0 }, measure);
  return values;
}

/** Values of methods, in words: `GPINT-2 0.31, GPINT-3 0.29`. */
export function list(values: readonly (readonly [MethodId, number])[], unit: string): string {
  return values.map(([method, value]) => `${METHODS[method].label} ${short(value)}${unit}`).join(', ');
}

export function short(value: number): string {
  if (Math.abs(value) < 5e-4) return '0';
  return Math.abs(value) >= 100
    ? value.toFixed(0)
    : value
        .toPrecision(3)
        .replace(/(\.\d*?)0+$/, '$1')
        .replace(/\.$/, '');
}

/** Mean of some numbers. */
export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** The least and the greatest, in words. */
export function range(values: readonly number[], unit: string): string {
  return `${short(Math.min(...values))} to ${short(Math.max(...values))}${unit}`;
}

/** Means of some methods at one size. */
export function at(
  look: Lookup,
  methods: readonly MethodId[],
  where: At,
  switches: number,
  measure: Measure,
): (readonly [MethodId, number])[] {
  return methods.map((method) => [method, look.mean({ ...where, method, switches }, measure)] as const);
}

export const valuesOf = (pairs: readonly (readonly [MethodId, number])[]): number[] => pairs.map(([, value]) => value);
export const PERCENT = ' %';
export const SECONDS = ' s';

/** "By a factor", at every size. */
const LEAST_FACTOR = 1.5;

/** Whether Euler takes longer than each of the others by a factor, at every size. */
export function eulerFactor(
  look: Lookup,
  where: At,
  others: readonly MethodId[],
): { holds: boolean; measured: string } {
  const factors = look.sizes.map((switches) => {
    const euler = look.mean({ ...where, method: 'euler', switches }, 'elapsed');
    return euler / Math.max(...valuesOf(at(look, others, where, switches, 'elapsed')));
  });
  const pairs = at(look, ['euler', ...others], where, look.largest, 'elapsed');
  return {
    holds: factors.every((factor) => factor >= LEAST_FACTOR),
    measured: `${range(factors, '')} times the slowest of the others; ${look.largest} switches: ${list(pairs, SECONDS)}`,
  };
}
