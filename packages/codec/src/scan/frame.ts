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
 * Afterwards the scan holds what was found: a report, INT, a GPINT probe, or nothing. Of a report it holds the first
 * individual report; `nextIndividual` reads the next one. `code` says whether the find is sound. The function never
 * throws and never reads outside the range. Its time is linear in the length of the range.
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

/** Offset behind the UDP datagram, which may lie beyond the frame; -1 if its length is impossible. */
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
  // Other traffic, also reports, may have the DSCP of INT. So what is not INT may still be a report.
  if (readInt(scan, end) || settings.reportPorts !== null || settings.intPorts.includes(port)) return;
  const { ipOffset: ip, ethernetOffset } = scan;
  if (unmarkedReport(scan, payload, end)) return;
  // The attempt has overwritten what was read of the packet itself.
  scan.forget();
  scan.ethernetOffset = ethernetOffset;
  if (readTransport(scan, ip, end)) readInt(scan, end);
}

/** Reads a payload on a port for reports. Whatever is wrong with it is a problem of a report. */
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

/** Reads a payload that nothing marks. It is a report only if all lengths add up and the packet inside parses. */
function unmarkedReport(scan: Scan, payload: number, end: number): boolean {
  const udpEnd = scan.settings.elhnoah ? end : udpEndOf(scan);
  if (udpEnd < 0 || udpEnd > end) return false;
  scan.clearPacket();
  return readReport(scan, payload, udpEnd, true);
}
