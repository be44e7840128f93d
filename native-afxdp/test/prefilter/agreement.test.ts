import {
  type Prefilter,
  type PrefilterCounts,
  type PrefilterOptions,
  planPrefilter,
  rulesBehind,
} from '@int/afxdp/prefilter';
import { Detector, type RuleSet } from '@int/detect';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { SEED } from '../seed.js';
import { calmReports, detector, mixedRules, reports, rules } from './arbitraries.js';
import { Finder, type StreamEvent } from './behind.js';
import { loadFilter } from './kernel.js';
import { KernelState } from './kernel-state.js';
import { frameOf, type Report } from './reports.js';
import { rule, ruleSet } from './rules.js';

/** Reports under one set of rules. */
interface Stretch {
  readonly rules: RuleSet;
  readonly reports: readonly Report[];
}

const NOTHING = new Uint8Array(0);
/** Detectors on this many metrics fit in: those of all rule sets of a stream. */
const METRICS = 17;
/** Room for all detectors on all metrics. */
const STATE_BYTES = 8 << 20;
const RUNS = process.env.INT_LONG === '1' ? 100 : 2;

/** Hops of reports that are dropped, by switch. */
class Hops {
  readonly bySwitch = new Map<number, number>();
  all = 0;
  readonly #cells: number;

  constructor(cells: number) {
    this.#cells = cells;
  }

  add({ hops, own, nodeId }: Report): void {
    const ids = [...hops.map((hop) => hop.nodeId ?? null), ...(own === undefined ? [] : [nodeId ?? null])];
    this.all += ids.length;
    for (const id of ids) {
      if (id !== null) this.bySwitch.set(id % this.#cells, (this.bySwitch.get(id % this.#cells) ?? 0) + 1);
    }
  }
}

const filters = new Map<string, Prefilter>();
afterAll(() => {
  for (const filter of filters.values()) filter.close();
});

/** A filter for all streams of the file: loading takes longer than all that follows. */
function filterFor(options: Omit<PrefilterOptions, 'rules'>): Prefilter {
  const key = JSON.stringify(options);
  const filter = filters.get(key) ?? loadFilter({ ...options, rules: ruleSet([]), metricsPerDetector: METRICS });
  filters.set(key, filter);
  return filter;
}

/** Kernel and detector side by side, from first sight on. */
function compare(stretches: readonly Stretch[], filter: Prefilter): void {
  const [{ rules: initial }] = stretches as [Stretch];
  new KernelState(filter).clear();
  const options = { ...filter.detectorOptions, stateBytes: STATE_BYTES };
  const all = new Finder(new Detector(initial, options));
  const behind = new Finder(new Detector(rulesBehind(initial), options));
  const before = filter.counts();
  const hops = new Hops(filter.detectorOptions.switchCells);
  let number = 0;
  for (const stretch of stretches) {
    filter.setRules(stretch.rules);
    all.detector.setRules(stretch.rules);
    behind.detector.setRules(rulesBehind(stretch.rules));
    number += compareStretch(stretch, filter, all, behind, number, hops);
  }
  checkCounts(stretches, before, filter.counts(), all.detector, hops);
}

function compareStretch(
  { rules: inForce, reports: list }: Stretch,
  filter: Prefilter,
  all: Finder,
  behind: Finder,
  first: number,
  hops: Hops,
): number {
  const frames = list.map((report, index) => ({ number: first + index, bytes: frameOf(report), meta: NOTHING }));
  const expected = all.find(frames, null);
  const runs = frames.map(({ bytes }) => filter.run(bytes));
  const passed = frames.flatMap((frame, index) => {
    const { action, meta } = runs[index]!;
    return action === 'drop' ? [] : [{ ...frame, meta }];
  });
  expect(behind.find(passed, filter)).toEqual(expected);
  const byReport = new Map<number, StreamEvent[]>();
  for (const event of expected) byReport.set(event.report, [...(byReport.get(event.report) ?? []), event]);
  const { rules: order } = planPrefilter(inForce);
  for (const [index, { verdict }] of runs.entries()) {
    const events = byReport.get(first + index) ?? [];
    // What the kernel hands on for an event has one, and the verdict says which.
    const [event] = events;
    if (verdict === null) {
      expect(events).toEqual([]);
      hops.add(list[index]!);
    } else if (verdict.outcome === 'event') {
      expect({ ...verdict, rule: verdict.rule === null ? null : order[verdict.rule]!.rule.name }).toMatchObject({
        rule: event?.rule,
        detector: event?.detector,
        events: events.length,
        hop: event?.hop,
        nodeId: event?.nodeId,
        value: event?.value,
        previous: event?.previous,
        threshold: event?.threshold,
      });
      expect(filter.ruleName(verdict)).toBe(event?.rule);
    } else {
      expect(verdict.outcome).toBe('handedOn');
      expect(order[verdict.rule ?? -1]?.inKernel).toBe(false);
    }
  }
  return list.length;
}

/** What the filter has counted of some reports. */
function checkCounts(
  stretches: readonly Stretch[],
  before: PrefilterCounts,
  after: PrefilterCounts,
  full: Detector,
  hops: Hops,
): void {
  const since = (name: Exclude<keyof PrefilterCounts, 'bySwitch'>): number => after[name] - before[name];
  const sent = stretches.reduce((sum, { reports: list }) => sum + list.length, 0);
  expect(since('passed') + since('reports') + since('undecided')).toBe(sent);
  expect(since('events') + since('handedOn') + since('filtered')).toBe(since('reports'));
  expect(['passed', 'undecided', 'stateFull', 'withoutVerdict'].map((name) => since(name as 'passed'))).toEqual([
    0, 0, 0, 0,
  ]);
  expect(since('noSocket')).toBe(since('events') + since('handedOn'));
  expect(since('filteredHops')).toBe(hops.all);
  const bySwitch = [...after.bySwitch].map(([cell, count]) => [cell, count - (before.bySwitch.get(cell) ?? 0)]);
  expect(Object.fromEntries(bySwitch.filter(([, count]) => count !== 0))).toEqual(Object.fromEntries(hops.bySwitch));
  if (since('handedOn') === 0) expect(since('events')).toBe(full.totals().survivors);
}

const stretches = (length: number): fc.Arbitrary<Stretch[]> =>
  fc.array(fc.record({ rules, reports: reports(20, length) }), { minLength: 1, maxLength: 4 });
/** Numbers of cells with and without a mask for the remainder; few, so that flows and switches share them. */
const CELLS = [
  { flowCells: 1, switchCells: 3 },
  { flowCells: 3, switchCells: 64 },
  { flowCells: 64, switchCells: 1 },
  { flowCells: 1000, switchCells: 8 },
] as const;

describe('the events of all reports are those behind the filter', () => {
  for (const kind of ['noop', 'perHop', 'perFlow', 'movingAverage', 'threshold'] as const) {
    test(`${kind}, one rule for all reports, arrays with collisions`, () => {
      const one = detector.filter((each) => each.kind === kind);
      for (const cells of CELLS) {
        const filter = filterFor(cells);
        fc.assert(
          fc.property(one, reports(30, 60), (config, list) => {
            compare([{ rules: ruleSet([rule('only', config)]), reports: list }], filter);
          }),
          { seed: SEED, numRuns: RUNS },
        );
      }
    });
  }

  test('sets of rules that are changed while it runs, arrays with collisions', () => {
    for (const cells of CELLS) {
      const filter = filterFor(cells);
      fc.assert(
        fc.property(stretches(40), (list) => compare(list, filter)),
        { seed: SEED, numRuns: RUNS },
      );
    }
  });

  test('rules of all kinds, of which the kernel runs those that it can, arrays with collisions', () => {
    const filter = filterFor({ flowCells: 2, switchCells: 3 });
    fc.assert(
      fc.property(mixedRules, calmReports(30, 60), (set, list) => compare([{ rules: set, reports: list }], filter)),
      { seed: SEED, numRuns: 10 * RUNS },
    );
  });

  test('the same in the hash form, with exact state behind it', () => {
    const filter = filterFor({ state: 'hash', flowCells: 4096, switchCells: 1024 });
    fc.assert(
      fc.property(stretches(40), (list) => compare(list, filter)),
      { seed: SEED, numRuns: 3 * RUNS },
    );
  });
});
