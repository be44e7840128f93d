/** A queue of timed events: earliest first, in order of insertion at equal times. */
export class EventQueue {
  #times = new Float64Array(64);
  #orders = new Float64Array(64);
  #values = new Int32Array(64);
  #pushed = 0;
  /** Number of waiting events. */
  size = 0;

  /** Time of the earliest event, or Infinity. */
  get nextTime(): number {
    return this.size === 0 ? Number.POSITIVE_INFINITY : this.#times[0]!;
  }

  /** Adds an event: a 31-bit value and its time. */
  push(time: number, value: number): void {
    if (this.size === this.#times.length) this.#grow();
    const order = this.#pushed++;
    let at = this.size++;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      // A new event follows all others of its time, so at equal times it stays below.
      if (this.#times[parent]! <= time) break;
      this.#move(parent, at);
      at = parent;
    }
    this.#times[at] = time;
    this.#orders[at] = order;
    this.#values[at] = value;
  }

  /** Removes the earliest event and returns its value; -1 if there is none. */
  pop(): number {
    if (this.size === 0) return -1;
    const value = this.#values[0]!;
    const last = --this.size;
    const time = this.#times[last]!;
    const order = this.#orders[last]!;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= last) break;
      if (child + 1 < last && this.#before(child + 1, this.#times[child]!, this.#orders[child]!)) child++;
      if (!this.#before(child, time, order)) break;
      this.#move(child, at);
      at = child;
    }
    this.#times[at] = time;
    this.#orders[at] = order;
    this.#values[at] = this.#values[last]!;
    return value;
  }

  #before(at: number, time: number, order: number): boolean {
    const own = this.#times[at]!;
    return own < time || (own === time && this.#orders[at]! < order);
  }

  #move(from: number, to: number): void {
    this.#times[to] = this.#times[from]!;
    this.#orders[to] = this.#orders[from]!;
    this.#values[to] = this.#values[from]!;
  }

  #grow(): void {
    const capacity = this.#times.length * 2;
    this.#times = widen(new Float64Array(capacity), this.#times);
    this.#orders = widen(new Float64Array(capacity), this.#orders);
    this.#values = widen(new Int32Array(capacity), this.#values);
  }
}

/** Copies an array to the start of a larger one, which it returns. */
export function widen<T extends { set(from: T): void }>(wide: T, narrow: T): T {
  wide.set(narrow);
  return wide;
}
