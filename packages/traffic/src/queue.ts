/** A fluid model of an egress port's queue: its length, its link's utilisation, and its losses. */
import type { Random } from '@int/random';
import { BurstProcess, COLD_RATE, HOT_RATE, hotShare, QUEUE_CAP_US, SLOT_NS, type Workload } from './workload.js';

/** Episodes of overload that are longer than a burst, as by an incast or an elephant flow. */
export interface EpisodeOptions {
  /** Arrival rate during an episode, in line rates; above 1. */
  readonly rate: number;
  /** Mean time from the end of an episode to the start of the next, in nanoseconds. */
  readonly everyNs: number;
  /** Mean length of an episode, in nanoseconds. */
  readonly lengthNs: number;
}

/** Options of a {@link FluidQueue}. */
export interface FluidQueueOptions {
  readonly workload: Workload;
  /** Arrival rate in a hot slot, in line rates. Default 1.5. */
  readonly hotRate?: number;
  /** Arrival rate in a cold slot, in line rates. Default 0.3. */
  readonly coldRate?: number;
  /** Longest queue, in nanoseconds of line rate. Default 1,000,000. */
  readonly capNs?: number;
  /** Default: none. */
  readonly episodes?: EpisodeOptions | null;
}

/** Time constant of the utilisation's moving average: four slots. */
const UTILIZATION_WINDOW_NS = 100_000;

/** After a longer time without an access, the queue leaps to this long before the access. */
const LEAP_NS = 4_000_000;
const WARM_UP_NS = 2_000_000;
/** Mean load up to which the queue empties so often that after the warm-up its earlier state has no effect. */
const LIGHT_LOAD = 0.8;

/** An exponential moving average after `dt` nanoseconds of `target`. */
function relax(average: number, target: number, dt: number): number {
  // e^-40 is below the resolution of a double, so no exponential is needed after a long rest.
  if (dt > 40 * UTILIZATION_WINDOW_NS) return target;
  return target + (average - target) * Math.exp(-dt / UTILIZATION_WINDOW_NS);
}

/**
 * A fluid queue driven by a {@link BurstProcess} and optional episodes of overload. Empty at time 0.
 *
 * Time is in nanoseconds from the start. {@link advance} goes forward; then the other methods give values for times
 * within the current segment. They compute these from the segment's start, so they do not change the queue.
 *
 * After 4 ms without an access the queue leaps: the burst process to its exact distribution 2 ms before the access,
 * with an empty queue there. So the cost of a port depends on its use. Queues with episodes, or with a mean load above
 * 0.8, never leap.
 */
export class FluidQueue {
  readonly #bursts: BurstProcess;
  readonly #random: Random;
  readonly #hotRate: number;
  readonly #coldRate: number;
  readonly #capNs: number;
  readonly #episodes: EpisodeOptions | null;
  readonly #leaps: boolean;
  #burstEnd: number;
  #episodeEnd = Number.POSITIVE_INFINITY;
  #startNs = 0;
  #startDelay = 0;
  #startUtilization: number;
  /** End of the present segment (excluded). */
  endNs: number;
  /** Arrival rate of the present segment, in line rates. */
  rate: number;
  /** Whether an episode of overload is active. */
  congested = false;

  constructor(random: Random, options: FluidQueueOptions) {
    this.#random = random.derive('episodes');
    this.#bursts = new BurstProcess(options.workload, random.derive('bursts'));
    this.#hotRate = options.hotRate ?? HOT_RATE;
    this.#coldRate = options.coldRate ?? COLD_RATE;
    this.#capNs = options.capNs ?? QUEUE_CAP_US * 1000;
    this.#episodes = options.episodes ?? null;
    const share = hotShare(options.workload);
    this.#leaps = this.#episodes === null && share * this.#hotRate + (1 - share) * this.#coldRate <= LIGHT_LOAD;
    this.#burstEnd = this.#bursts.turn() * SLOT_NS;
    if (this.#episodes !== null) this.#episodeEnd = 1 + Math.floor(this.#random.exponential(this.#episodes.everyNs));
    this.rate = this.#bursts.hot ? this.#hotRate : this.#coldRate;
    this.endNs = Math.min(this.#burstEnd, this.#episodeEnd);
    this.#startUtilization = Math.min(1, this.rate);
  }

  /** Goes forward until `timeNs` lies before the end of the present segment. Never goes back. */
  advance(timeNs: number): void {
    if (this.#leaps && timeNs - this.endNs > LEAP_NS) this.#leap(timeNs - WARM_UP_NS);
    while (timeNs >= this.endNs) this.#turn();
  }

  #leap(timeNs: number): void {
    const slots = Math.floor((timeNs - this.#burstEnd) / SLOT_NS);
    this.#startNs = this.#burstEnd + slots * SLOT_NS;
    this.#burstEnd = this.#startNs + this.#bursts.leap(slots) * SLOT_NS;
    this.endNs = this.#burstEnd;
    this.rate = this.#bursts.hot ? this.#hotRate : this.#coldRate;
    this.#startDelay = 0;
    this.#startUtilization = Math.min(1, this.rate);
  }

  #turn(): void {
    const now = this.endNs;
    const delay = this.delayNs(now);
    const utilization = this.utilization(now);
    if (now === this.#burstEnd) this.#burstEnd = now + this.#bursts.turn() * SLOT_NS;
    if (now === this.#episodeEnd && this.#episodes !== null) {
      this.congested = !this.congested;
      const mean = this.congested ? this.#episodes.lengthNs : this.#episodes.everyNs;
      this.#episodeEnd = now + 1 + Math.floor(this.#random.exponential(mean));
    }
    this.#startNs = now;
    this.#startDelay = delay;
    this.#startUtilization = utilization;
    this.endNs = Math.min(this.#burstEnd, this.#episodeEnd);
    this.rate = this.#bursts.hot ? this.#hotRate : this.#coldRate;
    if (this.congested && this.#episodes !== null && this.#episodes.rate > this.rate) this.rate = this.#episodes.rate;
  }

  /** Queueing delay of an arrival at `timeNs`, in nanoseconds: 0 to the cap. */
  delayNs(timeNs: number): number {
    const delay = this.#startDelay + (this.rate - 1) * (timeNs - this.#startNs);
    return delay <= 0 ? 0 : Math.min(delay, this.#capNs);
  }

  /** Share of the arrivals at `timeNs` that is lost: (rate - 1) / rate while the queue is full, otherwise 0. */
  lossShare(timeNs: number): number {
    return this.rate > 1 && this.delayNs(timeNs) >= this.#capNs ? 1 - 1 / this.rate : 0;
  }

  /** Share of the line rate in use, 0 to 1: a moving average over 100 us. */
  utilization(timeNs: number): number {
    const dt = timeNs - this.#startNs;
    if (this.rate >= 1) return relax(this.#startUtilization, 1, dt);
    // The link is busy while the queue drains, whatever the arrival rate.
    const busy = this.#startDelay / (1 - this.rate);
    if (dt <= busy) return relax(this.#startUtilization, 1, dt);
    return relax(relax(this.#startUtilization, 1, busy), this.rate, dt - busy);
  }
}
