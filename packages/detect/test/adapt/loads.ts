import type { StatisticKind } from '@int/detect';
import { Random } from '@int/random';
import { SEED } from '../seed.js';

/** Milliseconds between two looks at the controller: virtual time. */
export const STEP_MS = 10;
const STEPS_PER_SECOND = 1000 / STEP_MS;

/** A stream of random numbers of its own for each test. */
export function randomOf(name: string): Random {
  return new Random(SEED).derive(name);
}

/** Draws the metric of the next report at a time in seconds. */
export type Draw = (seconds: number) => number;

export function exponential(random: Random, mean: number): Draw {
  return () => random.exponential(mean);
}
function normal(random: Random): number {
  return Math.sqrt(-2 * Math.log(1 - random.uniform())) * Math.cos(2 * Math.PI * random.uniform());
}
export function lognormal(random: Random, median: number, sigma: number): Draw {
  return () => median * Math.exp(sigma * normal(random));
}
export function pareto(random: Random, least: number, exponent: number): Draw {
  return () => least * (1 - random.uniform()) ** (-1 / exponent);
}
function uniform(random: Random, from: number, to: number): Draw {
  return () => from + (to - from) * random.uniform();
}
/** Few values: 0 to 7, each e^(-1/1.2) as frequent as the one before. */
export function digits(random: Random, unit = 1): Draw {
  return () => unit * Math.min(7, Math.floor(random.exponential(1.2)));
}

/** All distributions that have a density. */
export const DISTRIBUTIONS: Readonly<Record<string, (random: Random) => Draw>> = {
  exponential: (random) => exponential(random, 1000),
  lognormal: (random) => lognormal(random, 400, 1),
  Pareto: (random) => pareto(random, 500, 1.5),
  uniform: (random) => uniform(random, 0, 100_000),
  'narrow uniform': (random) => uniform(random, 1_000_000, 1_010_000),
};

/** A detector: the statistic of an event, or -1. */
export type Detect = (threshold: number, value: number) => number;

/** Detectors as they are defined, each on many flows or switches, one value a report. */
export const DETECTORS: Readonly<
  Record<string, { readonly kind: StatisticKind; readonly make: (random: Random) => Detect }>
> = {
  threshold: { kind: 'level', make: () => (threshold, value) => (value > threshold ? value : -1) },
  change: {
    kind: 'level',
    make: (random) => {
      const previous = new Float64Array(1000);
      return (threshold, value) => {
        const flow = random.integer(1000);
        const difference = Math.abs(value - previous[flow]!);
        previous[flow] = value;
        return difference > threshold ? difference : -1;
      };
    },
  },
  perFlow: { kind: 'difference', make: (random) => reported(random, 1000) },
  perHop: { kind: 'difference', make: (random) => reported(random, 16) },
  movingAverage: {
    kind: 'difference',
    make: (random) => {
      const scaled = new Float64Array(1000);
      const last = new Float64Array(1000);
      return (threshold, value) => {
        const flow = random.integer(1000);
        scaled[flow] = scaled[flow]! + value - Math.floor(scaled[flow]! / 8);
        const average = Math.floor(scaled[flow]! / 8);
        const difference = Math.abs(average - last[flow]!);
        if (difference <= threshold) return -1;
        last[flow] = average;
        return difference;
      };
    },
  },
  /** The hardest for a model: values walk slowly, so an event is hardly above its threshold. */
  'perFlow on random walks': {
    kind: 'difference',
    make: (random) => {
      const position = new Float64Array(1000).fill(1_000_000);
      const last = new Float64Array(1000).fill(1_000_000);
      return (threshold, value) => {
        const flow = random.integer(1000);
        position[flow] = Math.abs(position[flow]! + (random.uniform() < 0.5 ? -value : value));
        const difference = Math.abs(position[flow]! - last[flow]!);
        if (difference <= threshold) return -1;
        last[flow] = position[flow]!;
        return difference;
      };
    },
  },
};

function reported(random: Random, cells: number): Detect {
  const last = new Float64Array(cells);
  return (threshold, value) => {
    const cell = random.integer(cells);
    const difference = Math.abs(value - last[cell]!);
    if (difference <= threshold) return -1;
    last[cell] = value;
    return difference;
  };
}

/** Number of Poisson arrivals, by the normal approximation. */
export function arrivals(random: Random, mean: number): number {
  return mean <= 0 ? 0 : Math.max(0, Math.round(mean + Math.sqrt(mean) * normal(random)));
}

export interface Load {
  readonly random: Random;
  readonly seconds: number;
  /** Reports a second. */
  readonly reports: (seconds: number) => number;
  readonly draw: Draw;
  /** Factor on the metric. */
  readonly scale?: (seconds: number) => number;
  readonly detect: Detect;
}

/** What is under test: as much of a controller as a load touches. */
export interface Subject {
  threshold(member: 0): number;
  observe(member: 0, statistic: number): void;
  tick(nowMs: number, reports: number): unknown;
}

/** Runs a load on a controller in virtual time. Returns the events of each step of 10 ms. */
export function run(controller: Subject, load: Load, each?: (seconds: number) => void): Int32Array {
  const { random, seconds, reports, draw, scale, detect } = load;
  const steps = seconds * STEPS_PER_SECOND;
  const events = new Int32Array(steps);
  controller.tick(0, 0);
  for (let step = 0; step < steps; step++) {
    const at = step / STEPS_PER_SECOND;
    const count = arrivals(random, reports(at) / STEPS_PER_SECOND);
    const factor = scale === undefined ? 1 : scale(at);
    const threshold = controller.threshold(0);
    let raised = 0;
    for (let i = 0; i < count; i++) {
      const value = Math.floor(draw(at + i / count / STEPS_PER_SECOND) * factor);
      const statistic = detect(threshold, value);
      if (statistic >= 0) {
        controller.observe(0, statistic);
        raised++;
      }
    }
    events[step] = raised;
    controller.tick((step + 1) * STEP_MS, count);
    each?.((step + 1) / STEPS_PER_SECOND);
  }
  return events;
}

function inWindow(events: Int32Array, start: number): number {
  let sum = 0;
  for (let i = 0; i < STEPS_PER_SECOND; i++) sum += events[start + i]!;
  return sum;
}

/** Fraction of 1 s windows, one starting every 50 ms, whose events are within 10 % of `target`. */
export function heldFraction(events: Int32Array, target: number, fromSecond = 1, toSecond?: number): number {
  const end = (toSecond ?? events.length / STEPS_PER_SECOND) * STEPS_PER_SECOND;
  let held = 0;
  let all = 0;
  for (let start = fromSecond * STEPS_PER_SECOND; start + STEPS_PER_SECOND <= end; start += 5) {
    if (Math.abs(inWindow(events, start) / target - 1) <= 0.1) held++;
    all++;
  }
  return held / all;
}

/** Seconds from a step of the load until the first 1 s window from which on all of the next 5 s are within 10 %. */
export function recoverySeconds(events: Int32Array, target: number, step: number): number {
  const first = step * STEPS_PER_SECOND;
  let recovered = first;
  for (let start = first; start < first + 5 * STEPS_PER_SECOND && start + STEPS_PER_SECOND <= events.length; start++) {
    if (Math.abs(inWindow(events, start) / target - 1) > 0.1) recovered = start + 1;
  }
  return (recovered - first) / STEPS_PER_SECOND;
}

/** Mean events a second from one second to another. */
export function meanRate(events: Int32Array, fromSecond: number, toSecond: number): number {
  let sum = 0;
  for (let i = fromSecond * STEPS_PER_SECOND; i < toSecond * STEPS_PER_SECOND; i++) sum += events[i]!;
  return sum / (toSecond - fromSecond);
}
