/** The time that a reconciler and its company live in; tests and simulations give their own. */
export interface Clock {
  nowMs(): number;
  /** Calls back after a delay. @returns a function that cancels it */
  schedule(delayMs: number, callback: () => void): () => void;
}

export const SYSTEM_CLOCK: Clock = {
  nowMs: () => Date.now(),
  schedule(delayMs, callback) {
    const timer = setTimeout(callback, delayMs);
    return () => clearTimeout(timer);
  },
};
