import { FLAG, type TelemetryBatch } from '@int/codec';

/** What the INT sink of int.p4 says of a report in its domain-specific metadata: see p4/int/README.md. */
const DOMAIN = 1;
const HAS_RULE = 0x8000;
const REGULAR = 0x8000;
const NO_EVENT = 0x4000;
const NO_RULE = 0xffff_ffff;

const REPORT_2 = 3;
const TYPE_INT = 1;
const GROUP_BYTES = 8;
const UDP_BYTES = 8;

/** Reads the marks of reports, row by row. It allocates nothing. */
export class ReportMark {
  /** Number of the rule. */
  rule = 0;
  isEvent = false;
  /** It is one of the sample of its flow. */
  isRegular = false;
  #frame = -1;
  #row = 0;
  #at = -1;

  /** Begins a batch. */
  begin(): void {
    this.#frame = -1;
  }

  /** @returns whether the report of a row has a rule. Rows come in their order */
  read(batch: TelemetryBatch, row: number): boolean {
    if (((batch.flags[row]! >>> FLAG.REPORT_SHIFT) & FLAG.REPORT_MASK) !== REPORT_2) return false;
    const frame = batch.frame[row]!;
    const { bytes } = batch;
    const start = batch.frameOffset[frame]!;
    const end = start + batch.frameLength[frame]!;
    if (frame !== this.#frame) {
      this.#frame = frame;
      this.#at = groupOf(batch, start, end) + GROUP_BYTES;
    } else if (row > this.#row) this.#at += 4 + 4 * bytes[this.#at + 1]!;
    this.#row = row;
    const at = this.#at;
    if (at < start + GROUP_BYTES || at + 12 > end || bytes[at]! >>> 4 !== TYPE_INT) return false;
    const words = bytes[at + 2]!;
    if (words === 0 || at + 12 + 4 * words > end) return false;
    if (halfAt(bytes, at + 6) !== DOMAIN || halfAt(bytes, at + 8) !== HAS_RULE) return false;
    const status = halfAt(bytes, at + 10);
    // Domain-specific items are the last ones.
    const item = at + 12 + 4 * (words - 1);
    this.rule = halfAt(bytes, item) * 65_536 + halfAt(bytes, item + 2);
    if (this.rule === NO_RULE) return false;
    this.isRegular = (status & REGULAR) !== 0;
    this.isEvent = (status & NO_EVENT) === 0;
    return true;
  }
}

const halfAt = (bytes: Uint8Array, at: number): number => (bytes[at]! << 8) | bytes[at + 1]!;

/** Where the group header of a report is; -16: nowhere that is known. */
function groupOf({ bytes, linkType }: TelemetryBatch, start: number, end: number): number {
  if (linkType === 'report') return start;
  let at = start;
  if (linkType === 'ethernet') {
    at += 12;
    while (at + 4 <= end && (halfAt(bytes, at) === 0x8100 || halfAt(bytes, at) === 0x88a8)) at += 4;
    at += 2;
  } else if (linkType !== 'raw') return -2 * GROUP_BYTES;
  if (at >= end) return -2 * GROUP_BYTES;
  const version = bytes[at]! >>> 4;
  return at + UDP_BYTES + (version === 4 ? (bytes[at]! & 15) * 4 : 40);
}
