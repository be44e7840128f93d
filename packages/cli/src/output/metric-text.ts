import type { MetricName } from '@int/codec';
import type { BaseUnit } from '@int/network';
import { SwitchUnits } from '@int/network/internals';
import type { KnownNetwork } from '../network/known-network.js';
import { comparable, inUnits, measured } from '../network/measured-text.js';
import { UNKNOWN_NETWORK } from '../network/unknown-network.js';

/** Writes what switches measure, and their names, for views of figures. */
export interface MetricText {
  /** A value for a narrow column, with its unit unless {@link MetricText.unit} tells it; `-` for `null`. */
  cell(metric: MetricName, value: number | null, switchId: number | null): string;
  /** Columns that cells take at most. */
  width(metric: MetricName): number;
  /** A value in a sentence, with its unit if there is one. */
  value(metric: MetricName, value: number, switchId: number | null): string;
  /** The unit that the head of a table has to name; `''` if values have their own. */
  unit(metric: MetricName): string;
  /** A value that can be compared with those of other switches. */
  comparable(metric: MetricName, value: number, switchId: number | null): number;
  /** A part of what is possible, from 0 to 1, such as the utilisation of a link; `null` if the unit does not tell. */
  share(metric: MetricName, value: number, switchId: number | null): number | null;
  /** A switch by its name, or by its id. */
  switchName(id: number): string;
}

/** Units with long names. */
const LONG: readonly BaseUnit[] = ['cells', 'packets', 'bitsPerSecond'];

/** Figures with the units of a device profile, and the names of a topology. */
export function measuredText({ device, topology }: KnownNetwork): MetricText {
  return {
    cell: (metric, value, switchId) => measured(device, metric, value, switchId),
    width(metric) {
      const bases = new SwitchUnits(device, metric).units.map((unit) => unit?.base ?? null);
      if (bases.some((base) => base !== null && LONG.includes(base))) return 11;
      return bases.some((base) => base !== null) ? 8 : 7;
    },
    value: (metric, value, switchId) => inUnits(device, metric, value, switchId),
    unit: (metric) => (device.unit(metric) === null ? 'device units' : ''),
    comparable: (metric, value, switchId) => comparable(device, metric, value, switchId),
    share(metric, value, switchId) {
      const unit = switchId === null ? device.unit(metric) : device.unit(metric, switchId);
      return unit?.base === 'ratio' ? value * unit.factor : null;
    },
    switchName: (id) => topology.switchText(id),
  };
}

/** Numbers as the switches count them: nobody has said what one is. */
export const RAW_METRICS: MetricText = /* @__PURE__ */ Object.freeze(/* @__PURE__ */ measuredText(UNKNOWN_NETWORK));
