/** How long an outage was. */
export interface Outage {
  readonly lastedMs: number;
  /** Attempts that failed. */
  readonly attempts: number;
}

/** A listener for outages. */
export interface OutageListener<Problem> {
  onProblem(problem: Problem): void;
  onRecovered(outage: Outage): void;
}

/** A failure of a sink. Each kind of failure has a code. */
export interface CodedProblem {
  readonly code: string;
  readonly message: string;
}

/** The time from the first failure of a sink's other side to the next success. Tells each kind of failure once. */
export class OutageLog<Problem extends CodedProblem = CodedProblem> {
  readonly #listener: OutageListener<Problem>;
  readonly #codes = new Set<string>();
  #since = 0;
  /** Failures since the last success. */
  attempts = 0;
  /** Outages so far, including the current one. */
  count = 0;
  /** The last failure of the current outage; `null` without an outage. */
  problem: Problem | null = null;

  constructor(listener: OutageListener<Problem>) {
    this.#listener = listener;
  }

  get isOutage(): boolean {
    return this.attempts > 0;
  }

  /** The current problem and its age as text, for `Sink.health`. */
  get reason(): string | null {
    if (this.problem === null) return null;
    const { code, message } = this.problem;
    return `${code}: ${message}, for ${Math.round((performance.now() - this.#since) / 1000)} s`;
  }

  fail(problem: Problem): void {
    if (this.attempts === 0) {
      this.#since = performance.now();
      this.count += 1;
    }
    this.attempts += 1;
    this.problem = problem;
    if (this.#codes.has(problem.code)) return;
    this.#codes.add(problem.code);
    this.#listener.onProblem(problem);
  }

  succeed(): void {
    if (this.attempts === 0) return;
    const attempts = this.attempts;
    this.attempts = 0;
    this.problem = null;
    this.#codes.clear();
    this.#listener.onRecovered({ lastedMs: performance.now() - this.#since, attempts });
  }
}
