/** A filter in the kernel: what a report that comes in costs with it and without, by the share that is an event. */
import { fitLine, median } from '../decode/statistics.js';
import { bearableRate, loss, type Passage, pass } from './measure.js';
import type { Receiver } from './programs.js';
import { type Bench, DRIVER_RATES, ours, startWarm, type Target } from './speed.js';
import { COMMON, templateOf } from './template.js';

/**
 * How the kernel keeps what it knows of switches: cells as in a data plane, or exact keys; bare: it does not count by
 * switch what it filters.
 */
export const FILTERS = ['none', 'array', 'array-bare', 'hash', 'hash-bare'] as const;
export type Filter = (typeof FILTERS)[number];
const WORKS = ['decode', 'message'] as const;

/** A path's value changes after so many reports: 0.1, 1, 10 and 50 % have an event. */
const PERIODS: readonly number[] = [1000, 100, 10, 2];

export interface FilterCosts {
  readonly work: (typeof WORKS)[number];
  readonly filter: Filter;
  /** Share of the reports that were sent as events, and that the filter passed on; `null` without one. */
  readonly share: number;
  readonly passed: number[];
  /** Nanoseconds for each report that came in. */
  readonly kernelNs: number[];
  readonly receiverNs: number[];
  readonly totalNs: number[];
  readonly lost: number[];
}

export interface Filtering {
  readonly rate: number;
  readonly costs: readonly FilterCosts[];
}

function filtersOf({ isShort }: Bench): readonly Filter[] {
  return isShort ? ['none', 'array'] : FILTERS;
}

function periodsOf({ isShort }: Bench): readonly number[] {
  return isShort ? [100, 10] : PERIODS;
}

const start = (bench: Bench, filter: Filter, work: string, rate: number): Promise<Receiver> =>
  startWarm(bench, ours(bench.cable, 'driver', 'sleep', filter), work, rate);

/** @param rate frames a second that receiving without a filter bears */
export async function measureFiltering(bench: Bench, rate: number): Promise<Filtering> {
  const { cable, sender, rounds, duration, isShort } = bench;
  sender.use(templateOf(COMMON, cable));
  let bearable = rate;
  if (!isShort) {
    const receiver = await start(bench, 'hash', 'message', rate);
    bearable = await bearableRate(cable, receiver, sender, { most: rate, least: DRIVER_RATES.least });
    await receiver.stop();
  }
  const costs: FilterCosts[] = WORKS.flatMap((work) =>
    filtersOf(bench).flatMap((filter) =>
      periodsOf(bench).map((period) => ({
        work,
        filter,
        share: 1 / period,
        passed: [],
        kernelNs: [],
        receiverNs: [],
        totalNs: [],
        lost: [],
      })),
    ),
  );
  const frames = Math.ceil(bearable * duration);
  for (let round = 0; round < rounds; round++) {
    for (const work of WORKS) {
      for (const filter of filtersOf(bench)) {
        const receiver = await start(bench, filter, work, bearable);
        for (const period of periodsOf(bench)) {
          // Brings the filter's state to where it stays.
          await pass(cable, receiver, sender, { frames: 20_000, rate: bearable, period });
          const passage = await pass(cable, receiver, sender, { frames, rate: bearable, period });
          const found = costs.find(
            (each) => each.work === work && each.filter === filter && each.share === 1 / period,
          )!;
          keep(found, passage);
        }
        await receiver.stop();
      }
    }
  }
  return { rate: bearable, costs };
}

function keep(costs: FilterCosts, passage: Passage): void {
  const { kernelNs, receiverNs, arrived, filter } = passage;
  if (filter !== null) costs.passed.push(filter.events / filter.reports);
  costs.kernelNs.push(kernelNs / arrived);
  costs.receiverNs.push(receiverNs / arrived);
  costs.totalNs.push((kernelNs + receiverNs) / arrived);
  costs.lost.push(loss(passage));
}

/** One form of the filter, for one kind of work. */
export interface BreakEven {
  readonly work: string;
  readonly filter: Filter;
  /** Share of events up to which the filter takes less than none; from 1 on (in JSON also `null`): always; below 0: never. */
  readonly share: number;
}

const total = ({ totalNs }: FilterCosts): number => median(totalNs);

function ofFilter({ costs }: Filtering, work: string, filter: Filter): FilterCosts[] {
  return costs.filter((each) => each.work === work && each.filter === filter);
}

function formsOf({ costs }: Filtering): Filter[] {
  return FILTERS.filter((filter) => filter !== 'none' && costs.some((each) => each.filter === filter));
}

export function breakEven(filtering: Filtering): BreakEven[] {
  return WORKS.flatMap((work) => {
    const without = median(ofFilter(filtering, work, 'none').map(total));
    return formsOf(filtering).map((filter) => {
      const line = fitLine(ofFilter(filtering, work, filter).map((each) => [each.share, total(each)] as const));
      const share = (without - line.a) / line.b;
      // A line that falls would cross from above: then what it starts with decides.
      return { work, filter, share: line.b > 0 ? share : line.a <= without ? Number.POSITIVE_INFINITY : -1 };
    });
  });
}

/** Up to one event in ten, never dearer than no filter: within the rounds, the median. */
export function filterTargets(filtering: Filtering): Target[] {
  return WORKS.flatMap((work) =>
    formsOf(filtering).map((filter) => {
      const ratios = ofFilter(filtering, work, filter)
        .filter(({ share }) => share <= 0.1)
        .map(({ share, totalNs }) => {
          const without = ofFilter(filtering, work, 'none').find((each) => each.share === share)!;
          return median(totalNs.map((ns, round) => ns / without.totalNs[round]!));
        });
      const value = Math.max(...ratios);
      return {
        what: `filter (${filter}) / no filter, ${work}, up to 10 % events, at most`,
        value,
        limit: 1,
        isMet: value <= 1,
      };
    }),
  );
}
