import type { BaseUnit, DeviceProfile, Measured, MetricUnit } from '@int/network';
import { SwitchUnits } from '@int/network/internals';
import { BucketCounts } from './bucket-counts.js';

const MAX_BOUNDS = 64;

/** A histogram of each switch whose numbers are in one unit, as columns. */
export interface BucketColumns {
  /** What bounds and sums are in; `null`: units of the device, which nobody named. */
  readonly base: BaseUnit | null;
  /** A cell for each switch. `counts` and `sums` have a row more, that of everything without a row of its own. */
  readonly nodeId: Uint32Array;
  /** Upper bounds of the buckets but the last, in base units; a value equal to a bound is below it. */
  readonly bounds: Float64Array;
  /** `bounds.length + 1` counts for each row, not cumulative. */
  readonly counts: Float64Array;
  /** Of all values, in base units, a cell for each row. */
  readonly sums: Float64Array;
}

/** Bounds by what they are in; `deviceUnits`: where nobody said. */
export type BoundsByBase = Readonly<Partial<Record<BaseUnit, readonly number[]>>> & {
  readonly deviceUnits: readonly number[];
};

/** Twelve digits: 2.5e-6, not what 2500 times 1e-9 is in binary. */
const decimal = (value: number): number => Number(value.toPrecision(12));

interface Group {
  readonly base: BaseUnit | null;
  readonly bounds: readonly number[];
  /** Places of its units. */
  readonly places: readonly number[];
}

/**
 * Histograms of a number that switches count in units of their own. Bounds are in seconds or bytes and the same for all such
 * switches, so that their histograms can be added; each value is compared with the bounds in the device's units.
 */
export class UnitHistograms {
  readonly #units: SwitchUnits;
  /** By place of the unit. */
  readonly #counts: readonly BucketCounts[];
  readonly #groups: readonly Group[];

  /**
   * @param name of the option with the bounds, for messages
   * @param given bounds in device units of most switches; undefined: those of `usual`
   * @throws RangeError if they do not ascend
   */
  constructor(
    name: string,
    measured: Measured,
    device: DeviceProfile,
    given: readonly number[] | undefined,
    usual: BoundsByBase,
    rows: number,
  ) {
    if (given !== undefined) check(name, given);
    this.#units = new SwitchUnits(device, measured);
    const { units } = this.#units;
    const most = units[0]!;
    const boundsIn = (base: BaseUnit | null): readonly number[] => {
      if (given !== undefined && base === (most?.base ?? null)) {
        return given.map((bound) => (most === null ? bound : decimal(bound * most.factor)));
      }
      return (base === null ? undefined : usual[base]) ?? usual.deviceUnits;
    };
    const bases = [...new Set(units.map((unit) => unit?.base ?? null))];
    this.#groups = bases.map((base) => ({
      base,
      bounds: boundsIn(base),
      places: units.flatMap((unit, place) => ((unit?.base ?? null) === base ? [place] : [])),
    }));
    this.#counts = units.map((unit) => new BucketCounts(limits(boundsIn(unit?.base ?? null), unit), rows));
  }

  add(row: number, nodeId: number, value: number): void {
    this.#counts[this.#units.placeOf(nodeId)]!.add(row, value);
  }

  /** Adds the counts of a row to another row, and clears it. */
  move(row: number, to: number): void {
    for (const counts of this.#counts) counts.move(row, to);
  }

  /** Histograms by what they are in: of the rows, which `nodeId` names, and of the row `other` behind them. */
  columns(nodeId: Uint32Array, other: number): BucketColumns[] {
    const groupOf = (node: number): Group | undefined => {
      const place = this.#units.placeOf(node);
      return this.#groups.find(({ places }) => places.includes(place));
    };
    const groups = this.#groups.length === 1 ? null : Array.from(nodeId, groupOf);
    return this.#groups.map((group) => {
      const rows = Array.from(nodeId.keys()).filter((row) => groups === null || groups[row] === group);
      const width = group.bounds.length + 1;
      const counts = new Float64Array((rows.length + 1) * width);
      const sums = new Float64Array(rows.length + 1);
      for (const place of group.places) {
        const factor = this.#units.units[place]?.factor ?? 1;
        [...rows, other].forEach((row, index) => {
          this.#counts[place]!.addTo(row, counts, index * width);
          sums[index]! += this.#counts[place]!.sumOf(row) * factor;
        });
      }
      const nodes = Uint32Array.from(rows, (row) => nodeId[row]!);
      return { base: group.base, nodeId: nodes, bounds: Float64Array.from(group.bounds), counts, sums };
    });
  }
}

/** The largest whole number of device units that is not above each bound. */
function limits(bounds: readonly number[], unit: MetricUnit | null): Float64Array {
  return Float64Array.from(bounds, (bound) => (unit === null ? bound : Math.floor(decimal(bound / unit.factor))));
}

function check(name: string, bounds: readonly number[]): void {
  const isAscending = bounds.every((bound, index) => index === 0 || bound > bounds[index - 1]!);
  if (bounds.length < 1 || bounds.length > MAX_BOUNDS || !isAscending) {
    throw new RangeError(`${name} must be 1 to ${MAX_BOUNDS} numbers in ascending order`);
  }
}
