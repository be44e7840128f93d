import type { ThresholdVector } from './threshold-vector.js';
import { type Visited, VisitedPositions } from './visited.js';

/** A metric is too coarse if the rates on both sides of the target are further off than this. */
export const COARSE = 0.1;
/** So many independent events make the rate of a position known, and certain. */
const KNOWN = 40;
const CERTAIN = 300;
/** So many make it certain where both neighbours are about as far from the target. */
const DECISIVE = 1500;

/**
 * Where the rate changes with the position, as far as that is known: at whole thresholds, and, for a metric with few
 * values, only at these values.
 */
export class Steps {
  readonly visited = new VisitedPositions();
  /** Variance over mean of counts. */
  burst = 1;
  readonly #vector: ThresholdVector;
  readonly #target: number;

  constructor(vector: ThresholdVector, target: number) {
    this.#vector = vector;
    this.#target = target;
  }

  /** The lowest position with the same rate, as far as is known. */
  floorOf(position: number): number {
    const known = this.visited.at(position);
    return known?.stepped ? known.position : this.#vector.lower(position);
  }

  /** The lowest position above with another rate, as far as is known. */
  ceilingOf(position: number): number {
    const known = this.visited.at(position);
    return known?.stepped ? Math.max(known.lowest, this.#vector.upper(position)) : this.#vector.upper(position);
  }

  /** Independent events that the rate of a record rests on. Where there are few, those of the target count instead. */
  #evidence(record: Visited): number {
    return Math.max(record.events, record.seconds * this.#target) / this.burst;
  }

  /** Whether the events of a tick do not fit the counts at the same position: the load is another one. */
  contradicts(record: Visited | null, events: number, seconds: number): boolean {
    if (record === null) return false;
    const expected = record.rate * seconds;
    const doubt = expected ** 2 / Math.max(record.events, 1);
    return (events - expected) ** 2 > 25 * Math.max(this.burst * (expected + doubt), 2);
  }

  /** Standard deviation of a record's rate. */
  doubt(record: Visited): number {
    return Math.sqrt(this.burst * Math.max(record.events, 1)) / record.seconds;
  }

  /** The record of the next position, above or below, with another rate. */
  #neighbourOf(record: Visited, above: boolean): Visited | null {
    const { places } = this.visited;
    let found: Visited | null = null;
    for (let i = 0; i < places.length; i++) {
      const each = places[i]!;
      if (each.seconds === 0) continue;
      if (above ? each.position !== this.#reach(record) : this.#reach(each) !== record.position) continue;
      if (found === null || this.#evidence(each) > this.#evidence(found)) found = each;
    }
    return found;
  }

  /** The lowest position above a record's with another rate. */
  #reach(record: Visited): number {
    const upper = this.#vector.upper(record.position);
    return record.stepped ? Math.max(record.lowest, upper) : upper;
  }

  /** Whether the rate of a record is known. */
  isKnown(record: Visited): boolean {
    return this.#evidence(record) > KNOWN;
  }

  /**
   * The neighbour of a record on the other side of the target; `null` unless two things are certain: neither of the two
   * gives the target, and which of them is nearer.
   */
  pairOf(record: Visited): Visited | null {
    const target = this.#target;
    if (this.#evidence(record) < CERTAIN) return null;
    const above = record.rate > target;
    const neighbour = this.#neighbourOf(record, above);
    if (neighbour === null || this.#evidence(neighbour) < CERTAIN) return null;
    const low = above ? record : neighbour;
    const high = above ? neighbour : record;
    if (low.rate - 1.5 * this.doubt(low) < (1 + COARSE) * target) return null;
    if (high.rate + 1.5 * this.doubt(high) > (1 - COARSE) * target) return null;
    const lead = Math.abs(low.rate - target - (target - high.rate));
    const isSure = lead > 2 * (this.doubt(low) + this.doubt(high));
    return isSure || Math.min(this.#evidence(low), this.#evidence(high)) >= DECISIVE ? neighbour : null;
  }
}
