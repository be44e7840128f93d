import { type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks';
import type { P4vmTarget } from '@int/p4runtime';
import { ThreadTime } from './thread-time.js';

/** The gaps between two turns of packets, in milliseconds. */
export interface Pauses {
  /** As a packet sees them: with the time that the scheduler gave to other processes. */
  readonly elapsed: PauseList;
  /**
   * Without the time in which other processes ran: that in which the thread waited for a processor, and that in which it waited
   * for threads of its own that waited for one. What is left is at most the processor time of the whole process: too much where
   * other threads of it, such as collectors of garbage, run beside the thread of the packets.
   */
  readonly own: PauseList;
  readonly packets: number;
}

export interface PauseList {
  readonly longest: number;
  readonly p999: number;
}

/** Processor time of the process, all threads. */
function processMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** Time for which packets have the thread at once, as in a ForwardingLoop. */
const TURN_MS = 1;
const BURST = 32;
const MOST_GAPS = 1 << 20;
/** Gaps from here on are looked into, with INT_TRACE. */
const LONG_MS = 3;

/** What Node tells of a collection; its types leave the detail out. */
type CollectionEntry = PerformanceEntry & { readonly detail?: { readonly kind: number } };

interface Span {
  readonly what: string;
  readonly begin: number;
  readonly end: number;
}

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
  #lastProcessMs = 0;
  readonly #long: Span[] = [];
  readonly #collections: Span[] = [];
  #observer: PerformanceObserver | undefined;
  /** Where the packets go. */
  target: P4vmTarget | undefined;

  start(): void {
    this.#gaps = 0;
    this.#count = 0;
    this.#isRunning = true;
    if (process.env.INT_TRACE !== undefined) this.#observe();
    this.#lastMs = performance.now();
    this.#lastWaitMs = this.#time.read().waitMs;
    this.#lastProcessMs = processMs();
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
    const own = begin - this.#lastMs - (time.waitMs - this.#lastWaitMs);
    this.#own[at] = Math.max(0, Math.min(own, processMs() - this.#lastProcessMs));
    if (this.#own[at]! >= LONG_MS)
      this.#long.push({
        what: this.#own[at]!.toFixed(2),
        begin: this.#lastMs,
        end: begin,
      });
    do {
      for (let i = 0; i < BURST; i++) this.target?.machine?.receive(0, this.#frame);
      this.#count += BURST;
    } while (performance.now() - begin < TURN_MS);
    this.#lastWaitMs = time.read().waitMs;
    this.#lastProcessMs = processMs();
    this.#lastMs = performance.now();
  }

  #observe(): void {
    this.#observer ??= new PerformanceObserver((list) => {
      for (const { startTime: begin, duration, detail } of list.getEntries() as readonly CollectionEntry[]) {
        const kind = detail?.kind;
        this.#collections.push({ what: `${kind}:${duration.toFixed(1)}`, begin, end: begin + duration });
      }
    });
    this.#observer.observe({ entryTypes: ['gc'] });
  }

  /** Tells the long gaps, and the collections of garbage in each: 1 young, 4 and 8 old, with their elapsed time. */
  async trace(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, 10));
    for (const { what, begin, end } of this.#long) {
      const within = this.#collections.filter((each) => each.begin < end && each.end > begin);
      console.error(
        `  own ${what} of ${(end - begin).toFixed(1)} ms at ${begin.toFixed(0)}: ${within.map((each) => each.what).join(' ') || 'no collection'}`,
      );
    }
    this.#long.length = 0;
    this.#collections.length = 0;
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
