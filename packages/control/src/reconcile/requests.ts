import type { Clock } from './clock.js';
import type { KnownSwitch } from './known-switch.js';

/** What becomes of requests, beside their answers. */
interface RequestEvents {
  /** There is no answer, or none in time. */
  failed(known: KnownSwitch, error: unknown): void;
  /** An answer came that nobody waited for any more. */
  cameLate(known: KnownSwitch): void;
}

/** Requests to switches: one at a time to each, some to all, and none is waited for without end. */
export class Requests {
  #stop: () => void = () => {};
  readonly #stopped: Promise<undefined> = new Promise((resolve) => {
    this.#stop = () => resolve(undefined);
  });

  constructor(
    readonly clock: Clock,
    readonly answerMs: number,
    /** On their way at once. */
    readonly most: number,
    readonly events: RequestEvents,
  ) {}

  /** The answer to a request; undefined if it failed, takes too long, or nobody waits any more. */
  async answer<T>(known: KnownSwitch, ask: () => Promise<T>): Promise<T | undefined> {
    const { answerMs, clock, events } = this;
    known.isBusy = true;
    let cancel = (): void => {};
    const late = new Promise<undefined>((resolve) => {
      cancel = clock.schedule(answerMs, () => {
        known.isLate = true;
        events.failed(known, new Error(`no answer within ${answerMs} ms`));
        resolve(undefined);
      });
    });
    const answer = ask().then(
      (value) => value,
      (error: unknown) => {
        events.failed(known, error);
        return undefined;
      },
    );
    const settled = answer.then((value) => {
      const { isLate } = known;
      known.isBusy = false;
      known.isLate = false;
      if (isLate) events.cameLate(known);
      return value;
    });
    try {
      return await Promise.race([settled, late, this.#stopped]);
    } finally {
      cancel();
    }
  }

  /** Works on a list, as many at once as there may be requests. */
  async forEach<T>(list: readonly T[], work: (each: T) => Promise<void>): Promise<void> {
    let next = 0;
    const worker = async (): Promise<void> => {
      while (next < list.length) await work(list[next++]!);
    };
    await Promise.all(Array.from({ length: Math.min(this.most, list.length) }, worker));
  }

  /** No answer is waited for any more. */
  stop(): void {
    this.#stop();
  }
}
