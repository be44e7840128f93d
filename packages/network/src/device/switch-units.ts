import type { DeviceProfile, Measured } from './profile.js';
import type { MetricUnit } from './unit.js';

const MOST_ID = 0xffffffff;

/** Which unit a number of a switch is in, found without allocation: for what sees each report. */
export class SwitchUnits {
  /** The different units, at least one; `null`: nobody said. The first is that of most switches. */
  readonly units: readonly (MetricUnit | null)[];
  /** First ids of ranges in one unit, ascending, and the place of their unit in `units`. */
  readonly #starts: Float64Array;
  readonly #places: Uint32Array;

  constructor(device: DeviceProfile, measured: Measured) {
    const units = [device.unit(measured)];
    const ends = device.ownScales(measured).flatMap(({ range: { from, to } }) => [from, to + 1]);
    const starts = [...new Set([0, ...ends])].filter((id) => id <= MOST_ID).sort((a, b) => a - b);
    this.#places = Uint32Array.from(starts, (id) => {
      const unit = device.unit(measured, id);
      const known = units.findIndex((each) => each?.base === unit?.base && each?.factor === unit?.factor);
      return known >= 0 ? known : units.push(unit) - 1;
    });
    this.units = units;
    this.#starts = Float64Array.from(starts);
  }

  /** The place in `units` of the unit at a switch. */
  placeOf(switchId: number): number {
    if (this.units.length === 1) return 0;
    const starts = this.#starts;
    let low = 0;
    let high = starts.length;
    while (high - low > 1) {
      const middle = (low + high) >>> 1;
      if (starts[middle]! <= switchId) low = middle;
      else high = middle;
    }
    return this.#places[low]!;
  }
}
