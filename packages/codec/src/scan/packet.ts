/** Finds the INT of a packet, from its IP header on: the markings, in the order in which they are tried. */
import { CODES } from '../codes.js';
import { IP_PROTOCOL } from '../headers/ip.js';
import { dscpOf, network, readPorts } from './network.js';
import { GENEVE_PORT, VXLAN_GPE_PORT } from './settings.js';
import { readShim } from './shim.js';
import { MARKING, type Scan } from './state.js';
import { readGeneve, readGre, readVxlanGpe } from './tunnel.js';

/**
 * Reads IP and transport headers at `ip`.
 * Sets the flow, and the offset of the transport header in `l4Offset`.
 * @returns false if there is no complete transport header; the scan then holds the code
 */
export function readTransport(scan: Scan, ip: number, end: number): boolean {
  const l4 = network(scan, ip, end);
  if (l4 < 0) return false;
  scan.l4Offset = l4;
  const limit = Math.min(end, scan.ipEnd);
  const protocol = scan.l4Protocol;
  if (protocol === IP_PROTOCOL.UDP) {
    if (l4 + 8 > limit) return short(scan, 'udp', l4, end);
  } else if (protocol === IP_PROTOCOL.TCP) {
    if (l4 + 20 > limit) return short(scan, 'tcp', l4, end);
    if (scan.view.getUint8(l4 + 12) >>> 4 < 5) return scan.fail(CODES.BAD_TCP_LENGTH, 'tcp', l4 + 12);
  }
  readPorts(scan, protocol, l4, limit);
  return true;
}

/** Notes that the transport header is not complete: the packet is too short for it, or the frame is cut. */
function short(scan: Scan, layer: 'udp' | 'tcp', l4: number, end: number): false {
  const needed = l4 + (layer === 'udp' ? 8 : 20);
  scan.flow = false;
  return needed > scan.ipEnd && scan.ipEnd <= end
    ? scan.fail(CODES.BAD_IP_LENGTH, layer, l4)
    : scan.fail(CODES.TRUNCATED, layer, l4);
}

/**
 * Looks for INT in a packet whose transport header has been read: by UDP destination port, DSCP, probe marker, then
 * VXLAN-GPE, Geneve, GRE.
 * @returns true if there is INT and it is sound. Otherwise the code is NOT_INT, or says what is wrong
 */
export function readInt(scan: Scan, end: number): boolean {
  const { settings, l4Offset: l4, l4Protocol: protocol } = scan;
  if (protocol === IP_PROTOCOL.UDP) {
    if (settings.intPorts.includes(scan.destinationPort)) {
      return readShim(scan, l4 + 8, MARKING.PORT, protocol, end) || (markedByDscp(scan) && portAndDscp(scan, end));
    }
    if (markedByDscp(scan)) return dscpUdp(scan, end);
    if (markerAt(scan, l4 + 8, end)) return readShim(scan, l4 + 16, MARKING.PROBE_MARKER, protocol, end);
    return tunnel(scan, end);
  }
  if (protocol === IP_PROTOCOL.TCP) {
    const options = l4 + (scan.view.getUint8(l4 + 12) >>> 4) * 4;
    if (markedByDscp(scan)) return afterTcp(scan, options, end);
    if (markerAt(scan, options, end)) return readShim(scan, options + 8, MARKING.PROBE_MARKER, protocol, end);
    if (markerAt(scan, l4 + 20, end)) return readShim(scan, l4 + 28, MARKING.PROBE_MARKER, protocol, end);
    return scan.fail(CODES.NOT_INT, 'tcp', l4);
  }
  if (protocol === IP_PROTOCOL.GRE) return readGre(scan, l4, end);
  return scan.fail(CODES.NOT_INT, 'link', scan.ipOffset);
}

function markedByDscp(scan: Scan): boolean {
  const { dscpMask, dscpValue } = scan.settings;
  return dscpValue >= 0 && (dscpOf(scan) & dscpMask) === dscpValue;
}

function markerAt(scan: Scan, p: number, end: number): boolean {
  const { settings, view } = scan;
  return (
    settings.markerSet &&
    p + 8 <= Math.min(end, scan.ipEnd) &&
    view.getUint32(p) === settings.markerHigh &&
    view.getUint32(p + 4) === settings.markerLow
  );
}

/** In a domain that marks by DSCP, a flow may use a port that marks INT in other domains. */
function portAndDscp(scan: Scan, end: number): boolean {
  const { code, layer, at } = scan;
  if (readShim(scan, scan.l4Offset + 8, MARKING.DSCP, IP_PROTOCOL.UDP, end)) return true;
  scan.clearInt();
  return scan.fail(code, layer, at);
}

/** A tunnel may have the DSCP of the domain as well. Then the INT header in the tunnel decides. */
function dscpUdp(scan: Scan, end: number): boolean {
  const port = scan.destinationPort;
  if (readShim(scan, scan.l4Offset + 8, MARKING.DSCP, IP_PROTOCOL.UDP, end)) return true;
  if (port !== VXLAN_GPE_PORT && port !== GENEVE_PORT) return false;
  const { code, layer, at } = scan;
  return tunnel(scan, end) || (scan.code === CODES.NOT_INT && scan.fail(code, layer, at));
}

/** Domains put INT behind the TCP options or before them. Behind is tried first (INT v2.1 section 5.7.2). */
function afterTcp(scan: Scan, options: number, end: number): boolean {
  const { l4Offset: l4 } = scan;
  if (readShim(scan, options, MARKING.DSCP, IP_PROTOCOL.TCP, end)) return true;
  if (options === l4 + 20) return false;
  const { code, layer, at } = scan;
  if (readShim(scan, l4 + 20, MARKING.DSCP, IP_PROTOCOL.TCP, end)) return true;
  // A stack that is merely cut says more than TCP options that are read as a shim.
  if (scan.code === CODES.TRUNCATED && scan.mode !== 0) return false;
  scan.clearInt();
  return scan.fail(code, layer, at);
}

function tunnel(scan: Scan, end: number): boolean {
  const p = scan.l4Offset + 8;
  if (scan.destinationPort === VXLAN_GPE_PORT) return readVxlanGpe(scan, p, end);
  if (scan.destinationPort === GENEVE_PORT) return readGeneve(scan, p, end);
  return scan.fail(CODES.NOT_INT, 'udp', scan.l4Offset);
}
