/** Runs switches: polls their ports while there is work, and waits when there is none. */
import type { SoftSwitch } from './soft-switch.js';

export interface ForwardingLoopOptions {
  /**
   * How long to go on polling after the last frame before waiting for the next, in milliseconds. A frame that arrives
   * meanwhile is forwarded at once; one that ends a wait, some tens of microseconds later. Default 0.2.
   */
  readonly spinMs?: number;
  /** Longest time without a turn for others: timers, sockets, signals, the control plane. Default 1. */
  readonly turnMs?: number;
}

/** Frames that a switch takes from each port before the next switch gets its turn. */
const BURST = 64;
/** A timer's resolution: what is due sooner is polled for. */
const TIMER_MS = 1.5;
/** Longest wait. */
const MOST_MS = 1000;

/**
 * Polls switches as long as they have work. After each `turnMs` the event loop gets a turn, so that the control plane is
 * served at any load; without work, nothing runs until a port is ready or a packet in a queue is due.
 */
export class ForwardingLoop {
  readonly #switches: readonly SoftSwitch[];
  #lastPoll = performance.now();
  #isInTurn = false;
  #wasBusy = false;
  #lastWork = 0;
  readonly #spinMs: number;
  readonly #turnMs: number;
  #isStopping = false;
  #running: Promise<void> | null = null;
  #wake: (() => void) | null = null;
  /** Longest time between two polls of the ports so far, while there was work, in milliseconds. */
  longestPauseMs = 0;
  /** Time spent in turns that moved something, in milliseconds. */
  busyMs = 0;

  constructor(switches: readonly SoftSwitch[], { spinMs = 0.2, turnMs = 1 }: ForwardingLoopOptions = {}) {
    this.#switches = switches;
    this.#spinMs = spinMs;
    this.#turnMs = turnMs;
  }

  /** Starts. A second call has no effect. */
  start(): void {
    this.#running ??= this.#run();
  }

  /** Ends the loop. Frames that have arrived and were not taken stay where they are. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.wake();
    await this.#running;
  }

  /** Ends a wait, because there is something to do: a packet of the control plane was sent. */
  wake(): void {
    const wake = this.#wake;
    this.#wake = null;
    wake?.();
  }

  /**
   * Forwards what has arrived, in the middle of long work on the same thread, such as compiling a program. To be called often:
   * it has no effect within `turnMs` of the last turn, or before the start.
   */
  meanwhile(): void {
    if (this.#isInTurn || this.#running === null || this.#isStopping) return;
    const now = performance.now();
    if (now - this.#lastPoll >= this.#turnMs) this.#turn(now);
  }

  async #run(): Promise<void> {
    this.#lastPoll = performance.now();
    this.#lastWork = this.#lastPoll;
    while (!this.#isStopping) {
      this.#turn(performance.now());
      const now = this.#lastPoll;
      if (now - this.#lastWork <= this.#spinMs) await immediate();
      else await this.#idle(now);
    }
  }

  /** Forwards for at most `turnMs`, or until there is nothing left. */
  #turn(start: number): void {
    if (this.#wasBusy) this.longestPauseMs = Math.max(this.longestPauseMs, start - this.#lastPoll);
    this.#isInTurn = true;
    const end = start + this.#turnMs;
    let moved = 0;
    let now = start;
    for (;;) {
      let count = 0;
      for (const one of this.#switches) count += one.turn(BURST);
      now = performance.now();
      if (count === 0) break;
      moved += count;
      if (now >= end) break;
    }
    this.#isInTurn = false;
    this.#lastPoll = now;
    this.#wasBusy = moved > 0;
    if (moved === 0) return;
    this.#lastWork = now;
    this.busyMs += now - start;
  }

  /** Waits for a port, a queue or the end. */
  async #idle(now: number): Promise<void> {
    let due = now + MOST_MS;
    for (const one of this.#switches) due = Math.min(due, one.dueMs);
    if (due - now < TIMER_MS) return immediate();
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, due - now - 1);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
      for (const one of this.#switches) for (const { port } of one.ports) port.onReady(this.#onReady);
    });
    this.#wake = null;
  }

  readonly #onReady = (): void => this.wake();
}

function immediate(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
