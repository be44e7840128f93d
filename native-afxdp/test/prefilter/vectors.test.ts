import type { Prefilter, PrefilterCounts } from '@int/afxdp/prefilter';
import { METRICS, type Metric } from '@int/detect';
import { describe, expect, onTestFinished, test } from 'vitest';
import { loadFilter } from './kernel.js';
import { KernelState } from './kernel-state.js';
import { frameOf } from './reports.js';
import { type Cells, rulesOf, type VectorCase, vectorCases, vectorFiles } from './vector-file.js';

/** Cells of one metric in the registers of the vectors. */
const REGISTER_CELLS: Readonly<Record<string, number>> = { per_hop_previous: 4096 };
const FLOW_CELLS = 65_536;
/** Metrics that the data plane takes. */
const METRICS_OF_VECTORS = 11;
/** After each case; otherwise after all of a file. */
const READS_ALL = process.env.INT_LONG === '1';
const NONE = { rules: [], default: 'drop', adapt: null } as const;

const REGISTERS = ['per_hop_previous', 'per_flow_previous', 'average_accumulator', 'average_reported'] as const;
const STATE_OF = {
  per_hop_previous: ['perHop', 'value'],
  per_flow_previous: ['perFlow', 'value'],
  average_accumulator: ['movingAverage', 'accumulator'],
  average_reported: ['movingAverage', 'reported'],
} as const;

/** The registers' cells that the vectors name, and where the kernel keeps them. */
function* placesOf(named: Cells) {
  for (const name of REGISTERS) {
    const cells = REGISTER_CELLS[name] ?? FLOW_CELLS;
    const [kind, field] = STATE_OF[name];
    for (const [index, value] of Object.entries(named[`IntSink.${name}`] ?? {})) {
      const metric = METRICS[Math.floor(Number(index) / cells)]!.name;
      yield { name, index, kind, field, metric, cell: Number(index) % cells, value };
    }
  }
}

/** Puts the vectors' registers into the kernel's maps. */
function setState(filter: Prefilter, before: Cells): void {
  for (const { kind, metric, cell, field, value } of placesOf(before)) {
    new KernelState(filter).setCell(kind, metric, cell, { [field]: value });
  }
}

/** As {@link takeState}, but looks at the named cells only. */
function takeNamed(filter: Prefilter, named: Cells): Cells {
  const found: Record<string, Record<string, number>> = {};
  for (const { name, index, kind, field, metric, cell } of placesOf(named)) {
    const value = new KernelState(filter).cell(kind, metric, cell)[field];
    if (value === 0) continue;
    found[`IntSink.${name}`] ??= {};
    found[`IntSink.${name}`]![index] = value;
    new KernelState(filter).setCell(kind, metric, cell, { [field]: 0 });
  }
  return found;
}

/** Cells of these metrics in the kernel's maps that are not 0, as the vectors name them; they are 0 afterwards. */
function takeState(filter: Prefilter, metrics: readonly Metric[]): Cells {
  const found: Record<string, Record<string, number>> = {};
  for (const { name: metric, id } of metrics) {
    for (const kind of ['perHop', 'perFlow', 'movingAverage'] as const) {
      for (const [cell, state] of new KernelState(filter).cells(kind, metric)) {
        for (const name of REGISTERS) {
          const [of, field] = STATE_OF[name];
          if (of !== kind || state[field] === 0) continue;
          found[`IntSink.${name}`] ??= {};
          found[`IntSink.${name}`]![id * (REGISTER_CELLS[name] ?? FLOW_CELLS) + cell] = state[field];
        }
        new KernelState(filter).setCell(kind, metric, cell, { value: 0, accumulator: 0, reported: 0 });
      }
    }
  }
  return found;
}

/** What the rules of a case look at. */
function metricsOf({ rules }: VectorCase): Metric[] {
  return METRICS.filter(({ name }) => rules.some(({ detector }) => 'metric' in detector && detector.metric === name));
}

function isKernelRegister(name: string): boolean {
  return REGISTERS.some((each) => name === `IntSink.${each}`);
}

function check(vector: VectorCase, filter: Prefilter): void {
  const { rules: order } = filter.plan;
  const before = filter.counts();
  setState(filter, vector.before ?? {});
  const found = vector.reports.flatMap(({ flow, hops, ethernet }, report) => {
    const { action, verdict } = filter.run(
      frameOf({ flow: vector.flows[flow]!, hops, ...(ethernet === undefined ? {} : { ethernet }) }),
    );
    if (verdict === null) expect(action).toBe('drop');
    else expect(verdict.outcome, `report ${report}`).toBe('event');
    if (verdict === null) return [];
    const { rule, detector, events, hop, nodeId, value, previous, threshold } = verdict;
    const name = rule === null ? null : order[rule]!.rule.name;
    return [{ report, rule: name, detector, events, hop, nodeId, value, previous, threshold }];
  });
  const reported = [...new Set(vector.events.map(({ report }) => report))];
  const expected = reported.map((report) => {
    const events = vector.events.filter((event) => event.report === report);
    const { rule, detector, hop, nodeId, value, previous, threshold } = events[0]!;
    return {
      report,
      rule: rule ?? null,
      detector,
      events: events.length,
      hop: hop ?? null,
      nodeId: nodeId ?? null,
      value: value ?? null,
      previous: previous ?? null,
      threshold: threshold ?? null,
    };
  });
  expect(found).toEqual(expected);
  // To read all cells takes longer than all else. What is in others than these is found when the file is through.
  const state = READS_ALL ? takeState(filter, metricsOf(vector)) : takeNamed(filter, vector.after);
  expect(state).toEqual(Object.fromEntries(Object.entries(vector.after).filter(([name]) => isKernelRegister(name))));
  expect(countsSince(filter, before)).toEqual({
    reports: vector.reports.length,
    events: reported.length,
    handedOn: 0,
    filtered: vector.reports.length - reported.length,
    undecided: 0,
  });
}

const COUNTED = ['reports', 'events', 'handedOn', 'filtered', 'undecided'] as const;

function countsSince(filter: Prefilter, before: PrefilterCounts): Record<(typeof COUNTED)[number], number> {
  const after = filter.counts();
  return Object.fromEntries(COUNTED.map((name) => [name, after[name] - before[name]])) as ReturnType<
    typeof countsSince
  >;
}

function checkHandedOn(vector: VectorCase, filter: Prefilter): void {
  const before = filter.counts();
  for (const [report, { flow, hops, ethernet }] of vector.reports.entries()) {
    const frame = frameOf({ flow: vector.flows[flow]!, hops, ...(ethernet === undefined ? {} : { ethernet }) });
    const { verdict } = filter.run(frame);
    const isEvent = vector.events.some((event) => event.report === report);
    if (isEvent) expect(verdict?.outcome, `report ${report}`).toBe('handedOn');
  }
  const { reports, handedOn, undecided } = countsSince(filter, before);
  expect({ reports, undecided }).toEqual({ reports: vector.reports.length, undecided: 0 });
  expect(handedOn).toBeGreaterThanOrEqual(new Set(vector.events.map(({ report }) => report)).size);
}

const KERNEL_FILES = /^(movingAverage|perFlow|perHop|threshold|noop|matching)/;

describe('the golden vectors, run by the kernel', () => {
  for (const file of vectorFiles()) {
    const decides = KERNEL_FILES.test(file);
    // Vectors by the ten thousand, one call of the kernel each.
    test(`${file}: ${decides ? 'the same events and the same registers' : 'every report is handed on'}`, () => {
      const filter = loadFilter({ rules: NONE, metricsPerDetector: METRICS_OF_VECTORS, countHops: false });
      onTestFinished(() => filter.close());
      for (const vector of vectorCases(file)) {
        const { rules } = filter.setRules(rulesOf(vector));
        // Only matches on MAC addresses are not for the kernel in files that are.
        const isLeft = rules.some(({ inKernel }) => !inKernel);
        expect(isLeft, vector.name).toBe(!decides || vector.name === 'MAC addresses');
        try {
          if (isLeft) checkHandedOn(vector, filter);
          else check(vector, filter);
        } catch (error) {
          throw new Error(`case "${vector.name}": ${(error as Error).message}`, { cause: error });
        }
      }
      // No case has written to cells that its vector does not name.
      expect(takeState(filter, METRICS)).toEqual({});
    }, 180_000);
  }
});
