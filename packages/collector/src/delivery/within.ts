import { MAX_MS } from './option-checks.js';

/**
 * Waits for work, at most `ms` milliseconds; with Infinity as long as it takes.
 * @returns whether it has ended; its later error is ignored
 */
export async function within(ms: number, work: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    if (Number.isFinite(ms)) timer = setTimeout(() => resolve(false), Math.min(ms, MAX_MS));
  });
  try {
    return await Promise.race([work.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}

/** A time limit that runs from now on. */
export class TimeLimit {
  readonly #began = performance.now();
  readonly #ms: number | undefined;

  /** @param ms in milliseconds; `undefined`: no limit */
  constructor(ms: number | undefined) {
    this.#ms = ms;
  }

  /** What is left of all of it; `undefined`: no limit. */
  get leftMs(): number | undefined {
    return this.#ms === undefined ? undefined : Math.max(0, this.#ms - this.#elapsedMs);
  }

  /** What is left of its first half, Infinity without a limit. */
  get halfMs(): number {
    return this.#ms === undefined ? Number.POSITIVE_INFINITY : Math.max(0, this.#ms / 2 - this.#elapsedMs);
  }

  get #elapsedMs(): number {
    return performance.now() - this.#began;
  }
}
