/** What is printed. */
import type { Flow } from '@int/codec';
import { pathOfValue } from '@int/dart';
import { FIRST_REJECT, OUTCOME_NAMES } from '@int/dart/internals';
import { imbalances, type TraceCollector, type TraceState, type TraceTotals } from './collector.js';

const REJECTS = OUTCOME_NAMES.slice(FIRST_REJECT);

const grouped = (value: number): string => value.toLocaleString('en-US');
const percent = (share: number): string => `${(share * 100).toFixed(3)} %`;

/** The columns of {@link stateLine}. */
export const HEADING = [
  'time'.padStart(6),
  'flows'.padStart(10),
  'load'.padStart(7),
  'found'.padStart(10),
  'theory'.padStart(10),
  'packets'.padStart(11),
  'rejected'.padStart(9),
  'gaps'.padStart(7),
].join(' ');

export function stateLine({ seconds, flows, load, found, theory, received, counters }: TraceState): string {
  return [
    `${seconds.toFixed(1)} s`.padStart(6),
    grouped(flows).padStart(10),
    load.toFixed(3).padStart(7),
    percent(found.success).padStart(10),
    percent(theory.success).padStart(10),
    grouped(received).padStart(11),
    grouped(counters.rejected).padStart(9),
    grouped(counters.lost).padStart(7),
  ].join(' ');
}

function rejectsOf({ counters }: TraceState): Record<string, number> {
  return Object.fromEntries(REJECTS.filter((name) => counters[name] > 0).map((name) => [name, counters[name]]));
}

function flowText({ source, destination, protocol, sourcePort, destinationPort }: Flow): string {
  return `${source}:${sourcePort} > ${destination}:${destinationPort}/${protocol === 6 ? 'tcp' : 'udp'}`;
}

/** What the operator is told of one flow. */
function exampleLine(collector: TraceCollector, flow: number): string {
  const { fabric, store } = collector;
  const { offsets, lengths, bytes } = fabric.keys;
  const key = bytes.subarray(offsets[flow]!, offsets[flow]! + lengths[flow]!);
  const { status, value, agreeing, matching } = store.query(key);
  const path = value === null ? status : pathOfValue(value).map((node) => (node === null ? '?' : fabric.nameOf(node)));
  const text = typeof path === 'string' ? path : `${path.join(' > ')} (${agreeing} of ${matching})`;
  return `  flow ${grouped(flow)}, ${flowText(fabric.flow(flow))}: ${text}`;
}

export function totalLines(collector: TraceCollector, totals: TraceTotals): string[] {
  const { flows, found, theory, oldest, sent, received, kernelDrops, counters } = totals;
  const { slots, slotBytes, copies } = collector.store.geometry;
  const rejects = Object.entries(rejectsOf(totals)).map(([name, count]) => `${name} ${grouped(count)}`);
  const problems = imbalances(totals);
  const row = (name: string, measured: number, expected: number): string =>
    `  ${name.padEnd(10)}${percent(measured).padStart(11)}${percent(expected).padStart(11)}`;
  return [
    '',
    `${grouped(flows)} flows of ${collector.fabric.topology.name} in ${grouped(slots)} slots of ${slotBytes} bytes, ${copies} copies, load ${totals.load.toFixed(4)}`,
    `  ${''.padEnd(10)}${'measured'.padStart(11)}${'theory'.padStart(11)}`,
    row('found', found.success, theory.success),
    row('empty', found.empty, 1 - theory.success - theory.wrong),
    row('wrong', found.wrong, theory.wrong),
    row('oldest 1 %', oldest.success, oldest.theory),
    'paths, as an operator asks for them',
    ...(flows === 0 ? [] : [0, flows >> 1, flows - 1].map((flow) => exampleLine(collector, flow))),
    'packets',
    `  ${grouped(sent)} sent = ${grouped(received)} received + ${grouped(sent - received)} lost in the kernel` +
      (kernelDrops === null ? '' : ` (which counts ${grouped(kernelDrops)})`),
    `  ${grouped(received)} received = ${grouped(counters.accepted)} accepted + ${grouped(counters.rejected)} rejected` +
      (rejects.length === 0 ? '' : ` (${rejects.join(', ')})`),
    problems.length === 0 ? '  accounts close' : `  ACCOUNTS DO NOT CLOSE: ${problems.join('; ')}`,
  ];
}

/** A line of JSON, of a second or of the end. */
export function stateJson(state: TraceState): object {
  const { seconds, flows, load, found, theory, received, counters } = state;
  const { success, empty, wrong, asked } = found;
  const { accepted, rejected, lost } = counters;
  return {
    type: 'stats',
    seconds: Number(seconds.toFixed(3)),
    flows,
    load,
    asked,
    success,
    empty,
    wrong,
    theory,
    received,
    accepted,
    rejected,
    gaps: lost,
  };
}

export function totalJson(collector: TraceCollector, totals: TraceTotals): object {
  const { sent, received, kernelDrops, oldest } = totals;
  const { slots, slotBytes, copies } = collector.store.geometry;
  return {
    ...stateJson(totals),
    type: 'total',
    oldest,
    slots,
    slotBytes,
    copies,
    sent,
    lostInKernel: sent - received,
    kernelDrops,
    rejects: rejectsOf(totals),
    closes: imbalances(totals).length === 0,
  };
}
