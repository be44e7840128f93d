/**
 * The event queue: a quaternary heap of events by time, then by order of insertion. Events are in slots of parallel
 * arrays. Slots are reused, so nothing is allocated once the arrays have grown.
 */

/** The receiver of an event. */
export interface Wakeable {
  /** @param argument the event's argument, a 32-bit integer */
  wake(argument: number): void;
}

/** Kinds of events. */
export const EVENT_KIND = { CANCELLED: 0, DELIVER: 1, SERVE: 2, WAKE: 3 } as const;

/** A handle is generation * 2^22 + slot. It is exact in a double for 2^31 uses of a slot. */
const SLOT_BITS = 22;
const SLOTS = 2 ** SLOT_BITS;

export class EventQueue {
  /** Entries in the heap, cancelled ones included. */
  size = 0;
  /**
   * Virtual time in nanoseconds: that of the last popped entry, or the value set. It is a field and not a result: see
   * {@link push}.
   */
  nowNs = 0;
  /** Time of the event that the next {@link push} adds. */
  due = 0;
  #cancelled = 0;
  #inserted = 0;
  #times = new Float64Array(64);
  #heap = new Uint32Array(64);
  #orders = new Float64Array(64);
  #kinds = new Uint8Array(64);
  #args = new Int32Array(64);
  #generations = new Uint32Array(64);
  #free = new Uint32Array(64);
  #freeCount = 0;
  #slotCount = 0;
  readonly #targets: (object | null)[] = [];
  readonly #frames: (Uint8Array | null)[] = [];

  /** Number of events to come. */
  get pending(): number {
    return this.size - this.#cancelled;
  }

  /** Time of the first entry; Infinity if there is none. The entry may be cancelled. */
  get firstTime(): number {
    return this.size === 0 ? Number.POSITIVE_INFINITY : this.#times[0]!;
  }

  /** Whether the first entry's time is `limit` or earlier. */
  isDue(limit: number): boolean {
    return this.size > 0 && this.#times[0]! <= limit;
  }

  /**
   * Adds an event at {@link due} and returns its slot. `frame` is null except for deliveries. The time is not an
   * argument, because engines allocate numbers above 2^31 to pass them.
   */
  push(kind: number, target: object, argument: number, frame: Uint8Array | null): number {
    const slot = this.#freeCount > 0 ? this.#free[--this.#freeCount]! : this.#newSlot();
    this.#kinds[slot] = kind;
    this.#args[slot] = argument;
    this.#orders[slot] = this.#inserted++;
    this.#targets[slot] = target;
    this.#frames[slot] = frame;
    this.#siftUp(this.size++, slot);
    return slot;
  }

  /** Removes the first entry and sets the time to its time. Its slot stays readable until {@link release}. */
  pop(): number {
    const slot = this.#heap[0]!;
    // A cancelled event does not advance the time.
    if (this.#kinds[slot] !== EVENT_KIND.CANCELLED) this.nowNs = this.#times[0]!;
    const last = --this.size;
    if (last > 0) this.#siftDown(last);
    return slot;
  }

  kindOf(slot: number): number {
    return this.#kinds[slot]!;
  }

  argumentOf(slot: number): number {
    return this.#args[slot]!;
  }

  targetOf(slot: number): object {
    return this.#targets[slot]!;
  }

  frameOf(slot: number): Uint8Array | null {
    return this.#frames[slot]!;
  }

  /** Releases a slot. Its handles become invalid. */
  release(slot: number): void {
    if (this.#kinds[slot] === EVENT_KIND.CANCELLED) this.#cancelled--;
    this.#generations[slot] = this.#generations[slot]! + 1;
    this.#targets[slot] = null;
    this.#frames[slot] = null;
    this.#free[this.#freeCount++] = slot;
  }

  handleOf(slot: number): number {
    return (this.#generations[slot]! & 0x7fff_ffff) * SLOTS + slot;
  }

  /** Cancels the event of a handle. @returns false if the event has happened or was cancelled before */
  cancel(handle: number): boolean {
    if (!Number.isInteger(handle) || handle < 0) return false;
    const slot = handle % SLOTS;
    if (slot >= this.#slotCount || this.handleOf(slot) !== handle) return false;
    if (this.#targets[slot] === null || this.#kinds[slot] === EVENT_KIND.CANCELLED) return false;
    this.#kinds[slot] = EVENT_KIND.CANCELLED;
    this.#targets[slot] = null;
    this.#cancelled++;
    return true;
  }

  /** Removes cancelled entries at the front, so that {@link firstTime} is the time of an event. */
  prune(): void {
    while (this.size > 0 && this.#kinds[this.#heap[0]!] === EVENT_KIND.CANCELLED) this.release(this.pop());
  }

  #newSlot(): number {
    if (this.#slotCount === SLOTS) throw new RangeError(`more than ${SLOTS} events at once`);
    const slot = this.#slotCount++;
    if (slot === this.#heap.length) this.#grow();
    this.#targets.push(null);
    this.#frames.push(null);
    return slot;
  }

  #grow(): void {
    const length = this.#heap.length * 2;
    const grown = <T extends Float64Array | Uint32Array | Int32Array | Uint8Array>(into: T, from: T): T => {
      into.set(from);
      return into;
    };
    this.#times = grown(new Float64Array(length), this.#times);
    this.#heap = grown(new Uint32Array(length), this.#heap);
    this.#orders = grown(new Float64Array(length), this.#orders);
    this.#kinds = grown(new Uint8Array(length), this.#kinds);
    this.#args = grown(new Int32Array(length), this.#args);
    this.#generations = grown(new Uint32Array(length), this.#generations);
    this.#free = grown(new Uint32Array(length), this.#free);
  }

  #siftUp(hole: number, slot: number): void {
    const { due: time } = this;
    const times = this.#times;
    const heap = this.#heap;
    let at = hole;
    // The newest event follows all others of its time, so comparing times suffices.
    while (at > 0) {
      const parent = (at - 1) >>> 2;
      const parentTime = times[parent]!;
      if (parentTime <= time) break;
      times[at] = parentTime;
      heap[at] = heap[parent]!;
      at = parent;
    }
    times[at] = time;
    heap[at] = slot;
  }

  /** Moves the entry at `size`, just past the end, to the front and down to its place. */
  #siftDown(size: number): void {
    const times = this.#times;
    const heap = this.#heap;
    const orders = this.#orders;
    const time = times[size]!;
    const slot = heap[size]!;
    const order = orders[slot]!;
    let at = 0;
    for (;;) {
      const first = 4 * at + 1;
      if (first >= size) break;
      const end = Math.min(first + 4, size);
      let best = first;
      let bestTime = times[first]!;
      for (let child = first + 1; child < end; child++) {
        const childTime = times[child]!;
        if (childTime < bestTime || (childTime === bestTime && orders[heap[child]!]! < orders[heap[best]!]!)) {
          best = child;
          bestTime = childTime;
        }
      }
      const bestSlot = heap[best]!;
      if (bestTime > time || (bestTime === time && orders[bestSlot]! > order)) break;
      times[at] = bestTime;
      heap[at] = bestSlot;
      at = best;
    }
    times[at] = time;
    heap[at] = slot;
  }
}
