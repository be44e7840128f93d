/** Telemetry reports 0.5, 1.0 and 2.0, and the packets inside them. Wire-format chapter 9. */
import { CODE_STATUS, CODES } from '../codes.js';
import { LAYOUT, planFor } from '../plan.js';
import { linkPayload } from './network.js';
import { readInt, readTransport } from './packet.js';
import { readKafkaXdp } from './shim.js';
import { INNER, type Scan } from './state.js';

const D = 1 << 5;
const F = 1 << 3;
/** Bits 0 and 2 and 3 (ports, queue, egress timestamp), and 0 and 4 (ports, drop), of a v1.0 report's metadata bits. */
const LOCAL_BITS = 0xb000;
const DROP_BITS = 0x8800;

/**
 * Starts reading the report in `[p, end)`.
 * @param strict every length must close and the inner packet parse: for payloads that nothing marks as a report
 * @returns false with the problem noted. Otherwise the first individual report has been read
 */
export function readReport(scan: Scan, p: number, end: number, strict: boolean): boolean {
  if (p + 4 > end) return scan.fail(CODES.TRUNCATED, 'report', p);
  const first = scan.view.getUint8(p);
  const version = first >>> 4;
  scan.groupOffset = p;
  scan.payloadEnd = end;
  if (version === 2) return readGroup(scan, p, end, strict);
  if (version > 2) return scan.fail(CODES.UNSUPPORTED_REPORT_VERSION, 'report', p);
  const low = first & 15;
  // v1.0 holds its Length there, 4 or more; v0.5 its next protocol, 0 to 2. The version nibble says less: v0.5 never
  // fixed one. Two tools write Length 1.
  if (version === 1 && (low >= 4 || (low === 1 && scan.settings.oneWord))) return readReport10(scan, p, end, strict);
  if (low <= 2) return readReport05(scan, p, end, strict);
  return scan.fail(low === 3 ? CODES.BAD_NPROTO : CODES.BAD_REPORT_VERSION, 'report', p);
}

function readGroup(scan: Scan, p: number, end: number, strict: boolean): boolean {
  const { view } = scan;
  if (p + 8 > end) return scan.fail(CODES.TRUNCATED, 'report', p + 4);
  const head = view.getUint32(p);
  scan.reportVersion = 3;
  scan.hwId = (head >>> 22) & 0x3f;
  scan.sequence = head & 0x3fffff;
  scan.nodeId = view.getUint32(p + 4);
  scan.nodeKnown = true;
  if (p + 8 === end) return scan.fail(CODES.TRUNCATED, 'report', end);
  if (strict) {
    for (let at = p + 8; at < end; at = scan.nextReport) {
      scan.clearRecord();
      if (!readIndividual(scan, at, end, true)) return false;
    }
  }
  scan.clearRecord();
  return readIndividual(scan, p + 8, end, strict);
}

/**
 * Goes to the next individual report of a v2.0 datagram.
 *
 * A malformed one may be malformed in its length: behind it the walk goes on only if the chain of lengths that begins
 * there ends with the payload. Otherwise what follows is no report but some part of one.
 *
 * @returns false if there is none; true also if it is unsound (see `code`)
 */
export function nextIndividual(scan: Scan): boolean {
  if (scan.reportVersion !== 3 || scan.nextReport === 0) return false;
  if (CODE_STATUS[scan.code] === 'malformed' && !chainCloses(scan)) return false;
  if (scan.nextReport >= scan.payloadEnd) {
    // A datagram that is cut between two reports has lost the second without a trace but the UDP length.
    if (!scan.payloadCut || scan.code === CODES.TRUNCATED) return false;
    scan.payloadCut = false;
    scan.clearRecord();
    scan.index++;
    scan.fail(CODES.TRUNCATED, 'report', scan.payloadEnd);
    return true;
  }
  const at = scan.nextReport;
  scan.clearRecord();
  scan.index++;
  readIndividual(scan, at, scan.payloadEnd, false);
  return true;
}

/** Whether the report lengths from the next individual report on lead to exactly the payload's end. */
function chainCloses(scan: Scan): boolean {
  const { view, payloadEnd } = scan;
  // What follows a report in a chain that closes is one that closes too: it is followed once for each datagram.
  if (scan.chainClosed) return true;
  if (scan.payloadCut) return false;
  let at = scan.nextReport;
  while (at + 4 <= payloadEnd) {
    const length = view.getUint8(at + 1);
    at = length === 255 ? payloadEnd : at + 4 + 4 * length;
  }
  scan.chainClosed = at === payloadEnd;
  return scan.chainClosed;
}

function readIndividual(scan: Scan, p: number, end: number, strict: boolean): boolean {
  const { view, settings } = scan;
  scan.nextReport = end;
  // Behind a whole report a few bytes are left over; in place of the first one they are the start of it.
  if (p + 4 > end) return scan.fail(scan.index === 0 ? CODES.TRUNCATED : CODES.TRAILING_BYTES, 'report', p);
  const head = view.getUint32(p);
  const length = (head >>> 16) & 255;
  // This dialect leaves out hops when it counts: the report runs to the end of the frame.
  const reportEnd = settings.elhnoah ? scan.end : length === 255 ? end : p + 4 + 4 * length;
  scan.reportFlags = (head & 0xf0) >>> 2;
  scan.repType = head >>> 28;
  const innerType = (head >>> 24) & 15;
  if (strict && (head & 15) !== 0) return scan.fail(CODES.BAD_REPORT_LENGTH, 'report', p);
  if (reportEnd > end && !settings.elhnoah) {
    // What is there is still read, so that a cut report gives what it has.
    readBody(scan, p, innerType, length, end, true, strict);
    if (scan.code !== CODES.OK && scan.code !== CODES.TRUNCATED) return false;
    return scan.fail(CODES.TRUNCATED, 'report', end);
  }
  scan.nextReport = reportEnd;
  return readBody(scan, p, innerType, length, reportEnd, false, strict);
}

function readBody(
  scan: Scan,
  p: number,
  innerType: number,
  length: number,
  end: number,
  cut: boolean,
  strict: boolean,
): boolean {
  const { view, settings } = scan;
  if (scan.repType > 1) return scan.fail(CODES.UNSUPPORTED_REPORT_TYPE, 'report', p);
  if (innerType > 5) return scan.fail(CODES.UNSUPPORTED_INNER_TYPE, 'report', p);
  let at = p + 4;
  if (scan.repType === 1) {
    const metadataWords = settings.elhnoah ? 0 : view.getUint8(p + 2);
    if (length < 2 && !settings.elhnoah) return scan.fail(CODES.BAD_REPORT_LENGTH, 'report', p + 1);
    if (p + 12 > end) return scan.fail(CODES.TRUNCATED, 'report', Math.min(p + 4, end));
    if (metadataWords + 2 > length && !settings.elhnoah) return scan.fail(CODES.BAD_MD_LENGTH, 'report', p + 2);
    const bits = settings.elhnoah ? 0 : view.getUint16(p + 4);
    scan.reportDomainId = view.getUint16(p + 6);
    scan.reportDomainBits = view.getUint16(p + 8);
    scan.reportDomainStatus = view.getUint16(p + 10);
    const words = planFor(LAYOUT.REPORT20, bits).words;
    if (words > metadataWords) return scan.fail(CODES.BAD_MD_LENGTH, 'report', p + 2);
    if (metadataWords > words && scan.reportDomainBits === 0) return scan.fail(CODES.BAD_MD_LENGTH, 'report', p + 2);
    at = p + 12 + 4 * metadataWords;
    if (at > end) {
      if (!cut) return scan.fail(CODES.BAD_MD_LENGTH, 'report', p + 2);
      return scan.fail(CODES.TRUNCATED, 'report', end);
    }
    scan.ownLayout = LAYOUT.REPORT20;
    scan.ownBits = bits;
    scan.ownOffset = p + 12;
    scan.ownDomainWords = metadataWords - words;
    scan.ownDomainOffset = p + 12 + 4 * words;
  }
  scan.innerOffset = at;
  scan.innerEnd = end;
  scan.inner = innerType;
  switch (innerType) {
    case INNER.NONE:
      if (at !== end && !cut) return scan.fail(CODES.BAD_REPORT_LENGTH, 'report', p + 1);
      return true;
    case INNER.DOMAIN:
      return true;
    case INNER.TLV:
      return readTlvs(scan, at, end, strict);
    default:
      // F says that there may be INT inside. Without F there is none (report v2.0 section 3.3).
      return readInner(scan, innerType, at, end, (scan.reportFlags & F) !== 0, strict);
  }
}

/** Checks the chain of TLVs and reads the first one that holds a packet. */
function readTlvs(scan: Scan, p: number, end: number, strict: boolean): boolean {
  const { view } = scan;
  let packet = 0;
  let packetType = 0;
  let packetEnd = 0;
  for (let at = p; at < end; ) {
    if (at + 4 > end) return scan.fail(CODES.BAD_TLV_LENGTH, 'tlv', at);
    const head = view.getUint32(at);
    const next = at + 4 + 4 * ((head >>> 16) & 255);
    if (next > end) return scan.fail(CODES.BAD_TLV_LENGTH, 'tlv', at + 1);
    const type = head >>> 28;
    if (packetType === 0 && type >= 1 && type <= 3) {
      packet = at + 4;
      packetType = type + 2;
      packetEnd = next;
    }
    at = next;
  }
  if (packetType === 0) return true;
  return readInner(scan, packetType, packet, packetEnd, (scan.reportFlags & F) !== 0, strict);
}

/**
 * Reads the packet inside a report: its flow, and its INT if there is any.
 * A packet that merely is no IP is no error; one that is cut before its INT ends is TRUNCATED.
 */
function readInner(scan: Scan, type: number, p: number, end: number, lookForInt: boolean, strict: boolean): boolean {
  const { view } = scan;
  let ip = p;
  if (type === INNER.ETHERNET) {
    ip = linkPayload(scan, 'ethernet', p, end);
  } else if (p >= end) {
    return scan.fail(CODES.TRUNCATED, type === INNER.IPV4 ? 'ipv4' : 'ipv6', p);
  } else if (view.getUint8(p) >>> 4 !== (type === INNER.IPV4 ? 4 : 6)) {
    return scan.fail(CODES.BAD_INNER_PACKET, type === INNER.IPV4 ? 'ipv4' : 'ipv6', p);
  }
  if (ip < 0 || !readTransport(scan, ip, end)) {
    if (scan.code === CODES.NOT_INT && !strict) {
      scan.code = CODES.OK;
      return true;
    }
    return false;
  }
  if (scan.settings.kafkaXdp && scan.reportVersion === 2) return readKafkaXdp(scan, scan.ipOffset + 40, end);
  if (!lookForInt || readInt(scan, end)) return true;
  if (scan.code !== CODES.NOT_INT) return false;
  scan.code = CODES.OK;
  scan.clearInt();
  return true;
}

function readReport10(scan: Scan, p: number, end: number, strict: boolean): boolean {
  const { view, settings } = scan;
  if (p + 16 > end) return scan.fail(CODES.TRUNCATED, 'report', end);
  const head = view.getUint32(p);
  const bits = ((head >>> 15) & 63) << 10;
  const words = planFor(LAYOUT.REPORT10, bits).words;
  scan.clearRecord();
  scan.reportVersion = 2;
  // D, Q, F lie lower than in v2.0; there is no I.
  scan.reportFlags = (head >>> 3) & 0x38;
  scan.hwId = head & 63;
  scan.nodeId = view.getUint32(p + 4);
  scan.nodeKnown = true;
  scan.sequence = view.getUint32(p + 8);
  scan.timestamp = view.getUint32(p + 12);
  scan.repType = bits === 0 ? 0 : 1;
  const length = (head >>> 24) & 15;
  if (length !== 4 + words && !(settings.oneWord && length === 1))
    return scan.fail(CODES.BAD_REPORT_LENGTH, 'report', p);
  const nextProtocol = (head >>> 21) & 7;
  if (nextProtocol > 2) return scan.fail(CODES.BAD_NPROTO, 'report', p + 1);
  if (strict && ((head >>> 9) & 63) !== 0) return scan.fail(CODES.BAD_REPORT_VERSION, 'report', p + 2);
  if (p + 16 + 4 * words > end) return scan.fail(CODES.TRUNCATED, 'report', end);
  // Only now is it sure that they are there.
  scan.ownLayout = LAYOUT.REPORT10;
  scan.ownBits = bits;
  scan.ownOffset = p + 16;
  return innerOfOld(scan, INNER.ETHERNET + nextProtocol, p + 16 + 4 * words, end, strict);
}

function readReport05(scan: Scan, p: number, end: number, strict: boolean): boolean {
  const { view } = scan;
  if (p + 12 > end) return scan.fail(CODES.TRUNCATED, 'report', end);
  const head = view.getUint32(p);
  const nextProtocol = (head >>> 24) & 15;
  scan.clearRecord();
  scan.reportVersion = 1;
  // D, Q, F are the upper three bits of byte 1.
  scan.reportFlags = (head >>> 18) & 0x38;
  scan.hwId = head & 63;
  scan.sequence = view.getUint32(p + 4);
  scan.timestamp = view.getUint32(p + 8);
  scan.repType = nextProtocol === 0 ? 0 : 1;
  if (strict && ((head >>> 6) & 0x7fff) !== 0) return scan.fail(CODES.BAD_REPORT_VERSION, 'report', p + 1);
  let inner = p + 12;
  if (nextProtocol !== 0) {
    inner += nextProtocol === 1 ? 12 : 16;
    if (inner > end) return scan.fail(CODES.TRUNCATED, 'report', end);
    scan.nodeId = view.getUint32(p + 12);
    scan.nodeKnown = true;
    scan.ownLayout = LAYOUT.REPORT10;
    scan.ownBits = nextProtocol === 1 ? DROP_BITS : LOCAL_BITS;
    scan.ownOffset = p + 16;
    if (strict && (nextProtocol === 1) !== ((scan.reportFlags & D) !== 0)) {
      return scan.fail(CODES.BAD_REPORT_VERSION, 'report', p + 1);
    }
  }
  return innerOfOld(scan, INNER.ETHERNET, inner, end, strict);
}

/** The packet behind a v0.5 or v1.0 header. These versions do not tie INT to the F bit. A bare header is accepted. */
function innerOfOld(scan: Scan, type: number, p: number, end: number, strict: boolean): boolean {
  if (p === end && !strict) return true;
  scan.inner = type;
  scan.innerOffset = p;
  scan.innerEnd = end;
  return readInner(scan, type, p, end, true, strict);
}
