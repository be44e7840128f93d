/** The thread that waits: one wait at a time, and one result for each. */
export interface WaitThread {
  /** Starts a wait; negative: without end. */
  start(timeoutMs: number): void;
  /** Ends it early; its result still comes. */
  cancel(): void;
}

interface Wait {
  readonly deadline: number;
  resolve(isReady: boolean): void;
  reject(error: unknown): void;
}

/** Waits that are going on, each with its own time out, over a thread that can do one at a time. */
export class Waiting {
  readonly #thread: WaitThread;
  #waits: Wait[] = [];
  /** When the thread's wait ends; NaN: it does not wait. */
  #until = Number.NaN;

  constructor(thread: WaitThread) {
    this.#thread = thread;
  }

  /** Whether nobody waits. */
  get isIdle(): boolean {
    return this.#waits.length === 0;
  }

  /** @returns what the wait comes to; rejected if the thread finds an error */
  wait(timeoutMs: number): Promise<boolean> {
    return new Promise((resolve, reject) => {
      const deadline = performance.now() + timeoutMs;
      this.#waits.push({ deadline, resolve, reject });
      if (Number.isNaN(this.#until)) this.#start();
      else if (deadline < this.#until) this.#thread.cancel();
    });
  }

  /** Takes the thread's result: there is something, or the wait has ended without. */
  settle(isReady: boolean): void {
    this.#until = Number.NaN;
    const now = performance.now();
    const waits = this.#waits;
    this.#waits = isReady ? [] : waits.filter((wait) => wait.deadline > now);
    for (const wait of waits) if (isReady || wait.deadline <= now) wait.resolve(isReady);
    if (this.#waits.length > 0) this.#start();
  }

  /** Takes an error of the thread: every wait ends with it. */
  fail(error: unknown): void {
    for (const wait of this.#takeAll()) wait.reject(error);
  }

  /** Ends all waits without result, and expects none from the thread. */
  end(): void {
    for (const wait of this.#takeAll()) wait.resolve(false);
  }

  #takeAll(): Wait[] {
    this.#until = Number.NaN;
    return this.#waits.splice(0);
  }

  #start(): void {
    this.#until = this.#waits.reduce((earliest, wait) => Math.min(earliest, wait.deadline), Number.POSITIVE_INFINITY);
    const left = this.#until - performance.now();
    try {
      this.#thread.start(left === Number.POSITIVE_INFINITY ? -1 : Math.max(0, left));
    } catch (error) {
      this.fail(error);
    }
  }
}
