import type { DegradedState } from './degraded-state.js';

/** How {@link DegradedStates} keep time. */
export interface DegradedStatesOptions {
  /** How long a watched counter must stand still for its state to be over, in milliseconds. Default 10,000. */
  readonly holdMs?: number;
  /** Milliseconds since the epoch, never going back. Default: the time of the start plus a monotonic clock. */
  readonly now?: () => number;
}

/** A counter whose growth is a degraded state. */
interface Watched {
  readonly name: string;
  readonly count: () => number;
  readonly text: (grown: number) => string;
  /** The counter when it was last looked at. */
  last: number;
  /** The counter before the state began. */
  before: number;
  grewAt: number;
  /** `null`: it is not in that state. */
  since: number | null;
}

/**
 * The degraded states of one part. A state lasts from {@link begin} to {@link end}, or as long as a counter grows
 * ({@link watch}).
 *
 * @example
 * const states = new DegradedStates();
 * states.watch('shedding', () => dropped, (grown) => `${grown} records dropped for want of room`);
 * states.begin('spooling', '12 MiB wait on disk');
 * states.list(); // what Stage.degraded and Sink.degraded return
 */
export class DegradedStates {
  readonly #holdMs: number;
  readonly #now: () => number;
  readonly #begun = new Map<string, { readonly since: number; text: string }>();
  readonly #watched: Watched[] = [];

  constructor({ holdMs = 10_000, now }: DegradedStatesOptions = {}) {
    this.#holdMs = holdMs;
    this.#now = now ?? ((): number => performance.timeOrigin + performance.now());
  }

  /** Begins a state, which lasts until {@link end}. If it has begun already, only its text changes. */
  begin(name: string, text: string): void {
    const begun = this.#begun.get(name);
    if (begun === undefined) this.#begun.set(name, { since: this.#now(), text });
    else begun.text = text;
  }

  /** Ends a state that {@link begin} began. */
  end(name: string): void {
    this.#begun.delete(name);
  }

  /**
   * Ties a state to a counter. {@link list} reads the counter: the state begins when the counter has grown since the
   * last call, and ends when it has not grown for `holdMs`.
   * @param count reads the counter, which only grows
   * @param text makes the text from the growth since the state began
   */
  watch(name: string, count: () => number, text: (grown: number) => string): void {
    const last = count();
    this.#watched.push({ name, count, text, last, before: last, grewAt: 0, since: null });
  }

  /** Reads the watched counters and returns the current states. */
  list(): DegradedState[] {
    const now = this.#now();
    const states: DegradedState[] = [];
    for (const [name, { since, text }] of this.#begun) states.push({ name, since, text });
    for (const each of this.#watched) {
      const count = each.count();
      if (count > each.last) {
        if (each.since === null) {
          each.since = now;
          each.before = each.last;
        }
        each.grewAt = now;
      } else if (each.since !== null && now - each.grewAt >= this.#holdMs) each.since = null;
      each.last = count;
      const { name, since, before, text } = each;
      if (since !== null) states.push({ name, since, text: text(count - before) });
    }
    return states;
  }
}
