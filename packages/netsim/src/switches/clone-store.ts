/** Clones of probes that wait for feedback. */

const NONE = -1;

/**
 * Clones of a switch (shared queue recovery, reliable GPINT, section III-D), found by request id and port, the oldest
 * first. Clones are in slots, which are reused.
 */
export class CloneStore {
  readonly capacity: number;
  #count = 0;
  readonly #oldest = new Map<number, number>();
  readonly #frames: (Uint8Array | null)[] = [];
  readonly #keys: number[] = [];
  readonly #times: number[] = [];
  readonly #handles: number[] = [];
  readonly #next: number[] = [];
  readonly #free: number[] = [];

  constructor(capacity: number) {
    this.capacity = capacity;
  }

  get size(): number {
    return this.#count;
  }

  /** @returns the clone's slot; -1 if the store is full */
  add(requestId: number, port: number, frame: Uint8Array, timeNs: number): number {
    if (this.#count >= this.capacity) return NONE;
    const slot = this.#free.pop() ?? this.#frames.length;
    const key = keyOf(requestId, port);
    this.#frames[slot] = frame;
    this.#keys[slot] = key;
    this.#times[slot] = timeNs;
    this.#handles[slot] = NONE;
    this.#next[slot] = NONE;
    const first = this.#oldest.get(key);
    if (first === undefined) this.#oldest.set(key, slot);
    else this.#next[this.#lastOf(first)] = slot;
    this.#count++;
    return slot;
  }

  /** Slot of the oldest clone of a request that left by a port; -1 if there is none. */
  find(requestId: number, port: number): number {
    return this.#oldest.get(keyOf(requestId, port)) ?? NONE;
  }

  frameOf(slot: number): Uint8Array {
    return this.#frames[slot]!;
  }

  /** Time at which the clone was stored. */
  timeOf(slot: number): number {
    return this.#times[slot]!;
  }

  /** Handle of the clone's timer. */
  handleOf(slot: number): number {
    return this.#handles[slot]!;
  }

  setHandle(slot: number, handle: number): void {
    this.#handles[slot] = handle;
  }

  remove(slot: number): void {
    const key = this.#keys[slot]!;
    const next = this.#next[slot]!;
    const first = this.#oldest.get(key)!;
    if (first !== slot) this.#next[this.#previousOf(first, slot)] = next;
    else if (next === NONE) this.#oldest.delete(key);
    else this.#oldest.set(key, next);
    this.#frames[slot] = null;
    this.#free.push(slot);
    this.#count--;
  }

  /** Removes all and calls back with the timer of each. */
  clear(eachHandle: (handle: number) => void): void {
    for (let slot = 0; slot < this.#frames.length; slot++) {
      if (this.#frames[slot] === null) continue;
      eachHandle(this.#handles[slot]!);
      this.remove(slot);
    }
  }

  #lastOf(first: number): number {
    let slot = first;
    while (this.#next[slot] !== NONE) slot = this.#next[slot]!;
    return slot;
  }

  #previousOf(first: number, slot: number): number {
    let previous = first;
    while (this.#next[previous] !== slot) previous = this.#next[previous]!;
    return previous;
  }
}

/** 15 bits of request id and 16 of port: 31 bits. */
function keyOf(requestId: number, port: number): number {
  return requestId * 0x1_0000 + port;
}
