import type { CollectorTotals } from '@int/collector';
import { survivorsText } from '../output/detection-summary.js';
import type { LiveState } from '../output/live-state.js';
import { counted, grouped } from '../output/numbers.js';
import { dropReasons, refusalsOf } from './bridge-json.js';
import type { BridgeTotals } from './totals.js';

/** `in0 to out0: 1,200 of 1,200 forwarded, 800 without their INT, 40 back`: the bridge's title in a live view. */
export function bridgeTitle(name: string, { inbound, returning }: BridgeTotals): string {
  const { received, forwarded, stripped } = inbound;
  const back = returning.received === 0 ? '' : `, ${grouped(returning.forwarded)} back`;
  return `${name}: ${grouped(forwarded)} of ${grouped(received)} forwarded, ${grouped(stripped)} stripped${back}`;
}

export function bridgeLogLine(totals: BridgeTotals, state: LiveState): string {
  const { inbound, returning, kernelDropped, outages } = totals;
  const parts = [
    `${Math.round(state.elapsedMs / 1000)} s`,
    `${grouped(state.receivedPerSecond)} frames/s`,
    `${grouped(inbound.received)} received`,
    `${grouped(inbound.forwarded)} forwarded`,
    `${grouped(inbound.stripped)} stripped`,
    `${grouped(inbound.droppedCount)} dropped`,
    `${grouped(kernelDropped)} kernel drops`,
    `${grouped(returning.forwarded)} returned`,
    counted(state.statistics.switches.length, 'switch', 'switches'),
    ...(outages.in + outages.out === 0 ? [] : [counted(outages.in + outages.out, 'outage')]),
  ];
  if (state.detection !== null) {
    parts.push(counted(state.detection.totals.events, 'event'), survivorsText(state.detection));
  }
  return parts.join('  ');
}

/** The lines at the end; the last one is the summary. */
export function bridgeTotalLines(totals: BridgeTotals, read: CollectorTotals): string[] {
  const { inbound, returning, kernelDropped, returnKernelDropped, outages } = totals;
  const row = (name: string, ...cells: readonly string[]): string =>
    [name.padEnd(12), ...cells.map((cell) => cell.padStart(12))].join(' ');
  const refused = Object.entries(refusalsOf(read.dropped)).map(([reason, count]) => `${reason} ${grouped(count)}`);
  const errors = Object.entries(read.errors).map(([name, count]) => `${name} ${grouped(count)}`);
  return [
    row('', 'received', 'stripped', 'plain', 'unstripped', 'dropped', 'by kernel'),
    row(
      'in to out',
      ...[inbound.received, inbound.stripped, inbound.plain, inbound.unstripped, inbound.droppedCount].map(grouped),
      grouped(kernelDropped),
    ),
    row(
      'out to in',
      ...[returning.received, 0, returning.plain, 0, returning.droppedCount].map(grouped),
      grouped(returnKernelDropped),
    ),
    `dropped: ${dropReasons(inbound, grouped)}`,
    ...(outages.in + outages.out === 0 ? [] : [`outages: IN ${grouped(outages.in)}, OUT ${grouped(outages.out)}`]),
    ...(errors.length === 0 ? [] : [`INT that is not sound: ${errors.join(', ')}`]),
    ...(refused.length === 0 ? [] : [`forwarded, and not taken as telemetry: ${refused.join(', ')}`]),
    `packets with INT: ${grouped(read.decoded)}`,
    `${inbound.received} received, ${inbound.forwarded} forwarded, ${inbound.droppedCount} dropped`,
  ];
}
