/** Whole frames: telemetry reports and packets that carry INT, or neither. */
import { CODES } from '../codes.js';
import { IP_PROTOCOL } from '../headers/ip.js';
import type { LinkLayer } from '../options.js';
import { verifyChecksums } from './checksums.js';
import { readProbe } from './gpint.js';
import { linkPayload } from './network.js';
import { readInt, readTransport } from './packet.js';
import { readReport } from './report.js';
import { INTMON_PORT, KAFKA_XDP_PORT } from './settings.js';
import { readIntMon } from './shim.js';
import type { Scan } from './state.js';

/**
 * Reads the frame in `bytes[start, end)`.
 *
 * Afterwards the scan says what was found: a report (its first individual one; go on with `nextIndividual`), INT, a
 * GPINT probe, or none, and in `code` whether it is sound. Never throws, never reads outside the range, takes time
 * linear in its length.
 */
export function scanFrame(scan: Scan, bytes: Uint8Array, start: number, end: number, link: LinkLayer): void {
  scan.aim(bytes, start, end);
  if (link === 'report') {
    readReport(scan, start, end, false);
    return;
  }
  const ip = linkPayload(scan, link, start, end);
  if (ip < 0 || !readTransport(scan, ip, end)) return;
  if (scan.settings.verifyChecksums && !verifyChecksums(scan, end)) return;
  if (scan.l4Protocol !== IP_PROTOCOL.UDP) {
    readInt(scan, end);
    return;
  }
  readUdp(scan, end);
}

/** One past the last byte of the UDP datagram (it may lie beyond the frame), or -1 if its length is impossible. */
function udpEndOf(scan: Scan): number {
  const length = scan.view.getUint16(scan.l4Offset + 4);
  // 0 in a jumbogram (RFC 2675): the datagram ends with the packet.
  if (length === 0) return scan.ipEnd;
  const udpEnd = scan.l4Offset + length;
  return length < 8 || udpEnd > scan.ipEnd ? -1 : udpEnd;
}

function readUdp(scan: Scan, end: number): void {
  const { settings, l4Offset } = scan;
  const payload = l4Offset + 8;
  const port = scan.destinationPort;
  if (port === settings.probePort || port === settings.extendedProbePort) {
    const udpEnd = udpEndOf(scan);
    if (udpEnd < 0) scan.fail(CODES.BAD_UDP_LENGTH, 'udp', l4Offset + 4);
    else readProbe(scan, payload, Math.min(udpEnd, end), port === settings.extendedProbePort);
    return;
  }
  if (settings.reportPorts?.includes(port) || (settings.kafkaXdp && port === KAFKA_XDP_PORT)) {
    markedReport(scan, payload, end);
    return;
  }
  if (settings.intmon && port === INTMON_PORT) {
    readIntMon(scan, payload, end);
    return;
  }
  // DSCP is shared with other traffic, reports among them: what is no INT there may still be a report.
  if (readInt(scan, end) || settings.reportPorts !== null || settings.intPorts.includes(port)) return;
  const { ipOffset: ip, ethernetOffset } = scan;
  if (unmarkedReport(scan, payload, end)) return;
  // The trial has overwritten what was read of the packet itself.
  scan.forget();
  scan.ethernetOffset = ethernetOffset;
  if (readTransport(scan, ip, end)) readInt(scan, end);
}

/** A report on a port that was given for reports. Its problems are reported as such. */
function markedReport(scan: Scan, payload: number, end: number): void {
  const udpEnd = scan.settings.elhnoah ? end : udpEndOf(scan);
  // From here on the flow is that of the packet inside.
  scan.clearPacket();
  if (udpEnd < 0) {
    scan.fail(CODES.BAD_UDP_LENGTH, 'udp', payload - 4);
    return;
  }
  scan.payloadCut = udpEnd > end;
  readReport(scan, payload, Math.min(udpEnd, end), false);
}

/** A payload that nothing marks is a report only if every length closes and the packet inside parses. */
function unmarkedReport(scan: Scan, payload: number, end: number): boolean {
  const udpEnd = scan.settings.elhnoah ? end : udpEndOf(scan);
  if (udpEnd < 0 || udpEnd > end) return false;
  scan.clearPacket();
  return readReport(scan, payload, udpEnd, true);
}
