import type { MetricName } from '@int/codec';
import type { Topology } from '@int/network';
import { compact } from './numbers.js';

/** Writes what switches measure, and their names, for views of figures. */
export interface MetricText {
  /** A value for a narrow column, with its unit unless {@link MetricText.unit} tells it; `-` for `null`. */
  cell(metric: MetricName, value: number | null, switchId: number | null): string;
  /** A value in a sentence, with its unit if there is one. */
  value(metric: MetricName, value: number, switchId: number | null): string;
  /** The unit that the head of a table has to name; `''` if each value has its own. */
  unit(metric: MetricName): string;
  /** A part of what is possible, from 0 to 1, such as the utilisation of a link; `null` if the unit does not tell. */
  share(metric: MetricName, value: number, switchId: number | null): number | null;
  /** A switch by its name, or by its id. */
  switchName(id: number): string;
}

/** Numbers as the switches count them: nobody has said what one is. */
export const RAW_METRICS: MetricText = /* @__PURE__ */ Object.freeze({
  cell: (_metric: MetricName, value: number | null) => compact(value),
  value: (_metric: MetricName, value: number) => value.toLocaleString('en-US'),
  unit: () => 'device units',
  share: () => null,
  switchName: (id: number) => String(id),
});

/** Figures as the switches count them, with the names of a topology. */
export function namedMetrics(topology: Topology): MetricText {
  return { ...RAW_METRICS, switchName: (id) => topology.switchText(id) };
}
