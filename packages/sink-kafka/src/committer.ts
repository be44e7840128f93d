import type { Dispatcher } from './dispatcher.js';
import type { Parcel } from './parcel.js';

export interface CommitterOptions {
  readonly dispatcher: Dispatcher;
  /** The parcel that is being filled. */
  readonly current: () => Parcel | null;
  /** Shortest time between the begins of two commits, in ms. */
  readonly everyMs: number;
  /** Time limit of waiting for a commit, in ms; null: none. */
  readonly limitMs: number | null;
}

interface Waiter {
  /** The number of messages taken that must be safe. */
  readonly messages: number;
  readonly done: () => void;
}

/**
 * Tells when messages are safe: on disk, or stored by the brokers. Messages that arrive during a commit are part of the
 * next one.
 */
export class Committer {
  readonly #options: CommitterOptions;
  #taken = 0;
  /** Oldest first. */
  #waiters: Waiter[] = [];
  #isCommitting = false;
  #beganAt = Number.NEGATIVE_INFINITY;
  #isClosed = false;
  #isStuck = false;

  constructor(options: CommitterOptions) {
    this.#options = options;
  }

  get taken(): number {
    return this.#taken;
  }

  /** The commit under way takes longer than the time limit. */
  get isStuck(): boolean {
    return this.#isStuck;
  }

  take(messages: number): void {
    if (messages === 0) return;
    this.#taken += messages;
    this.commit();
  }

  /**
   * Resolves when all messages taken are safe or given up, or at the time limit; undefined if they are safe already.
   */
  safe(): Promise<void> | undefined {
    if (this.#isClosed || this.#safe() >= this.#taken) return undefined;
    const { limitMs } = this.#options;
    return new Promise((resolve) => {
      const timer =
        limitMs === null
          ? undefined
          : setTimeout(() => {
              this.#isStuck = true;
              resolve();
            }, limitMs);
      const done = (): void => {
        clearTimeout(timer);
        resolve();
      };
      this.#waiters.push({ messages: this.#taken, done });
    });
  }

  commit(): void {
    if (this.#isCommitting || this.#isClosed) return;
    void this.#commitAll();
  }

  /** Tells those who wait for what is safe now. */
  settle(): void {
    const safe = this.#isClosed ? Number.POSITIVE_INFINITY : this.#safe();
    while (this.#waiters.length > 0 && this.#waiters[0]!.messages <= safe) this.#waiters.shift()!.done();
  }

  close(): void {
    this.#isClosed = true;
    this.settle();
  }

  async #commitAll(): Promise<void> {
    const { current, dispatcher, everyMs } = this.#options;
    this.#isCommitting = true;
    try {
      while (!this.#isClosed && this.#safe() < this.#taken) {
        const left = this.#beganAt + everyMs - performance.now();
        if (left > 0) await new Promise((resolve) => setTimeout(resolve, left));
        // All results of a batch are written before it is checked.
        else await Promise.resolve();
        this.#beganAt = performance.now();
        const isStored = await dispatcher.store(current());
        this.#isStuck = false;
        this.settle();
        if (!isStored) return;
      }
    } finally {
      // No await since the last check: messages taken from now on begin a new commit.
      this.#isCommitting = false;
    }
  }

  /** The number of messages taken before the first that is not safe. */
  #safe(): number {
    const { current, dispatcher } = this.#options;
    for (const parcel of dispatcher.parcels()) if (isOpen(parcel)) return parcel.first + parcel.stored.rows;
    const parcel = current();
    return parcel !== null && isOpen(parcel) ? parcel.first + parcel.stored.rows : this.#taken;
  }
}

function isOpen({ slab, stored }: Parcel): boolean {
  return stored.rows < slab.count;
}
