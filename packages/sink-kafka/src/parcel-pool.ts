import type { MessageSlabCapacity } from './message/slab.js';
import { Parcel } from './parcel.js';

/** A pool of reusable parcels, which may exceed its size in need. */
export class ParcelPool {
  readonly limit: number;
  readonly #capacity: MessageSlabCapacity;
  readonly #free: Parcel[] = [];
  #made = 0;
  #waiters: (() => void)[] = [];
  #isClosed = false;

  constructor(limit: number, capacity: MessageSlabCapacity) {
    this.limit = limit;
    this.#capacity = capacity;
  }

  /** Parcels that could be taken. */
  get vacant(): number {
    return this.#free.length + Math.max(0, this.limit - this.#made);
  }

  /** Whether there are more than there should be. */
  get isExceeded(): boolean {
    return this.#made > this.limit;
  }

  /** @param mayExceed one more is made if there is none @returns null if there is none */
  take(mayExceed: boolean): Parcel | null {
    const free = this.#free.pop();
    if (free !== undefined) return free;
    if (this.#made >= this.limit && !mayExceed) return null;
    this.#made += 1;
    return new Parcel(this.#capacity);
  }

  give(parcel: Parcel): void {
    parcel.clear();
    if (this.isExceeded) this.#made -= 1;
    else this.#free.push(parcel);
    if (this.vacant > 0) this.#wake();
  }

  /** Resolves when a parcel is free, or the pool is closed. */
  room(): Promise<void> {
    if (this.#isClosed || this.vacant > 0) return Promise.resolve();
    return new Promise((resolve) => this.#waiters.push(resolve));
  }

  /** Nobody waits for room from now on. */
  close(): void {
    this.#isClosed = true;
    this.#wake();
  }

  #wake(): void {
    for (const resolve of this.#waiters.splice(0)) resolve();
  }
}
