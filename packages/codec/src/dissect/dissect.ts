import type { Problem } from '../model.js';
import type { DecodeOptions } from '../options.js';
import { problemOf } from '../record.js';
import { scanFrame } from '../scan/frame.js';
import { GPINT_MODE } from '../scan/gpint.js';
import { settingsOf } from '../scan/settings.js';
import { Scan } from '../scan/state.js';
import { type DissectedField, Parts } from './field.js';
import { addProbe } from './gpint.js';
import { addPacket } from './packet.js';
import { addReport } from './report.js';

/** A frame, taken apart. */
export interface Dissection {
  /** Headers and bytes in wire order, from the link layer on. They cover the frame without gaps and without overlap. */
  readonly fields: readonly DissectedField[];
  /** What is wrong, one for each individual report that has a problem; the same as `error` of the decoded records. */
  readonly problems: readonly Problem[];
}

/**
 * Takes a frame apart: every header with every field, its place in the frame and its value. It follows the decisions of
 * the decoder, so the tree shows what {@link decodeFrame} has read, and where.
 *
 * Bytes that no header claims are `payload` or `padding`. Behind a problem the bytes are `undecoded`; `problems` says what it
 * is. It is meant for people who look at one frame: decode with {@link FrameDecoder}.
 *
 * @param frame the bytes; the result does not refer to them
 * @param options as for {@link decodeFrame}; `linkType` says what the frame starts with
 * @returns never throws because of the bytes. A tree has at most eight leaves for each byte
 * @throws RangeError for an option out of range
 * @example
 * const { fields } = dissect(frame);
 * for (const { name, text, offset } of fields) console.log(offset, name, text);
 */
export function dissect(frame: Uint8Array, options: DecodeOptions = {}): Dissection {
  const scan = new Scan(settingsOf(options));
  const { linkType } = scan.settings;
  const end = frame.length;
  scanFrame(scan, frame, 0, end, linkType);
  const parts = new Parts(frame);
  const first = problemOf(scan);
  const problems = first === null ? [] : [first];
  if (linkType === 'report') {
    addReport(parts, scan, 0, end, problems);
    return { fields: parts.list, problems };
  }
  const isReport = scan.reportVersion !== 0 || (first !== null && (first.layer === 'report' || first.layer === 'tlv'));
  const isProbe = scan.mode === GPINT_MODE;
  addPacket(parts, scan, linkType, 0, end, (inside, at, ipEnd) => {
    if (!isReport && !isProbe) return false;
    const to = isReport && scan.settings.elhnoah ? end : Math.min(udpEnd(scan, at, ipEnd), end);
    if (isReport) addReport(inside, scan, at, to, problems);
    else addProbe(inside, scan, at, to);
    inside.bytes('padding', to, end);
    return true;
  });
  return { fields: parts.list, problems };
}

/** Offset behind the UDP datagram whose payload is at `at`. */
function udpEnd(scan: Scan, at: number, ipEnd: number): number {
  const length = scan.view.getUint16(at - 4);
  return length === 0 ? ipEnd : Math.max(at, at - 8 + length);
}
