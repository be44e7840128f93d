import { crc32 } from 'node:zlib';

/**
 * Detection written down plainly, over the lines of `int decode --json`, to hold `int detect` against.
 */
export interface Line {
  readonly frame: number;
  readonly timeNs: string;
  readonly index: number;
  readonly status: string;
  readonly report: { readonly nodeId: number | null; readonly metadata: PlainHop } | null;
  readonly flow: PlainFlow | null;
  readonly hops: readonly PlainHop[];
}

type PlainHop = Readonly<Record<string, number | null>>;

interface PlainFlow {
  readonly source: string;
  readonly destination: string;
  readonly protocol: number;
  readonly sourcePort: number;
  readonly destinationPort: number;
}

/** What a detector finds in one report. */
interface Finding {
  readonly scope: 'hop' | 'flow' | 'endToEnd';
  readonly nodeId?: number | null;
  readonly hop?: number;
  readonly value?: number;
  readonly previous?: number | null;
  readonly evidence?: readonly object[];
}

type PlainDetector = (line: Line) => readonly Finding[];

export interface PlainRule {
  readonly name: string | null;
  readonly detector: string;
  readonly metric: string | null;
  readonly threshold: number | null;
  readonly matches: (line: Line) => boolean;
  readonly find: PlainDetector;
}

/** Which cell of state a flow or switch has: its own, or one of `cells` that others may share. */
export interface Cells {
  readonly flow: (flow: PlainFlow) => number | string;
  readonly node: (id: number) => number;
  /** What perHop and perFlow compare the first value with; `null`: nothing, and its event says that it is the first. */
  readonly before: 0 | null;
}

export const EXACT: Cells = {
  flow: (flow) => JSON.stringify(flow),
  node: (id) => id,
  before: null,
};

/** CRC-32 over addresses, protocol and ports, modulo the number of cells. IPv4 only. */
export function registers(flowCells: number, nodeCells: number): Cells {
  const bytes = (address: string): number[] => address.split('.').map(Number);
  const half = (port: number): number[] => [port >>> 8, port & 0xff];
  return {
    flow: ({ source, destination, protocol, sourcePort, destinationPort }) => {
      const key = [...bytes(source), ...bytes(destination), protocol, ...half(sourcePort), ...half(destinationPort)];
      return crc32(Uint8Array.from(key)) % flowCells;
    },
    node: (id) => id % nodeCells,
    before: 0,
  };
}

/** The stack, then the reporting node's own values. */
function hopsOf({ hops, report }: Line): PlainHop[] {
  const own = report === null || report.nodeId === null ? {} : report.metadata;
  return Object.keys(own).length === 0 ? [...hops] : [...hops, { ...own, nodeId: report!.nodeId }];
}

function valuesOf(line: Line, metric: string): number[] {
  return hopsOf(line)
    .map((hop) => hop[metric])
    .filter((value) => typeof value === 'number');
}

function sumOf(line: Line, metric: string): number {
  return Math.min(
    2 ** 32 - 1,
    valuesOf(line, metric).reduce((sum, value) => sum + value, 0),
  );
}

export function perHop(metric: string, threshold: number, cells: Cells): PlainDetector {
  const state = new Map<number, number>();
  return (line) =>
    hopsOf(line).flatMap((hop, at) => {
      const value = hop[metric];
      if (typeof value !== 'number' || typeof hop.nodeId !== 'number') return [];
      const cell = cells.node(hop.nodeId);
      const previous = state.get(cell) ?? cells.before;
      if (previous === null || Math.abs(value - previous) > threshold) state.set(cell, value);
      if (Math.abs(value - (previous ?? 0)) <= threshold) return [];
      return [{ scope: 'hop', nodeId: hop.nodeId, hop: at, value, previous }];
    });
}

export function perFlow(metric: string, threshold: number, cells: Cells): PlainDetector {
  const state = new Map<number | string, number>();
  return (line) => {
    if (line.flow === null || valuesOf(line, metric).length === 0) return [];
    const cell = cells.flow(line.flow);
    const previous = state.get(cell) ?? cells.before;
    const value = sumOf(line, metric);
    if (previous === null || Math.abs(value - previous) > threshold) state.set(cell, value);
    if (Math.abs(value - (previous ?? 0)) <= threshold) return [];
    return [{ scope: 'flow', value, previous }];
  };
}

export function movingAverage(metric: string, threshold: number, weight: number, cells: Cells): PlainDetector {
  const state = new Map<number | string, { sum: number; told: number }>();
  return (line) => {
    if (line.flow === null || valuesOf(line, metric).length === 0) return [];
    const cell = cells.flow(line.flow);
    const one = state.get(cell) ?? { sum: 0, told: 0 };
    state.set(cell, one);
    one.sum += sumOf(line, metric) - Math.floor(one.sum / 2 ** weight);
    const value = Math.floor(one.sum / 2 ** weight);
    const previous = one.told;
    if (Math.abs(value - previous) <= threshold) return [];
    one.told = value;
    return [{ scope: 'flow', value, previous }];
  };
}

export function threshold(metric: string, limit: number): PlainDetector {
  return (line) =>
    hopsOf(line).flatMap((hop, at) => {
      const value = hop[metric];
      return typeof value === 'number' && value > limit
        ? [{ scope: 'hop', nodeId: hop.nodeId ?? null, hop: at, value }]
        : [];
    });
}

/** `sum(hopLatency) > latency and (max(queueOccupancy) > depth or count() == nth)`. */
export function waitedOrNth(latency: number, depth: number, nth: number, cells: Cells): PlainDetector {
  const seen = new Map<number | string, number>();
  return (line) => {
    const cell = cells.flow(line.flow!);
    const count = (seen.get(cell) ?? 0) + 1;
    seen.set(cell, count);
    const waited = sumOf(line, 'hopLatency');
    const deepest = Math.max(...valuesOf(line, 'queueOccupancy'));
    if (waited <= latency || (deepest <= depth && count !== nth)) return [];
    const hops = hopsOf(line);
    const hop = hops.findIndex(({ queueOccupancy }) => queueOccupancy === deepest);
    const sum = { aggregate: 'sum', metric: 'hopLatency', value: waited, nodeId: null, hop: null };
    const depthAt = {
      aggregate: 'max',
      metric: 'queueOccupancy',
      value: deepest,
      nodeId: hops[hop]?.nodeId ?? null,
      hop,
    };
    const nthOf = { aggregate: 'count', metric: null, value: count, nodeId: null, hop: null };
    // Clauses stand in the order of the text, and so do the conditions of one.
    return [{ scope: 'flow', evidence: [sum, deepest > depth ? depthAt : nthOf] }];
  };
}

/** The lines that `int detect --json` is to print for lines of `int decode --json`. */
export function plainEvents(lines: readonly Line[], rules: readonly PlainRule[]): Record<string, unknown>[] {
  return lines
    .filter(({ status }) => status === 'ok')
    .flatMap((line) => {
      const rule = rules.find(({ matches }) => matches(line));
      if (rule === undefined) return [];
      return rule
        .find(line)
        .map(({ scope, nodeId = null, hop = null, value = null, previous = null, evidence = null }) => ({
          type: 'event',
          timeNs: line.timeNs,
          frame: line.frame,
          index: line.index,
          rule: rule.name,
          detector: rule.detector,
          metric: rule.metric,
          scope,
          nodeId,
          hop,
          value,
          previous,
          threshold: rule.threshold,
          evidence,
          state: 'once',
          firstSight: previous === null && (rule.detector === 'perHop' || rule.detector === 'perFlow'),
          flow: line.flow,
        }));
    });
}
