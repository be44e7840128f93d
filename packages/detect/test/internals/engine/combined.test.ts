import { AcceleratorMemory, TelemetryBatch } from '@int/codec';
import { acceleratorAvailable } from '@int/codec/internals';
import { Detector, EventBatch, type IdRange, type Match, type Rule, type RuleSet } from '@int/detect';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../../../.ci/test/length.js';
import { eventAt, isSameEvent } from '../../engine/compare.js';
import { fillBatch } from '../../reference/fill-batch.js';
import { Random } from '../../reference/random.js';
import { matches, ReferenceDetector, type ReferenceEvent, type ReferenceReport } from '../../reference/reference.js';
import { SEED } from '../../seed.js';
import { ReportSource, randomRules } from '../reference/reports.js';

const BATCH = 300;
const BATCHES = 6;
const HOPS = BATCH * 14;

/** `decide: all` a second time: a detector for each rule, which knows no other. */
class ReferenceOfAll {
  readonly totals = { reports: 0, survivors: 0, events: 0 };
  readonly #parts: readonly { readonly rule: Rule; readonly detector: ReferenceDetector }[];
  readonly #isReport: boolean;

  constructor({ rules, default: otherwise }: RuleSet, sizes: ConstructorParameters<typeof ReferenceDetector>[1]) {
    this.#parts = [...rules]
      .sort((a, b) => b.priority - a.priority)
      .map((rule) => ({
        rule,
        detector: new ReferenceDetector({ rules: [rule], default: 'drop', adapt: null }, sizes),
      }));
    this.#isReport = otherwise === 'report';
  }

  detect(report: ReferenceReport): ReferenceEvent[] {
    const found = this.#parts.filter(({ rule }) => matches(rule.match, report));
    const number = this.totals.reports++;
    const events = found
      .flatMap(({ detector }) => detector.detect(report))
      .map((each) => ({ ...each, report: number }));
    if (found.length === 0 && this.#isReport) {
      const reporter = new ReferenceDetector({ rules: [], default: 'report', adapt: null });
      events.push(...reporter.detect(report).map((each) => ({ ...each, report: number })));
    }
    this.totals.events += events.length;
    if (events.length > 0) this.totals.survivors++;
    return events;
  }
}

function randomRanges(random: Random, values: readonly number[]): IdRange[] {
  return Array.from({ length: 1 + random.below(2) }, () => {
    const from = random.pick(values);
    return { from, to: Math.min(0xffffffff, from + random.pick([0, 0, 1, 5])) };
  });
}

const GROUPS = [
  [{ version: 4, words: [0x0a000000], length: 16 }],
  [
    { version: 4, words: [0xc0a80000], length: 16 },
    { version: 6, words: [0x20010db8, 0, 0, 0], length: 32 },
  ],
] as const;

function withMore(match: Match, random: Random): Match {
  const ranges = (values: readonly number[]): IdRange[] | null =>
    random.chance(0.4) ? randomRanges(random, values) : null;
  const hops = {
    switches: ranges([0, 1, 2, 3, 4096, 0x80000001]),
    queues: ranges([0, 1, 20, 63]),
    egressInterfaces: ranges([0, 3, 30]),
  };
  const hasSource = match.source !== null;
  return {
    ...match,
    ...(Object.values(hops).some((each) => each !== null) && { hops }),
    ...(random.chance(0.15) && { dscp: randomRanges(random, [0, 8, 46]) }),
    ...(random.chance(0.2) && !hasSource && { sourceGroup: random.pick(GROUPS) }),
    ...(random.chance(0.2) && { group: random.pick(GROUPS) }),
  };
}

function holdAgainst(seed: number, decide: 'first' | 'all', memory: AcceleratorMemory | undefined): number {
  const random = new Random(seed);
  const plain = randomRules(random);
  const rules: RuleSet = {
    ...plain,
    decide,
    rules: plain.rules.map((rule) => (random.chance(0.7) ? { ...rule, match: withMore(rule.match, random) } : rule)),
  };
  const sizes = { flowCells: random.pick([7, 64, 1000]), switchCells: random.pick([3, 16, 4096]), positions: 3 };
  const detector = new Detector(rules, { ...sizes, ...(memory && { memory }) });
  const reference = decide === 'all' ? new ReferenceOfAll(rules, sizes) : new ReferenceDetector(rules, sizes);
  const batch = memory?.batch({ frames: BATCH, hops: HOPS }) ?? new TelemetryBatch({ frames: BATCH, hops: HOPS });
  const events = new EventBatch(256, memory?.arena);
  const source = new ReportSource(seed, { flows: random.pick([4, 64]) });
  let seen = 0;
  for (let turn = 0; turn < BATCHES; turn++) {
    const reports = source.take(BATCH).map((report) => ({ ...report, dscp: random.pick([0, 8, 46]) }));
    for (const report of reports) if (typeof report.sourceMac !== 'number') Object.assign(report, { dscp: null });
    fillBatch(batch, reports);
    const expected = reports.flatMap((report) => reference.detect(report));
    let at = 0;
    for (let row = 0; row < BATCH; ) {
      events.clear();
      row = detector.detect(batch, events, row, BATCH);
      for (let k = 0; k < events.count; k++, at++) {
        const found = eventAt(events, k, turn * BATCH, (slot) => detector.ruleName(slot));
        if (isSameEvent(found, expected[at])) continue;
        throw new Error(
          `seed ${seed}: ${JSON.stringify(found)} instead of ${JSON.stringify(expected[at])}\nrules: ${JSON.stringify(rules)}`,
        );
      }
    }
    if (at !== expected.length) throw new Error(`seed ${seed}: missed ${JSON.stringify(expected[at])}`);
    seen += at;
  }
  const { reports, survivors, events: written } = detector.totals();
  const { totals } = reference;
  expect({ reports, survivors, events: written }).toEqual({
    reports: totals.reports,
    survivors: totals.survivors,
    events: totals.events,
  });
  return seen;
}

describe.each(['first', 'all'] as const)('decide: %s, with hops, DSCP and groups', (decide) => {
  it.each([false, true])('agrees with the plain second implementation (accelerator: %s)', (isAccelerated) => {
    const count = runs(60);
    let seen = 0;
    for (let k = 0; k < count; k++) {
      const memory = isAccelerated && acceleratorAvailable() ? new AcceleratorMemory(64 << 20) : undefined;
      seen += holdAgainst(SEED + k, decide, memory);
    }
    expect(seen).toBeGreaterThan(count * 100);
  });
});
