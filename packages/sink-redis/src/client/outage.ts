import type { RedisSinkError } from '../errors.js';

/** Who is told of outages. */
export interface OutageListener {
  onProblem(error: RedisSinkError): void;
  onRecovered(outage: { readonly lastedMs: number; readonly attempts: number }): void;
}

/** The time from the first failure to the next success. Tells each kind of failure once. */
export class OutageLog {
  readonly #listener: OutageListener;
  readonly #codes = new Set<string>();
  #since = 0;
  #attempts = 0;

  constructor(listener: OutageListener) {
    this.#listener = listener;
  }

  get isOutage(): boolean {
    return this.#attempts > 0;
  }

  fail(problem: RedisSinkError): void {
    if (!this.isOutage) this.#since = performance.now();
    this.#attempts += 1;
    if (this.#codes.has(problem.code)) return;
    this.#codes.add(problem.code);
    this.#listener.onProblem(problem);
  }

  succeed(): void {
    if (!this.isOutage) return;
    const attempts = this.#attempts;
    this.#attempts = 0;
    this.#codes.clear();
    this.#listener.onRecovered({ lastedMs: performance.now() - this.#since, attempts });
  }
}
