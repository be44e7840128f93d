/** Names of metrics by what they are in, and values in base units. */
import type { GaugeColumns } from '@int/collector';
import type { BaseUnit, DeviceProfile, Measured, MetricUnit } from '@int/network';
import { SwitchUnits } from '@int/network/internals';

/** The ends of names. */
const SUFFIXES: Readonly<Record<BaseUnit, string>> = {
  seconds: '_seconds',
  bytes: '_bytes',
  cells: '_cells',
  packets: '_packets',
  ratio: '_ratio',
  bitsPerSecond: '_bits_per_second',
};

/** The unit of a value in a sentence. */
const WORDS: Readonly<Record<BaseUnit, string>> = {
  seconds: 'seconds',
  bytes: 'bytes',
  cells: 'cells',
  packets: 'packets',
  ratio: 'a part of 1',
  bitsPerSecond: 'bits a second',
};

/** What a metric is in, at some switches; `null`: units of the device, which nobody named. */
export type Base = BaseUnit | null;

/** All that a metric is in. */
export function basesOf(device: DeviceProfile, measured: Measured): Base[] {
  return [...new Set(new SwitchUnits(device, measured).units.map((unit) => unit?.base ?? null))];
}

/** @param plain the end of the name in device units */
export const suffixOf = (base: Base, plain = ''): string => (base === null ? plain : SUFFIXES[base]);

export const inWords = (base: Base): string => (base === null ? "the device's unit" : WORDS[base]);

/** The values that are in a base unit, converted. @param unitOf the unit of a row's value */
export function inBase(
  { nodeId, number, value }: GaugeColumns,
  base: Base,
  unitOf: (row: number) => MetricUnit | null,
): { readonly nodeId: Uint32Array; readonly number: Uint32Array; readonly value: Float64Array } {
  const units = Array.from(nodeId, (_, row) => unitOf(row));
  const rows = [...units.keys()].filter((row) => (units[row]?.base ?? null) === base);
  return {
    nodeId: Uint32Array.from(rows, (row) => nodeId[row]!),
    number: Uint32Array.from(rows, (row) => number[row]!),
    // Twelve digits: 0.0003, not what 3 times 0.0001 is in binary.
    value: Float64Array.from(rows, (row) => Number((value[row]! * (units[row]?.factor ?? 1)).toPrecision(12))),
  };
}
