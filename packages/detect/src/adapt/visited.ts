/** Seconds after which a count counts for 1/e. */
const MEMORY = 4;
const PLACES = 6;

/** Counts at one position of the thresholds, and at others that make no difference. */
export class Visited {
  /** Lowest such position seen; -1: none. */
  position = -1;
  events = 0;
  seconds = 0;
  /** Lowest statistic seen: all positions from `position` up to it, exclusive, are the same. */
  lowest = Number.POSITIVE_INFINITY;
  /** How many of the events had it. */
  lowestCount = 0;
  usedAt = 0;

  /** Events a second. */
  get rate(): number {
    return this.events / this.seconds;
  }

  /** Whether the lowest statistic is a value that many events have, and not just the smallest of a sample. */
  get stepped(): boolean {
    return this.lowestCount >= 3 && this.lowestCount > 0.1 * this.events;
  }

  /** Whether the record stands for this position. */
  covers(position: number): boolean {
    if (this.seconds === 0) return false;
    return position === this.position || (position > this.position && position < this.lowest && this.stepped);
  }
}

/**
 * Counts at the last few positions of the thresholds. Where a metric takes few values, these are all the positions
 * there are, and their rates are known, not extrapolated.
 */
export class VisitedPositions {
  /** Records; one whose `seconds` are 0 is not in use. */
  readonly places: readonly Visited[];
  #clock = 0;

  constructor() {
    this.places = Array.from({ length: PLACES }, () => new Visited());
  }

  /**
   * Adds a tick to the record of its position, or to a new one in place of the one unused for longest. Returns the
   * record. `lowest`: the lowest statistic of the tick, infinite if there was none; `lowestCount`: how many events had
   * it.
   */
  add(position: number, events: number, seconds: number, lowest: number, lowestCount: number): Visited {
    let place = this.at(position);
    if (place === null) {
      place = this.#twin(lowest, lowestCount) ?? this.#oldest();
      if (place.seconds > 0) place.position = Math.min(place.position, position);
      else place.position = position;
    }
    const kept = Math.exp(-seconds / MEMORY);
    place.events = place.events * kept + events;
    place.seconds = place.seconds * kept + seconds;
    place.lowestCount *= kept;
    if (lowest < place.lowest) {
      place.lowest = lowest;
      place.lowestCount = 0;
    }
    if (lowest === place.lowest) place.lowestCount += lowestCount;
    place.usedAt = ++this.#clock;
    return place;
  }

  /** The record that stands for a position, or `null`. */
  at(position: number): Visited | null {
    let found: Visited | null = null;
    for (let i = 0; i < PLACES; i++) {
      const each = this.places[i]!;
      if (each.covers(position) && (found === null || each.position > found.position)) found = each;
    }
    return found;
  }

  clear(): void {
    for (let i = 0; i < PLACES; i++) this.#empty(this.places[i]!);
  }

  /** The record of another position with the same lowest statistic: no value lies between the two positions. */
  #twin(lowest: number, count: number): Visited | null {
    if (count < 2) return null;
    for (let i = 0; i < PLACES; i++) {
      const each = this.places[i]!;
      if (each.seconds > 0 && each.lowest === lowest && each.stepped) return each;
    }
    return null;
  }

  #oldest(): Visited {
    let oldest = this.places[0]!;
    for (let i = 1; i < PLACES; i++) if (this.places[i]!.usedAt < oldest.usedAt) oldest = this.places[i]!;
    this.#empty(oldest);
    return oldest;
  }

  #empty(place: Visited): void {
    place.position = -1;
    place.events = place.seconds = place.lowestCount = place.usedAt = 0;
    place.lowest = Number.POSITIVE_INFINITY;
  }
}
