import { FLAG } from '@int/codec';
import { dscpAt, REPORT_COLUMN } from '@int/codec/internals';
import type { IdRange, Match, PortRange, Prefix } from '../rules/model.js';
import type { BatchView } from './batch-view.js';
import { type HopFit, hopFitOf } from './hop-fit.js';

/** A prefix as rows are compared with it: signed words and masks, one for IPv4, four for IPv6. */
interface Cover {
  readonly isIpv6: boolean;
  readonly words: Int32Array;
  readonly masks: Int32Array;
}

function coverOf({ version, words, length }: Prefix): Cover {
  const masks = words.map((_, index) => {
    const bits = Math.min(32, Math.max(0, length - 32 * index));
    return bits === 0 ? 0 : 0xffffffff << (32 - bits);
  });
  return { isIpv6: version === 6, words: Int32Array.from(words, (word) => word | 0), masks: Int32Array.from(masks) };
}

/** One match, compared with one report at a time: what the classifier does for many rules, and what it does not know. */
export class RowMatch {
  /** Which hops of a report fit; `null`: all. */
  readonly hops: HopFit | null;
  /** Whether it reads the bytes of frames: MAC addresses, DSCP. */
  readonly needsBytes: boolean;
  readonly #needsFlow: boolean;
  readonly #protocol: number;
  readonly #source: readonly Cover[] | null;
  readonly #destination: readonly Cover[] | null;
  readonly #either: readonly Cover[] | null;
  readonly #sourcePort: PortRange | null;
  readonly #destinationPort: PortRange | null;
  readonly #sourceMac: number;
  readonly #destinationMac: number;
  readonly #dscp: readonly IdRange[] | null;

  constructor(match: Match) {
    const { source, destination, sourceGroup, destinationGroup, group } = match;
    const covers = (one: Prefix | null, many: readonly Prefix[] | null | undefined): readonly Cover[] | null =>
      one === null ? (many?.map(coverOf) ?? null) : [coverOf(one)];
    this.hops = hopFitOf(match.hops ?? null);
    this.#protocol = match.protocol ?? -1;
    this.#source = covers(source, sourceGroup);
    this.#destination = covers(destination, destinationGroup);
    this.#either = group?.map(coverOf) ?? null;
    this.#sourcePort = match.sourcePort;
    this.#destinationPort = match.destinationPort;
    this.#sourceMac = match.sourceMac ?? -1;
    this.#destinationMac = match.destinationMac ?? -1;
    this.#dscp = match.dscp ?? null;
    this.needsBytes = match.sourceMac !== null || match.destinationMac !== null || this.#dscp !== null;
    this.#needsFlow =
      this.#protocol >= 0 ||
      [this.#source, this.#destination, this.#either, match.sourcePort, match.destinationPort].some(
        (x) => x !== null,
      ) ||
      this.#sourceMac >= 0 ||
      this.#destinationMac >= 0;
  }

  /** Whether a report matches, and has a hop that fits if hops are asked for. */
  isMatch(view: BatchView, row: number): boolean {
    if (this.#needsFlow && !this.#isFlow(view, row)) return false;
    if (this.needsBytes && !this.#isHeader(view, row)) return false;
    return this.hops === null || this.hops.hasAny(view, row);
  }

  #isFlow(view: BatchView, row: number): boolean {
    const { report, reportStride } = view;
    const flags = report[REPORT_COLUMN.FLAGS * reportStride + row]!;
    if ((flags & FLAG.FLOW) === 0) return false;
    if (this.#protocol >= 0 && view.protocol[row] !== this.#protocol) return false;
    const ports = report[REPORT_COLUMN.PORTS * reportStride + row]!;
    if (!isPort(this.#sourcePort, ports >>> 16) || !isPort(this.#destinationPort, ports & 0xffff)) return false;
    const isIpv6 = (flags & FLAG.IPV6) !== 0;
    const source = REPORT_COLUMN.SOURCE * reportStride + row;
    const destination = REPORT_COLUMN.DESTINATION * reportStride + row;
    if (this.#source !== null && !isCovered(this.#source, report, source, reportStride, isIpv6)) return false;
    if (this.#destination !== null && !isCovered(this.#destination, report, destination, reportStride, isIpv6))
      return false;
    return (
      this.#either === null ||
      isCovered(this.#either, report, source, reportStride, isIpv6) ||
      isCovered(this.#either, report, destination, reportStride, isIpv6)
    );
  }

  /** MAC addresses and DSCP, from the bytes of the frame. */
  #isHeader({ report, reportStride, batch }: BatchView, row: number): boolean {
    const at = report[REPORT_COLUMN.ETHERNET * reportStride + row]!;
    const { bytes } = batch;
    if (at === -1 || at + 12 > bytes.length) return false;
    if (this.#destinationMac >= 0 && macAt(bytes, at) !== this.#destinationMac) return false;
    if (this.#sourceMac >= 0 && macAt(bytes, at + 6) !== this.#sourceMac) return false;
    return this.#dscp === null || isIn(this.#dscp, dscpAt(bytes, at));
  }
}

const isPort = (range: PortRange | null, port: number): boolean =>
  range === null || (port >= range.from && port <= range.to);

/** Whether a number is in one of the ranges; -1 is in none. */
function isIn(ranges: readonly IdRange[], value: number): boolean {
  for (let k = 0; k < ranges.length; k++) {
    const { from, to } = ranges[k]!;
    if (value >= from && value <= to) return true;
  }
  return false;
}

function isCovered(covers: readonly Cover[], report: Int32Array, at: number, stride: number, isIpv6: boolean): boolean {
  for (let k = 0; k < covers.length; k++) {
    const { words, masks, isIpv6: isLong } = covers[k]!;
    if (isLong !== isIpv6) continue;
    let w = 0;
    while (w < words.length && ((report[at + w * stride]! ^ words[w]!) & masks[w]!) === 0) w++;
    if (w === words.length) return true;
  }
  return false;
}

function macAt(bytes: Uint8Array, at: number): number {
  let mac = 0;
  for (let k = 0; k < 6; k++) mac = mac * 256 + bytes[at + k]!;
  return mac;
}
