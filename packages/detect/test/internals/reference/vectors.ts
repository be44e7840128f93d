/** The text of the golden vectors: cases, what the plain implementation makes of them, and what the tables hold. */
import { METRIC_NAMES, type MetricName } from '@int/codec';
import type { Match, Prefix, Rule } from '../../../src/rules/model.js';
import { exportTables } from '../../../src/tables/export.js';
import { metricNumber } from '../../../src/tables/names.js';
import {
  ReferenceDetector,
  type ReferenceEvent,
  type ReferenceHop,
  type ReferenceReport,
} from '../../reference/reference.js';
import { FLOW_CELLS, REGISTERS, SWITCH_CELLS } from '../tables/data-plane.js';
import { type VectorCase, vectorCases } from './vector-cases.js';

/** Register cells that are not zero, by register and index. */
type Cells = Record<string, Record<string, number>>;

/** A case as the files hold it. */
export interface Vector {
  readonly name: string;
  readonly rules: readonly Record<string, unknown>[];
  readonly default: string;
  readonly before?: Cells;
  readonly commands: readonly string[];
  readonly flows: readonly Record<string, unknown>[];
  readonly reports: readonly Record<string, unknown>[];
  readonly events: readonly Record<string, unknown>[];
  readonly after: Cells;
}

/* ---- Plain text of addresses ---- */

function addressText(bytes: readonly number[]): string {
  if (bytes.length === 4) return bytes.join('.');
  const groups = Array.from({ length: 8 }, (_, k) => ((bytes[2 * k]! << 8) | bytes[2 * k + 1]!).toString(16));
  return groups
    .join(':')
    .replace(/\b0(?::0)+\b/, ':')
    .replace(/:{3,}/, '::');
}

function prefixText({ words, length }: Prefix): string {
  const bytes = words.flatMap((word) => [word >>> 24, (word >>> 16) & 0xff, (word >>> 8) & 0xff, word & 0xff]);
  return `${addressText(bytes)}/${length}`;
}

function macText(mac: number): string {
  return mac
    .toString(16)
    .padStart(12, '0')
    .replace(/..(?!$)/g, '$&:');
}

function matchText(match: Match): 'any' | Record<string, unknown> {
  const { protocol, source, destination, sourcePort, destinationPort, sourceMac, destinationMac } = match;
  const entries = Object.entries({
    protocol,
    source: source && prefixText(source),
    destination: destination && prefixText(destination),
    sourcePort: sourcePort && `${sourcePort.from}-${sourcePort.to}`,
    destinationPort: destinationPort && `${destinationPort.from}-${destinationPort.to}`,
    sourceMac: sourceMac === null ? null : macText(sourceMac),
    destinationMac: destinationMac === null ? null : macText(destinationMac),
  }).filter(([, value]) => value !== null);
  return entries.length === 0 ? 'any' : Object.fromEntries(entries);
}

function ruleText({ name, priority, match, detector, sample }: Rule): Record<string, unknown> {
  return { name, priority, match: matchText(match), detector, ...(sample === null ? {} : { sample }) };
}

/* ---- Reports ---- */

const HALVES: readonly (readonly [MetricName, MetricName])[] = [
  ['queueId', 'queueOccupancy'],
  ['bufferId', 'bufferOccupancy'],
  ['l1IngressInterface', 'l1EgressInterface'],
  ['l2IngressInterface', 'l2EgressInterface'],
];
const ONES: { readonly [M in MetricName]?: number } = {
  queueId: 0xff,
  queueOccupancy: 0xffffff,
  bufferId: 0xff,
  bufferOccupancy: 0xffffff,
  l1IngressInterface: 0xffff,
  l1EgressInterface: 0xffff,
};

/** All ones as `null`, which is how a decoded hop says it. */
function normalHop(hop: ReferenceHop): ReferenceHop {
  const normal: { [M in MetricName]?: number | null } = {};
  for (const name of METRIC_NAMES) {
    if (!(name in hop)) continue;
    const half = HALVES.find((pair) => pair.includes(name));
    const isMissing = (each: MetricName): boolean =>
      (hop[each] ?? null) === null || hop[each] === (ONES[each] ?? 0xffffffff);
    normal[name] = (half ?? [name]).every(isMissing) ? null : hop[name]!;
  }
  return normal;
}

function flowText(flow: ReferenceReport['flow']): string {
  const { source, destination, protocol, sourcePort, destinationPort } = flow!;
  const addresses = { source: addressText(source), destination: addressText(destination) };
  return JSON.stringify({ ...addresses, protocol, sourcePort, destinationPort });
}

/** The report as INT carries it; throws for one that INT cannot carry. */
function reportText(report: ReferenceReport, flows: readonly string[]): Record<string, unknown> {
  const { flow, hops, sourceMac, destinationMac, timeNs } = report;
  const fields = Object.keys(hops[0] ?? {})
    .sort()
    .join();
  if (hops.length === 0 || hops.length > 8 || fields === '') throw new Error('a report has 1 to 8 hops with fields');
  for (const hop of hops) {
    if (Object.keys(hop).sort().join() !== fields) throw new Error('all hops of a report have the same fields');
    for (const [a, b] of HALVES) if (a in hop !== b in hop) throw new Error(`${a} and ${b} share an item`);
  }
  return {
    timeUs: Number(timeNs / 1000n),
    flow: flows.indexOf(flowText(flow)),
    ...(typeof sourceMac === 'number' && typeof destinationMac === 'number'
      ? { ethernet: { source: macText(sourceMac), destination: macText(destinationMac) } }
      : {}),
    hops: hops.map(normalHop),
  };
}

function eventText(event: ReferenceEvent): Record<string, unknown> {
  return Object.fromEntries(Object.entries(event).filter(([, value]) => value !== null));
}

/* ---- Registers: the names of the reference, with a metric where there is one, to those of the switch ---- */

const REGISTER_OF: Readonly<Record<string, { readonly name: string; readonly cells: number }>> = {
  per_hop_previous: { name: REGISTERS.perHopPrevious.name, cells: SWITCH_CELLS },
  per_flow_previous: { name: REGISTERS.perFlowPrevious.name, cells: FLOW_CELLS },
  average_accumulator: { name: REGISTERS.averageAccumulator.name, cells: FLOW_CELLS },
  average_reported: { name: REGISTERS.averageReported.name, cells: FLOW_CELLS },
  complex_previous: { name: REGISTERS.complexPrevious.name, cells: FLOW_CELLS },
  complex_count: { name: REGISTERS.complexCount.name, cells: 0 },
  sample_count: { name: REGISTERS.sampleCount.name, cells: 0 },
};

function cellsOf(registers: ReadonlyMap<string, readonly number[]>): Cells {
  const cells: Cells = {};
  const put = (register: string, index: number, value: number): void => {
    cells[register] ??= {};
    cells[register][index] = value;
  };
  for (const [key, values] of [...registers].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const [name, metric] = key.split(' ') as [string, string | undefined];
    const number = metric === undefined ? 0 : metricNumber(metric);
    values.forEach((value, cell) => {
      if (value === 0) return;
      if (name === 'complex_seen') {
        const seen = cells[REGISTERS.complexSeen.name]?.[cell] ?? 0;
        put(REGISTERS.complexSeen.name, cell, seen + 2 ** number);
        return;
      }
      const register = REGISTER_OF[name]!;
      put(register.name, number * register.cells + cell, value);
    });
  }
  return cells;
}

/** Sparse cells as whole arrays of the reference. */
function registersOf(before: NonNullable<VectorCase['before']>): Map<string, number[]> {
  return new Map(
    Object.entries(before).map(([key, cells]) => {
      const values = new Array<number>(key.startsWith('per_hop') ? SWITCH_CELLS : FLOW_CELLS).fill(0);
      for (const [cell, value] of Object.entries(cells)) values[Number(cell)] = value;
      return [key, values];
    }),
  );
}

/* ---- Cases ---- */

/** Runs a case through the plain implementation. */
function vectorOf({ name, rules, reports, before }: VectorCase): Vector {
  const reference = new ReferenceDetector(rules);
  const initial = before === undefined ? null : registersOf(before);
  for (const [key, cells] of initial ?? []) reference.registers.set(key, [...cells]);
  const events = reports.flatMap((each) => reference.detect(each));
  const after = cellsOf(reference.registers);
  for (const [cell, timeNs] of [...reference.sampledAt].sort(([a], [b]) => a - b)) {
    after[REGISTERS.sampleTime.name] ??= {};
    after[REGISTERS.sampleTime.name]![cell] = Number(timeNs / 1000n);
  }
  const flows = [...new Set(reports.map(({ flow }) => flowText(flow)))];
  return {
    name,
    rules: rules.rules.map(ruleText),
    default: rules.default,
    ...(initial === null ? {} : { before: cellsOf(initial) }),
    commands: exportTables(rules).commands,
    flows: flows.map((text) => JSON.parse(text) as Record<string, unknown>),
    reports: reports.map((report) => reportText(report, flows)),
    events: events.map(eventText),
    after,
  };
}

/** JSON with one line for each rule, command, report and event. */
function textOf(detector: string, vectors: readonly Vector[]): string {
  const lines = (items: readonly unknown[]): string =>
    items.length === 0 ? '[]' : `[\n${items.map((item) => `        ${JSON.stringify(item)}`).join(',\n')}\n      ]`;
  const cases = vectors.map((vector) => {
    const fields = Object.entries(vector).map(
      ([key, value]) => `      ${JSON.stringify(key)}: ${Array.isArray(value) ? lines(value) : JSON.stringify(value)}`,
    );
    return `    {\n${fields.join(',\n')}\n    }`;
  });
  return `{\n  "detector": ${JSON.stringify(detector)},\n  "cases": [\n${cases.join(',\n')}\n  ]\n}\n`;
}

/** All files: name, vectors, text. */
export function vectorFiles(): { file: string; vectors: Vector[]; text: string }[] {
  return [...vectorCases()].map(([name, cases]) => {
    const vectors = cases.map(vectorOf);
    return { file: `${name}.json`, vectors, text: textOf(name, vectors) };
  });
}
