import type { TelemetryHeader } from '@int/control';
import { overheadBps, telemetryBytes, throughputLoss } from '@int/control/internals';
import { compact, counted, grouped, percent } from '../output/numbers.js';
import type { OverheadPlan } from './plan-of.js';

export interface FormulaQuestion {
  readonly packetsPerSecond: number;
  readonly switches: number;
  readonly header: TelemetryHeader;
  /** `null`: nobody said. */
  readonly packetBytes: number | null;
  readonly oneIn: number;
}

function answerOf({ packetsPerSecond, switches, header, packetBytes, oneIn }: FormulaQuestion) {
  const bytes = telemetryBytes(header);
  const addedBytes = bytes.headerBytes + switches * bytes.hopBytes;
  return {
    ...bytes,
    addedBytes,
    bitsPerSecond: overheadBps(packetsPerSecond / oneIn, switches, bytes),
    loss: packetBytes === null ? null : throughputLoss(packetBytes, oneIn, addedBytes),
  };
}

export function formulaJson(question: FormulaQuestion): string {
  const { packetsPerSecond, switches, oneIn, packetBytes } = question;
  return JSON.stringify({ type: 'overhead', packetsPerSecond, switches, oneIn, packetBytes, ...answerOf(question) });
}

export function formulaLines(question: FormulaQuestion): string[] {
  const { packetsPerSecond, switches, oneIn, packetBytes } = question;
  const { headerBytes, hopBytes, addedBytes, bitsPerSecond, loss } = answerOf(question);
  const rate = grouped(packetsPerSecond / oneIn);
  const lines = [
    `${compact(bitsPerSecond)}bit/s on the link: ${rate} packets/s * (${headerBytes} + ${switches} * ${hopBytes}) bytes * 8`,
  ];
  if (loss !== null) {
    const which = oneIn === 1 ? 'each packet' : `1 packet of ${oneIn}`;
    lines.push(
      `${percent(loss)} less for applications on a full link: ${addedBytes} bytes on ${which} of ${packetBytes}`,
    );
  }
  return lines;
}

function instructionsText(header: TelemetryHeader): string {
  return header.kind === 'int-md'
    ? `0x${header.instructions.toString(16).padStart(4, '0')}`
    : `${header.fields} fields`;
}

export function* planJson({ flows, links, value, isBest, untracked, budget }: OverheadPlan): Generator<string> {
  for (const { name, fieldSet, oneIn, packetsPerSecond, bps } of flows) {
    const instructions = fieldSet === null ? null : instructionsText(fieldSet.header);
    yield JSON.stringify({ type: 'flow', flow: name, instructions, oneIn, packetsPerSecond, bitsPerSecond: bps });
  }
  for (const { link, bps, share } of links) yield JSON.stringify({ type: 'link', link, bitsPerSecond: bps, share });
  yield JSON.stringify({ type: 'total', budget, value, isBest, flows: flows.length, untracked });
}

export function* planLines({ flows, links, isBest, budget }: OverheadPlan): Generator<string> {
  for (const { name, fieldSet, oneIn, bps } of flows) {
    const how = fieldSet === null ? 'not watched' : `${instructionsText(fieldSet.header)}, 1 packet of ${oneIn}`;
    yield `${name.padEnd(46)} ${how.padEnd(26)} ${compact(bps)}bit/s`;
  }
  for (const { link, bps, share } of links)
    yield `${link.padEnd(46)} ${percent(share).padEnd(26)} ${compact(bps)}bit/s`;
  const watched = flows.filter(({ fieldSet }) => fieldSet !== null).length;
  const best = isBest ? 'no plan shows more' : 'there may be a plan that shows more';
  yield `${watched} of ${counted(flows.length, 'flow')} watched, at most ${percent(budget)} of a link: ${best}`;
}
