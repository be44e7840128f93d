/** The parts of a telemetry report. */
import { CODES } from '../codes.js';
import { shapeOf } from '../headers/hop-shape.js';
import {
  reportTlv,
  reportV05,
  reportV10,
  reportV20Group,
  reportV20Individual,
  reportV20Main,
} from '../headers/report.js';
import type { Problem } from '../model.js';
import { problemOf } from '../record.js';
import { nextIndividual } from '../scan/report.js';
import { INNER, type Scan } from '../scan/state.js';
import type { Parts } from './field.js';
import { addBlock } from './int.js';
import { addPacket } from './packet.js';

const VERSION = { V05: 1, V10: 2, V20: 3 } as const;

/**
 * The report in `[p, end)`, whose first individual report the scan has read. It goes on to the next ones.
 * @param problems receives those of the next ones
 */
export function addReport(parts: Parts, scan: Scan, p: number, end: number, problems: Problem[]): void {
  parts.group('report', p, (inside) => {
    switch (scan.reportVersion) {
      case VERSION.V20:
        inside.header(reportV20Group, p, end);
        addIndividuals(inside, scan, p + 8, end, problems);
        return 'telemetry report 2.0';
      case VERSION.V10:
        inside.header(reportV10, p, end);
        addOld(inside, scan, p + 16, end);
        return 'telemetry report 1.0';
      case VERSION.V05:
        inside.header(reportV05, p, end);
        addOld(inside, scan, p + 12, end);
        return 'telemetry report 0.5';
      default:
        return addRefused(inside, scan, p, end);
    }
  });
}

/** A header that is cut, or of no version that is known. */
function addRefused(parts: Parts, scan: Scan, p: number, end: number): string {
  const first = p < end ? scan.bytes[p]! : 0xff;
  const codec =
    scan.code !== CODES.TRUNCATED
      ? null
      : first >>> 4 === 2
        ? reportV20Group
        : (first & 15) >= 4 || scan.settings.oneWord
          ? reportV10
          : reportV05;
  let at = p;
  if (codec !== null && first >>> 4 <= 2) {
    parts.header(codec, p, end);
    const last = parts.list.at(-1);
    at = last === undefined ? p : last.offset + last.length;
  }
  parts.bytes('undecoded', at, end);
  return 'telemetry report that cannot be read';
}

function addIndividuals(parts: Parts, scan: Scan, p: number, end: number, problems: Problem[]): void {
  for (let at = p; at < end; ) {
    const from = at;
    const to = Math.max(from, Math.min(scan.nextReport, end));
    parts.group('individual', from, (inside) => addIndividual(inside, scan, from, to), scan.index);
    at = to;
    const isMore = nextIndividual(scan);
    const problem = isMore ? problemOf(scan) : null;
    if (problem !== null) problems.push(problem);
    if (!isMore) {
      parts.bytes('undecoded', at, end);
      return;
    }
  }
}

function addIndividual(parts: Parts, scan: Scan, p: number, end: number): string {
  const text = `report ${scan.index + 1}`;
  if (!parts.header(reportV20Individual, p, end)) return text;
  let at = p + 4;
  if (scan.repType === 1 && scan.code !== CODES.BAD_REPORT_LENGTH) {
    if (!parts.header(reportV20Main, at, end)) return text;
    at = addOwn(parts, scan, at + 8);
  }
  addInner(parts, scan, at, end);
  return text;
}

/** The node's own values, if the scan has read them. @returns the first byte behind them */
function addOwn(parts: Parts, scan: Scan, at: number): number {
  if (scan.ownBits === 0 && scan.ownDomainWords === 0) return at;
  const shape = shapeOf(scan.ownLayout, scan.ownBits, 4 * scan.ownDomainWords);
  parts.group('metadata', at, (inside) => {
    addBlock(inside, scan, shape, at);
    return 'of the reporting node';
  });
  return at + shape.byteLength;
}

/** What follows the header of a report v0.5 or v1.0. */
function addOld(parts: Parts, scan: Scan, p: number, end: number): void {
  let at = p;
  if (scan.reportVersion === VERSION.V05 && scan.nodeKnown) {
    parts.field('switchId', scan.nodeId, at, 0, 32);
    at += 4;
  }
  addInner(parts, scan, addOwn(parts, scan, at), end);
}

/** What a report carries, in `[at, end)`. */
function addInner(parts: Parts, scan: Scan, at: number, end: number): void {
  if (scan.inner === INNER.NONE || scan.innerOffset !== at) {
    parts.bytes('undecoded', at, end);
  } else if (scan.inner === INNER.DOMAIN) {
    parts.bytes('domain', at, end);
  } else if (scan.inner === INNER.TLV) {
    addTlvs(parts, scan, at, end);
  } else {
    addInnerPacket(parts, scan, scan.inner, at, end);
  }
}

function addInnerPacket(parts: Parts, scan: Scan, type: number, at: number, end: number): void {
  const isOfType = at < end && scan.bytes[at]! >>> 4 === (type === INNER.IPV4 ? 4 : 6);
  if (type !== INNER.ETHERNET && !isOfType) {
    parts.bytes('undecoded', at, end);
    return;
  }
  parts.group('packet', at, (inside) => {
    addPacket(inside, scan, type === INNER.ETHERNET ? 'ethernet' : 'raw', at, end);
    return 'the monitored packet';
  });
}

function addTlvs(parts: Parts, scan: Scan, p: number, end: number): void {
  let isFirstPacket = true;
  for (let at = p; at < end; ) {
    const tlv = at;
    const to = tlv + 4 > end ? end : tlv + 4 + 4 * scan.bytes[tlv + 1]!;
    if (to > end) {
      parts.bytes('undecoded', tlv, end);
      return;
    }
    const type = scan.bytes[tlv]! >>> 4;
    const isPacket = isFirstPacket && type >= 1 && type <= 3;
    if (isPacket) isFirstPacket = false;
    parts.group('tlv', tlv, (inside) => {
      if (!inside.header(reportTlv, tlv, end)) return '';
      if (isPacket) addInnerPacket(inside, scan, type + 2, tlv + 4, to);
      else inside.bytes('data', tlv + 4, to);
      return '';
    });
    at = to;
  }
}
