import type { MetricName } from '@int/codec';
import type { FlowEntry, HopStatistics } from '@int/flowcache';
import type { KnownNetwork } from '../network/known-network.js';
import { inUnits, meanInUnits, plainColumns } from '../network/measured-text.js';
import { switchText } from '../network/names.js';
import { UNKNOWN_NETWORK } from '../network/unknown-network.js';
import type { Colours } from './colour.js';
import type { FlowTotalsJson } from './flow-json.js';
import { counted, grouped } from './numbers.js';
import { flowText, pathText } from './record-text.js';

/** Most pairs of IPv4 addresses and ports fit; a longer flow shifts the columns after it. */
const FLOW_WIDTH = 44;

/** Units of time, each with the least time for its use: 90 s is clearer than 1.5 min. */
const TIMES: readonly (readonly [unit: string, ns: number, from: number])[] = [
  ['h', 3600e9, 7200e9],
  ['min', 60e9, 120e9],
  ['s', 1e9, 1e9],
  ['ms', 1e6, 1e6],
  ['µs', 1e3, 1e3],
];

/** A time span: `0`, `850 ns`, `12.5 ms`, `90.0 s`, `3.2 h`. */
export function spanText(ns: number): string {
  const found = TIMES.find(([, , from]) => ns >= from);
  if (found === undefined) return ns === 0 ? '0' : `${ns} ns`;
  return `${(ns / found[1]).toFixed(1)} ${found[0]}`;
}

function line(flow: string, cells: readonly string[], path: string): string {
  const [packets, ...others] = cells;
  return [flow.padEnd(FLOW_WIDTH), packets!.padStart(9), ...others.map((cell) => cell.padStart(9)), ` ${path}`].join(
    ' ',
  );
}

export function flowHeading(colour: Colours): string {
  return colour.bold(line('flow', ['reports', 'duration', 'latency', 'last', 'changes'], 'path'));
}

/** A flow as a line: latencies are those of the whole path. */
export function flowLine(entry: FlowEntry, colour: Colours, network: KnownNetwork = UNKNOWN_NETWORK): string {
  const { flow, packets, firstNs, lastNs, endToEnd, pathChanges, path, pathLength } = entry;
  const cells = [
    grouped(packets),
    // Frames may be out of order.
    lastNs < firstNs ? '-' : spanText(Number(lastNs - firstNs)),
    endToEnd === null ? '-' : meanInUnits(network.device, 'hopLatency', endToEnd.mean, null),
    endToEnd === null || endToEnd.last === null ? '-' : inUnits(network.device, 'hopLatency', endToEnd.last, null),
    grouped(pathChanges),
  ];
  const more = pathLength > path.length ? ' > ...' : '';
  const text = line(flowText(flow), cells, pathText(path, network.topology) + more);
  return pathChanges > 0 ? colour.yellow(text) : text;
}

function hopLine({ nodeId, metrics }: HopStatistics, network: KnownNetwork): string {
  const { device, topology } = network;
  const values = Object.entries(metrics) as [MetricName, NonNullable<HopStatistics['metrics'][MetricName]>][];
  const texts = values
    .filter(([, { count }]) => count > 0)
    .map(([name, { last, mean }]) => {
      const lastText = last === null ? '-' : inUnits(device, name, last, nodeId);
      return `${name} ${meanInUnits(device, name, mean, nodeId)} (last ${lastText})`;
    });
  return `    ${`node ${switchText(nodeId, topology)}`.padEnd(16)}${texts.join('  ')}`.trimEnd();
}

/** A line per position on the path: means, and last values. */
export function hopLines({ hops }: FlowEntry, colour: Colours, network: KnownNetwork = UNKNOWN_NETWORK): string[] {
  return hops.map((hop) => colour.dim(hopLine(hop, network)));
}

/** The last lines: totals as text, and entries that left the cache. @param listed number of listed flows */
export function flowTotalsLines(
  totals: FlowTotalsJson,
  listed: number,
  colour: Colours,
  { device }: KnownNetwork = UNKNOWN_NETWORK,
): string[] {
  const { packets, flows, evicted, aged, lost, pathChanges, hopsBeyond, notOk } = totals;
  const shown = listed < flows ? ` (${grouped(listed)} listed)` : '';
  const changes = pathChanges === 0 ? '' : `, ${counted(pathChanges, 'path change')}`;
  const plain = listed === 0 ? null : plainColumns(device, [['latency', 'hopLatency']]);
  const lines = [
    ...(plain === null ? [] : [colour.dim(plain)]),
    colour.bold(`${counted(packets, 'report')}, ${counted(flows, 'flow')}${shown}${changes}`),
  ];
  for (const [name, { entries, packets: held }] of Object.entries({ evicted, aged })) {
    if (entries > 0) lines.push(colour.yellow(`${name}: ${counted(entries, 'flow')}, ${counted(held, 'report')}`));
  }
  if (lost.noFlow !== undefined)
    lines.push(colour.yellow(`not cached: ${counted(lost.noFlow, 'report')} of unknown flow`));
  if (notOk > 0) lines.push(colour.yellow(`not decoded: ${counted(notOk, 'report')}`));
  if (hopsBeyond > 0) lines.push(colour.dim(`beyond the hops followed: ${counted(hopsBeyond, 'hop')}; see --hops`));
  return lines;
}
