/** Clones of probes that wait for feedback. */

/** The clone of a probe that was sent on. */
export interface Clone {
  readonly key: number;
  readonly frame: Uint8Array;
  /** Time at which it was stored. */
  readonly timeNs: number;
  /** Handle of its timer. */
  handle: number;
}

/** Clones of a switch (shared queue recovery, reliable GPINT, section III-D), found by request id and port. */
export class CloneStore {
  #size = 0;
  /** The oldest first. */
  readonly #clones = new Map<number, Clone[]>();

  constructor(readonly capacity: number) {}

  get size(): number {
    return this.#size;
  }

  /** @returns undefined if the store is full */
  add(requestId: number, port: number, frame: Uint8Array, timeNs: number): Clone | undefined {
    if (this.#size >= this.capacity) return undefined;
    const clone: Clone = { key: keyOf(requestId, port), frame, timeNs, handle: -1 };
    const same = this.#clones.get(clone.key);
    if (same === undefined) this.#clones.set(clone.key, [clone]);
    else same.push(clone);
    this.#size++;
    return clone;
  }

  /** The oldest clone of a request that left by a port; undefined if there is none. */
  find(requestId: number, port: number): Clone | undefined {
    return this.#clones.get(keyOf(requestId, port))?.[0];
  }

  remove(clone: Clone): void {
    const same = this.#clones.get(clone.key)!;
    same.splice(same.indexOf(clone), 1);
    if (same.length === 0) this.#clones.delete(clone.key);
    this.#size--;
  }

  /** Removes all clones and returns them. */
  clear(): Clone[] {
    const all = [...this.#clones.values()].flat();
    this.#clones.clear();
    this.#size = 0;
    return all;
  }
}

/** 15 bits of request id and 16 of port: 31 bits. */
function keyOf(requestId: number, port: number): number {
  return requestId * 0x1_0000 + port;
}
