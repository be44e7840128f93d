import type { MetricName } from '@int/codec';
import type { DeviceProfile, Measured } from '@int/network';
import { MEASURED_METRICS } from '@int/network/internals';
import { plainColumns } from './measured-text.js';

/** The metrics whose numbers were shown as the switches count them, because their unit is not known. */
export class PlainMetrics {
  readonly #device: DeviceProfile;
  readonly #seen = new Set<MetricName>();

  constructor(device: DeviceProfile) {
    this.#device = device;
  }

  see(metric: MetricName | null): void {
    if (metric !== null && MEASURED_METRICS.includes(metric)) this.#seen.add(metric);
  }

  /** Which they are, and how to name their units; `null` if all units are known. */
  note(): string | null {
    return plainColumns(
      this.#device,
      [...this.#seen].map((metric) => [metric, metric as Measured]),
    );
  }
}
