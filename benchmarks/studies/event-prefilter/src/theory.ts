/**
 * What the queue and the difference detectors do in the long run, computed exactly and not by simulation.
 *
 * Every step of the fluid queue is a multiple of one small unit of time, so the queue moves on a lattice, and the
 * queue together with the value last reported is a finite Markov chain. It starts afresh with every busy period: all that
 * one hands to the next is the value last reported. So it is enough to follow one busy period for each such value, and
 * then to chain busy periods together.
 */
import type { Workload } from '@int/traffic';
import { COLD_RATE, PACKETS_PER_SLOT, QUEUE_CAP_US, SLOT_NS } from '@int/traffic/internals';

/** The queue in whole units. */
interface Lattice {
  /** One unit in microseconds. */
  readonly unitUs: number;
  /** Units the queue grows with each packet of a hot slot, shrinks with each of a cold one, and may have at most. */
  readonly rise: number;
  readonly fall: number;
  readonly cap: number;
  /** Packets of a hot and of a cold slot. */
  readonly hotPackets: number;
  readonly coldPackets: number;
}

/** Units in a microsecond are looked for up to here. */
const FINEST = 1000;
/** Ways through a busy period that are less likely than this are left out. */
const NEGLIGIBLE = 1e-13;

function divisor(a: number, b: number): number {
  return b === 0 ? a : divisor(b, a % b);
}

/** @throws RangeError for a rate that gives no whole number of packets a slot or no lattice */
function latticeOf(hot: number): Lattice {
  const slotUs = SLOT_NS / 1000;
  const hotPackets = Math.round(hot * PACKETS_PER_SLOT);
  const coldPackets = Math.round(COLD_RATE * PACKETS_PER_SLOT);
  const sizes = [((hot - 1) * slotUs) / hotPackets, ((1 - COLD_RATE) * slotUs) / coldPackets, QUEUE_CAP_US];
  const isWhole = (value: number): boolean => Math.abs(value - Math.round(value)) < 1e-9;
  if (hot <= 1 || !isWhole(hot * PACKETS_PER_SLOT)) throw new RangeError(`no whole packets a slot at rate ${hot}`);
  for (let perUs = 1; perUs <= FINEST; perUs++) {
    const units = sizes.map((size) => size * perUs);
    if (!units.every(isWhole)) continue;
    const [rise, fall, cap] = units.map(Math.round) as [number, number, number];
    const common = divisor(divisor(rise, fall), cap);
    return {
      unitUs: common / perUs,
      rise: rise / common,
      fall: fall / common,
      cap: cap / common,
      hotPackets,
      coldPackets,
    };
  }
  throw new RangeError(`no lattice for rate ${hot}`);
}

/** What happens from the first hot slot on until the queue is empty and the detector has nothing more to say. */
interface BusyPeriod {
  readonly slots: number;
  readonly packets: number;
  readonly events: number;
  readonly sum: number;
  /** Probability of each value last reported at the end. */
  readonly ends: ReadonlyMap<number, number>;
}

/** Exact expectations. */
export interface Expectation {
  /** Share of the packets that raise an event, over a trace of so many slots that begins with an empty queue. */
  readonly fraction: number;
  /** Mean of what the packets find, in microseconds, in the long run. */
  readonly meanQueueUs: number;
  /** Packets a slot in the long run. */
  readonly packetsPerSlot: number;
}

/** Probabilities of states, and which of them are not 0. */
class Distribution {
  readonly probability: Float64Array;
  readonly states: Int32Array;
  size = 0;

  constructor(length: number) {
    this.probability = new Float64Array(length);
    this.states = new Int32Array(length);
  }

  add(state: number, probability: number): void {
    if (this.probability[state] === 0) this.states[this.size++] = state;
    this.probability[state]! += probability;
  }

  clear(): void {
    for (let k = 0; k < this.size; k++) this.probability[this.states[k]!] = 0;
    this.size = 0;
  }
}

/**
 * The queue at the ends of slots together with the value last reported. A state is a queue, in steps of `grain`, and how
 * far the value last reported is above it: never further below or above than `reach`.
 */
class Chain {
  readonly lattice: Lattice;
  readonly #limit: number;
  readonly #grain: number;
  readonly #reach: number;
  readonly #span: number;
  /** For each state and a cold or a hot slot: the state at its end, or -1 if not yet known; events; sum of what the packets find. */
  readonly #ends: Int32Array;
  readonly #events: Int32Array;
  readonly #sums: Float64Array;
  readonly #distributions: readonly Distribution[];

  readonly #workload: Workload;
  constructor(workload: Workload, hot: number, thresholdUs: number) {
    this.#workload = workload;
    this.lattice = latticeOf(hot);
    const { unitUs, rise, fall, cap, hotPackets, coldPackets } = this.lattice;
    // An event is a difference above the threshold; the lattice may lie exactly on it.
    this.#limit = Math.min(cap, Math.floor(thresholdUs / unitUs + 1e-9));
    this.#grain = divisor(divisor(hotPackets * rise, coldPackets * fall), cap);
    this.#reach = this.#limit + Math.max(rise, fall);
    this.#span = 2 * this.#reach + 1;
    const states = (cap / this.#grain + 1) * this.#span;
    this.#ends = new Int32Array(2 * states).fill(-1);
    this.#events = new Int32Array(2 * states);
    this.#sums = new Float64Array(2 * states);
    this.#distributions = Array.from({ length: 4 }, () => new Distribution(states));
  }

  #state(level: number, reported: number): number {
    return (level / this.#grain) * this.#span + reported - level + this.#reach;
  }

  /** Notes what a slot makes of a state. */
  #run(state: number, isHot: boolean): void {
    const { cap, rise, fall, hotPackets, coldPackets } = this.lattice;
    let level = Math.floor(state / this.#span) * this.#grain;
    let reported = level + (state % this.#span) - this.#reach;
    const at = 2 * state + (isHot ? 1 : 0);
    for (let packet = isHot ? hotPackets : coldPackets; packet > 0; packet--) {
      this.#sums[at]! += level;
      if (Math.abs(level - reported) > this.#limit) {
        reported = level;
        this.#events[at]!++;
      }
      level = isHot ? Math.min(cap, level + rise) : Math.max(0, level - fall);
    }
    this.#ends[at] = this.#state(level, reported);
  }

  /** Follows all ways through a busy period that begins with this value last reported. */
  busyPeriod(reported: number): BusyPeriod {
    const { hotAfterHot, hotAfterCold } = this.#workload;
    const { hotPackets, coldPackets } = this.lattice;
    const total = { slots: 0, packets: 0, events: 0, sum: 0 };
    const left = new Map<number, number>();
    // States of queue 0 that raise nothing while it stays empty: what comes next only knows the value last reported.
    const firstQuiet = this.#reach;
    const lastQuiet = this.#reach + this.#limit;
    let [cold, hot, nextCold, nextHot] = this.#distributions as [
      Distribution,
      Distribution,
      Distribution,
      Distribution,
    ];
    for (const distribution of this.#distributions) distribution.clear();
    hot.add(this.#state(0, reported), 1);
    while (cold.size + hot.size > 0) {
      for (const isHot of [false, true]) {
        const { states, size, probability: probabilities } = isHot ? hot : cold;
        const stay = isHot ? hotAfterHot : hotAfterCold;
        for (let k = 0; k < size; k++) {
          const state = states[k]!;
          const probability = probabilities[state]!;
          if (probability < NEGLIGIBLE) continue;
          const at = 2 * state + (isHot ? 1 : 0);
          if (this.#ends[at] === -1) this.#run(state, isHot);
          const end = this.#ends[at]!;
          total.slots += probability;
          total.packets += probability * (isHot ? hotPackets : coldPackets);
          total.events += probability * this.#events[at]!;
          total.sum += probability * this.#sums[at]!;
          if (!isHot && end >= firstQuiet && end <= lastQuiet) {
            const value = end - this.#reach;
            left.set(value, (left.get(value) ?? 0) + probability);
          } else {
            nextHot.add(end, probability * stay);
            nextCold.add(end, probability * (1 - stay));
          }
        }
      }
      cold.clear();
      hot.clear();
      [cold, hot, nextCold, nextHot] = [nextCold, nextHot, cold, hot];
    }
    return { ...total, ends: left };
  }
}

/** Sum of the first `count` terms of start, start K, start K^2, ... each times `gain`, by doubling. */
function accumulate(steps: readonly (readonly number[])[], gain: readonly number[], count: number): number {
  const size = gain.length;
  let power = steps.map((row) => [...row]);
  let doubled = [...gain];
  let done = new Array<number>(size).fill(0);
  const apply = (matrix: readonly (readonly number[])[], vector: readonly number[]): number[] =>
    matrix.map((row) => row.reduce((sum, value, k) => sum + value * vector[k]!, 0));
  for (let rest = count; rest >= 1; rest = Math.floor(rest / 2)) {
    if (rest % 2 === 1) {
      const moved = apply(power, done);
      done = doubled.map((value, k) => value + moved[k]!);
    }
    const moved = apply(power, doubled);
    doubled = doubled.map((value, k) => value + moved[k]!);
    const columns = power.map((_, k) => power.map((row) => row[k]!));
    power = power.map((row) => columns.map((column) => row.reduce((sum, value, k) => sum + value * column[k]!, 0)));
  }
  return done[0]!;
}

/**
 * Exact expectations for the detector perFlow (or perHop, with one hop) over one queue.
 *
 * @param hot arrival rate of a hot slot in line rates; 20 times it must be whole
 * @param thresholdUs in microseconds, at least 0
 * @param slots of the trace
 */
export function expectation(workload: Workload, hot: number, thresholdUs: number, slots: number): Expectation {
  const chain = new Chain(workload, hot, thresholdUs);
  // The values that can be left over from a busy period, from 0 on, in the order they are met.
  const values = [0];
  const periods: BusyPeriod[] = [];
  for (let k = 0; k < values.length; k++) {
    const period = chain.busyPeriod(values[k]!);
    periods.push(period);
    for (const value of period.ends.keys()) if (!values.includes(value)) values.push(value);
  }
  const { unitUs, coldPackets } = chain.lattice;
  const idleSlots = (1 - workload.hotAfterCold) / workload.hotAfterCold;
  const steps = periods.map(({ ends }) => values.map((value) => ends.get(value) ?? 0));
  const cycles = Math.max(1, Math.round(slots / (periods[0]!.slots + idleSlots)));
  const over = (gain: (period: BusyPeriod) => number): number => accumulate(steps, periods.map(gain), cycles);
  const allSlots = over((period) => period.slots + idleSlots);
  const allPackets = over((period) => period.packets + idleSlots * coldPackets);
  return {
    fraction: over((period) => period.events) / allPackets,
    meanQueueUs: (over((period) => period.sum) * unitUs) / allPackets,
    packetsPerSlot: allPackets / allSlots,
  };
}
