import { AcceleratorMemory, TelemetryBatch } from '@int/codec';
import { acceleratorAvailable } from '@int/codec/internals';
import { Detector, EventBatch } from '@int/detect';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../../../.ci/test/length.js';
import { eventAt, isSameEvent } from '../../engine/compare.js';
import { fillBatch } from '../../reference/fill-batch.js';
import { Random } from '../../reference/random.js';
import { ReferenceDetector, type ReferenceEvent } from '../../reference/reference.js';
import { SEED } from '../../seed.js';
import { ReportSource, randomRules, randomThreshold } from '../reference/reports.js';

/** Reports that a rule set is held against, in batches. */
const BATCH = 500;
const BATCHES = 10;
const HOPS = BATCH * 14;

/** Random rule sets, 5000 reports each, in each way of running. */
const RULE_SETS = runs(100);

interface Way {
  readonly name: string;
  readonly memory: AcceleratorMemory | undefined;
}

function describeEvent(event: ReferenceEvent | undefined): string {
  return event === undefined ? 'no event' : JSON.stringify(event);
}

/** Runs one random rule set, with changes on the way; throws at the first difference. */
function holdAgainstReference(seed: number, { memory }: Way, batch: TelemetryBatch, events: EventBatch): number {
  const random = new Random(seed);
  const sizes = {
    flowCells: random.pick([1, 7, 64, 1000, 4096]),
    switchCells: random.pick([1, 3, 16, 1000, 4096]),
    positions: random.pick([1, 3, 8]),
  };
  let rules = randomRules(random);
  const detector = new Detector(rules, { ...sizes, stateBytes: 16 << 20, ...(memory && { memory }) });
  const reference = new ReferenceDetector(rules, sizes);
  const source = new ReportSource(seed, { flows: random.pick([4, 64, 500]) });
  let seen = 0;
  for (let turn = 0; turn < BATCHES; turn++) {
    if (turn > 0 && random.chance(0.3)) {
      rules = random.chance(0.5) ? randomRules(random) : withOtherThresholds(rules, random);
      detector.setRules(rules);
      reference.setRules(rules);
    }
    const reports = source.take(BATCH);
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
          `seed ${seed}, report ${found.report}: ${describeEvent(found)} instead of ${describeEvent(expected[at])}\n` +
            `rules: ${JSON.stringify(rules)}\nsizes: ${JSON.stringify(sizes)}`,
        );
      }
    }
    if (at !== expected.length) throw new Error(`seed ${seed}: missed ${describeEvent(expected[at])}`);
    seen += at;
  }
  const { byRule: _, byDefault, notOk, aged, evicted, unmatched, untracked, untold, ...totals } = detector.totals();
  expect(totals).toEqual(reference.totals);
  expect({ notOk, aged, evicted, untracked, untold }).toEqual({
    ...{ notOk: 0, aged: 0, evicted: 0 },
    ...{ untracked: 0, untold: 0 },
  });
  return seen;
}

function withOtherThresholds(rules: ReturnType<typeof randomRules>, random: Random): typeof rules {
  return {
    ...rules,
    rules: rules.rules.map((rule) =>
      'threshold' in rule.detector
        ? { ...rule, detector: { ...rule.detector, threshold: randomThreshold(random) } }
        : rule,
    ),
  };
}

function waysToRun(): Way[] {
  const ways: Way[] = [{ name: 'plain TypeScript', memory: undefined }];
  if (acceleratorAvailable()) ways.push({ name: 'the WebAssembly accelerator', memory: undefined });
  return ways;
}

describe('register state', () => {
  it.each(waysToRun())('agrees with the plain second implementation on random reports: $name', (way) => {
    const isAccelerator = way.name !== 'plain TypeScript';
    let memory: AcceleratorMemory | undefined;
    let batch = new TelemetryBatch({ frames: BATCH, hops: HOPS });
    let events = new EventBatch(256);
    let seen = 0;
    for (let k = 0; k < RULE_SETS; k++) {
      if (isAccelerator && (memory === undefined || memory.free < 64 << 20)) {
        memory = new AcceleratorMemory(1 << 30);
        batch = memory.batch({ frames: BATCH, hops: HOPS });
        events = new EventBatch(256, memory.arena);
      }
      seen += holdAgainstReference(SEED + k, { name: way.name, memory }, batch, events);
    }
    // Neither silent nor deafening: the rules do decide something.
    expect(seen).toBeGreaterThan(RULE_SETS * 500);
  });
});
