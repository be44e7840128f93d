/**
 * Bursts and their queues.
 *
 * Source: Q. Zhang, V. Liu, H. Zeng, A. Krishnamurthy, "High-Resolution Measurement of Data Center Microbursts", IMC
 * 2017: time is divided into slots of 25 us, in which a link is hot or cold. A two-state Markov chain with the
 * probabilities below describes the sequence. The queue is fluid: a hot slot arrives at 1.5 times line rate, a cold one
 * at 0.3 times.
 */
import { Random } from '@int/random';

/** A slot of the burst process: 25 us. Zhang et al., IMC 2017. */
export const SLOT_NS = 25_000;

/** Packets per slot at line rate. */
export const PACKETS_PER_SLOT = 20;

/** Arrival rate in a hot slot, in line rates. */
export const HOT_RATE = 1.5;

/** Arrival rate in a cold slot, in line rates. */
export const COLD_RATE = 0.3;

/** Longest queue, in microseconds of line rate. Arrivals beyond it are lost. */
export const QUEUE_CAP_US = 1000;

/** A traffic class: the transition probabilities of slots. */
export interface Workload {
  readonly name: string;
  /** P(the next slot is hot | this one is cold). Above 0, at most 1. */
  readonly hotAfterCold: number;
  /** P(the next slot is hot | this one is hot). At least 0, below 1. */
  readonly hotAfterHot: number;
}

/** Names of the measured traffic classes. */
export type WorkloadName = 'web' | 'cache' | 'hadoop';

/** The measured traffic classes (Zhang et al., IMC 2017). */
export const WORKLOADS: { readonly [K in WorkloadName]: Workload } = {
  web: { name: 'web', hotAfterCold: 0.003, hotAfterHot: 0.359 },
  cache: { name: 'cache', hotAfterCold: 0.016, hotAfterHot: 0.721 },
  hadoop: { name: 'hadoop', hotAfterCold: 0.042, hotAfterHot: 0.655 },
};

/** The class with a name, or the given class. @throws RangeError for an unknown name or an invalid class */
export function workloadOf(workload: WorkloadName | Workload): Workload {
  if (typeof workload === 'string') {
    const known = Object.hasOwn(WORKLOADS, workload) ? WORKLOADS[workload] : undefined;
    if (known === undefined) throw new RangeError(`unknown workload '${workload}': web, cache or hadoop`);
    return known;
  }
  const { hotAfterCold, hotAfterHot } = workload;
  if (!(hotAfterCold > 0 && hotAfterCold <= 1)) {
    throw new RangeError(`hotAfterCold must be above 0 and at most 1, not ${hotAfterCold}`);
  }
  if (!(hotAfterHot >= 0 && hotAfterHot < 1)) {
    throw new RangeError(`hotAfterHot must be at least 0 and below 1, not ${hotAfterHot}`);
  }
  return workload;
}

/**
 * Ratio of the probabilities of a hot slot after a hot one and after a cold one: 119.7 for web, 45.1 for cache, 15.6
 * for hadoop. 1 would mean independent slots.
 */
export function likelihoodRatio(workload: Workload): number {
  return workload.hotAfterHot / workload.hotAfterCold;
}

/** Share of hot slots in the long run: p01 / (p01 + p10). */
export function hotShare(workload: Workload): number {
  return workload.hotAfterCold / (workload.hotAfterCold + 1 - workload.hotAfterHot);
}

/**
 * Mean of the exponential distribution whose integer part is geometric with this probability of ending; 0: it ends at
 * once.
 */
function sojournScale(end: number): number {
  return end >= 1 ? 0 : -1 / Math.log1p(-end);
}

/** `base` to an integer power, by squaring. Unlike `**`, it gives the same result in every engine. */
function power(base: number, exponent: number): number {
  let result = 1;
  let square = base;
  for (let rest = exponent; rest > 0; rest = Math.floor(rest / 2)) {
    if (rest % 2 === 1) result *= square;
    square *= square;
  }
  return result;
}

/**
 * The two-state chain of one link. It starts in its stationary distribution.
 *
 * It draws whole stays, whose lengths are geometric in a Markov chain. So a queue costs per burst and not per slot.
 */
export class BurstProcess {
  /** State of the current stay. */
  hot: boolean;
  readonly #random: Random;
  readonly #hotScale: number;
  readonly #coldScale: number;
  readonly #share: number;
  readonly #memory: number;
  #left = 0;

  constructor(workload: Workload, random: Random) {
    this.#random = random;
    this.#hotScale = sojournScale(1 - workload.hotAfterHot);
    this.#coldScale = sojournScale(workload.hotAfterCold);
    this.#share = hotShare(workload);
    this.#memory = workload.hotAfterHot - workload.hotAfterCold;
    // `left` is 0: the first call starts a stay, in the other state.
    this.hot = random.uniform() >= this.#share;
  }

  /** Goes on to the next stay and returns its length in slots, at least 1. */
  turn(): number {
    this.hot = !this.hot;
    return 1 + Math.floor(this.#random.exponential(this.hot ? this.#hotScale : this.#coldScale));
  }

  /**
   * Leaps to `slots` slots after the end of the present stay. Returns the rest of the stay at that point in slots, at
   * least 1. The result is exact: the influence of the old state decreases by the factor P(hot|hot) - P(hot|cold) per
   * slot.
   */
  leap(slots: number): number {
    const start = this.hot ? 0 : 1;
    this.hot = this.#random.uniform() < this.#share + (start - this.#share) * power(this.#memory, slots);
    return 1 + Math.floor(this.#random.exponential(this.hot ? this.#hotScale : this.#coldScale));
  }

  /** Goes on to the next slot and returns whether it is hot. Do not combine it with the other two. */
  next(): boolean {
    if (this.#left === 0) this.#left = this.turn();
    this.#left--;
    return this.hot;
  }
}

/** Options of {@link burstQueue}. */
export interface BurstQueueOptions {
  /** Slots of 25 us to run, at least 1. */
  readonly slots: number;
  /** Arrival rate of a hot slot in line rates; above 0. Default 1.5. */
  readonly hot?: number;
  /** Arrival rate of a cold slot in line rates; above 0. Default 0.3. */
  readonly cold?: number;
  /** Packets per slot at line rate; above 0. Default 20. */
  readonly lineRate?: number;
  /** Longest queue in microseconds; above 0. Default 1000. */
  readonly capUs?: number;
  /** Default 1. */
  readonly seed?: number | string;
}

function positive(name: string, value: number): number {
  if (!(value > 0 && Number.isFinite(value))) throw new RangeError(`${name} must be a number above 0, not ${value}`);
  return value;
}

/**
 * Simulates one queue under bursts for `slots` slots. Yields the occupancy in microseconds that each packet finds on
 * its arrival. Packets of a slot are evenly spaced; a fraction of a packet carries over to the next slot. @throws
 * RangeError for parameters out of range
 */
export function* burstQueue(
  workload: WorkloadName | Workload,
  options: BurstQueueOptions,
): Generator<number, void, undefined> {
  const process = new BurstProcess(workloadOf(workload), new Random(options.seed ?? 1).derive('burst-queue'));
  const slots = positive('slots', options.slots);
  const hotRate = positive('hot', options.hot ?? HOT_RATE);
  const coldRate = positive('cold', options.cold ?? COLD_RATE);
  const lineRate = positive('lineRate', options.lineRate ?? PACKETS_PER_SLOT);
  const capUs = positive('capUs', options.capUs ?? QUEUE_CAP_US);
  const slotUs = SLOT_NS / 1000;

  let occupancy = 0;
  let rest = 0;
  for (let slot = 0; slot < slots; slot++) {
    const rate = process.next() ? hotRate : coldRate;
    const due = rest + rate * lineRate;
    const packets = Math.floor(due + 1e-9);
    rest = Math.max(0, due - packets);
    const growth = (rate - 1) * slotUs;
    const step = packets === 0 ? 0 : growth / packets;
    for (let i = 0; i < packets; i++) {
      yield occupancy;
      occupancy = Math.min(capUs, Math.max(0, occupancy + step));
    }
    if (packets === 0) occupancy = Math.min(capUs, Math.max(0, occupancy + growth));
  }
}
