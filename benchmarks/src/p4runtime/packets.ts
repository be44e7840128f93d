import type { P4vmTarget } from '@int/p4runtime';
import { ThreadTime } from './thread-time.js';

/** The gaps between two turns of packets, in milliseconds. */
export interface Pauses {
  /** As a packet sees them: with the time that the scheduler gave to other processes. */
  readonly elapsed: PauseList;
  /** Without the time in which the thread could have run and another one did: what the process is to blame for. */
  readonly own: PauseList;
  readonly packets: number;
}

export interface PauseList {
  readonly longest: number;
  readonly p999: number;
}

/** Time for which packets have the thread at once, as in a ForwardingLoop. */
const TURN_MS = 1;
const BURST = 32;
const MOST_GAPS = 1 << 20;

/**
 * Packets as fast as the thread has time for them: turns of a millisecond, between which everything else gets its turn. The gaps
 * between them are what a port would see.
 */
export class Packets {
  readonly #frame = new Uint8Array(64).fill(1);
  readonly #time = new ThreadTime();
  readonly #elapsed = new Float64Array(MOST_GAPS);
  readonly #own = new Float64Array(MOST_GAPS);
  #gaps = 0;
  #count = 0;
  #isRunning = false;

  #lastMs = 0;
  #lastWaitMs = 0;
  /** Where the packets go. */
  target: P4vmTarget | undefined;

  start(): void {
    this.#gaps = 0;
    this.#count = 0;
    this.#isRunning = true;
    this.#lastMs = performance.now();
    this.#lastWaitMs = this.#time.read().waitMs;
    const turn = (): void => {
      if (!this.#isRunning) return;
      this.#turn();
      setImmediate(turn);
    };
    setImmediate(turn);
  }

  /** In the middle of long work. */
  meanwhile(): void {
    if (this.#isRunning && performance.now() - this.#lastMs >= TURN_MS) this.#turn();
  }

  #turn(): void {
    const time = this.#time.read();
    const begin = performance.now();
    const at = Math.min(this.#gaps++, MOST_GAPS - 1);
    this.#elapsed[at] = begin - this.#lastMs;
    this.#own[at] = Math.max(0, begin - this.#lastMs - (time.waitMs - this.#lastWaitMs));
    do {
      for (let i = 0; i < BURST; i++) this.target?.machine?.receive(0, this.#frame);
      this.#count += BURST;
    } while (performance.now() - begin < TURN_MS);
    this.#lastWaitMs = time.read().waitMs;
    this.#lastMs = performance.now();
  }

  stop(): Pauses {
    this.#isRunning = false;
    const count = Math.min(this.#gaps, MOST_GAPS);
    const list = (gaps: Float64Array): PauseList => {
      const sorted = gaps.slice(0, count).sort();
      return { longest: sorted[count - 1] ?? 0, p999: sorted[Math.floor((count - 1) * 0.999)] ?? 0 };
    };
    return { elapsed: list(this.#elapsed), own: list(this.#own), packets: this.#count };
  }
}
