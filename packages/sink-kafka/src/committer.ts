import type { Dispatcher } from './dispatcher.js';
import type { Parcel } from './parcel.js';

export interface CommitterOptions {
  readonly dispatcher: Dispatcher;
  /** The parcel that is being filled. */
  readonly current: () => Parcel | null;
  /** Time from the beginning of one commit to that of the next, at least, in ms. */
  readonly everyMs: number;
  /** The longest time that somebody waits for a commit, in ms; null: as long as it takes. */
  readonly limitMs: number | null;
}

interface Waiter {
  /** Messages that have to be safe, of all that were taken. */
  readonly messages: number;
  readonly done: () => void;
}

/**
 * Says when messages are safe: on disk, or stored by the brokers. What has come while one commit was under way is in the
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

  /** Messages taken so far. */
  get taken(): number {
    return this.#taken;
  }

  /** A commit takes longer than anybody waits. */
  get isStuck(): boolean {
    return this.#isStuck;
  }

  /** Messages were taken. */
  take(messages: number): void {
    if (messages === 0) return;
    this.#taken += messages;
    this.commit();
  }

  /** Resolves when all that was taken is safe or given up, or the time for that is over; undefined: it is safe. */
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

  /** Begins to commit, if that has not begun. */
  commit(): void {
    if (this.#isCommitting || this.#isClosed) return;
    void this.#commitAll();
  }

  /** Tells those who wait for what is safe now. */
  settle(): void {
    const safe = this.#isClosed ? Number.POSITIVE_INFINITY : this.#safe();
    while (this.#waiters.length > 0 && this.#waiters[0]!.messages <= safe) this.#waiters.shift()!.done();
  }

  /** Nobody waits from now on. */
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
      // At once after the last look: what is taken from now on begins anew.
      this.#isCommitting = false;
    }
  }

  /** Messages that are safe, of all that were taken, up to the first that is not. */
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
