/** Telemetry reports 0.5, 1.0 and 2.0, and the packets inside them. Wire-format chapter 9. */
import { CODE_STATUS, CODES } from '../codes.js';
import { LAYOUT, planFor } from '../plan.js';
import { linkPayload } from './network.js';
import { readInt, readTransport } from './packet.js';
import { readKafkaXdp } from './shim.js';
import { INNER, type Scan } from './state.js';

const D = 1 << 5;
const F = 1 << 3;
/** Metadata bits of a v1.0 report: 0, 2 and 3 (ports, queue, egress timestamp), and 0 and 4 (ports, drop). */
const LOCAL_BITS = 0xb000;
const DROP_BITS = 0x8800;

/**
 * Starts reading the report in `[p, end)`.
 * @param strict all lengths must add up and the inner packet must parse: for payloads that nothing marks as a report
 * @returns true if the first individual report has been read; false if the scan holds a problem
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
  // These bits are the Length of v1.0, 4 or more, or the next protocol of v0.5, 0 to 2. The version nibble says less,
  // because v0.5 does not define its value. Two tools write Length 1.
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
 * The length of a malformed report may be wrong. So the walk goes on behind it only if the lengths of the next reports
 * lead exactly to the end of the payload. Otherwise the next bytes may be any part of a report.
 *
 * @returns whether there is one, sound or not (see `code`)
 */
export function nextIndividual(scan: Scan): boolean {
  if (scan.reportVersion !== 3 || scan.nextReport === 0) return false;
  if (CODE_STATUS[scan.code] === 'malformed' && !chainCloses(scan)) return false;
  if (scan.nextReport >= scan.payloadEnd) {
    // If a datagram is cut between two reports, only the UDP length shows that the second one is missing.
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

/** Whether the report lengths, from the next individual report on, lead exactly to the end of the payload. */
function chainCloses(scan: Scan): boolean {
  const { view, payloadEnd } = scan;
  // If a chain of lengths leads to the end, so does each later part of it. One check is enough for a datagram.
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
  // Fewer than 4 bytes are left over behind a complete report. In the place of the first report they are its start.
  if (p + 4 > end) return scan.fail(scan.index === 0 ? CODES.TRUNCATED : CODES.TRAILING_BYTES, 'report', p);
  const head = view.getUint32(p);
  const length = (head >>> 16) & 255;
  // This dialect does not count the hops, so its report ends with the frame.
  const reportEnd = settings.elhnoah ? scan.end : length === 255 ? end : p + 4 + 4 * length;
  scan.reportFlags = (head & 0xf0) >>> 2;
  scan.repType = head >>> 28;
  const innerType = (head >>> 24) & 15;
  if (strict && (head & 15) !== 0) return scan.fail(CODES.BAD_REPORT_LENGTH, 'report', p);
  if (reportEnd > end && !settings.elhnoah) {
    // A cut report still gives the values that are there.
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

/** Checks the lengths of the TLVs and reads the first TLV that holds a packet. */
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
 * A packet that is not IP is no error. A packet that ends before its INT does is TRUNCATED.
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
  // Here it is certain that the metadata is complete.
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

/** Reads the packet, if any, behind a v0.5 or v1.0 header. In these versions INT does not depend on the F bit. */
function innerOfOld(scan: Scan, type: number, p: number, end: number, strict: boolean): boolean {
  if (p === end && !strict) return true;
  scan.inner = type;
  scan.innerOffset = p;
  scan.innerEnd = end;
  return readInner(scan, type, p, end, true, strict);
}
