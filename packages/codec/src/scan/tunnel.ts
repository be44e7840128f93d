/** INT in tunnels: VXLAN-GPE, Geneve, GRE. The monitored flow is the encapsulated packet's. Sections 3.5 to 3.7. */
import { CODES } from '../codes.js';
import { ETHER_TYPE } from '../headers/link.js';
import { afterType, linkPayload, network, readPorts } from './network.js';
import { GENEVE_INT_CLASSES, GPE_INT_PROTOCOLS } from './settings.js';
import { readIntHeader } from './stack.js';
import type { Scan } from './state.js';

const VXLAN_GPE = 4;
const GENEVE = 5;
const GRE = 6;
const MAX_SHIMS = 8;

/**
 * Reads the flow of an encapsulated packet, and the place of its Ethernet header. INT and the offsets of the outer
 * packet remain as they are. If the inner packet is cut or is not IP, the flow is unknown; the telemetry is complete
 * all the same.
 */
function encapsulatedFlow(scan: Scan, etherType: number, p: number, end: number): void {
  const { ipOffset, ipEnd, l4Protocol, code, layer, at } = scan;
  scan.flow = false;
  scan.ipv6 = false;
  scan.ethernetOffset = -1;
  const isEthernet = etherType === ETHER_TYPE.TRANSPARENT_ETHERNET;
  const ip = isEthernet ? linkPayload(scan, 'ethernet', p, end) : afterType(scan, etherType, p, end);
  const l4 = ip < 0 ? -1 : network(scan, ip, end);
  if (l4 < 0 || !readPorts(scan, scan.l4Protocol, l4, Math.min(end, scan.ipEnd))) {
    scan.flow = false;
    scan.ipv6 = false;
  }
  scan.ipOffset = ipOffset;
  scan.ipEnd = ipEnd;
  scan.l4Protocol = l4Protocol;
  scan.code = code;
  scan.layer = layer;
  scan.at = at;
}

/** Reads VXLAN-GPE at `p`, with one or more shims. NOT_INT if the next protocol does not say INT. */
export function readVxlanGpe(scan: Scan, p: number, end: number): boolean {
  const { view } = scan;
  scan.clearInt();
  if (p + 8 > end) return scan.fail(CODES.TRUNCATED, 'vxlan-gpe', p);
  const flags = view.getUint8(p);
  let next = view.getUint8(p + 3);
  if (!GPE_INT_PROTOCOLS.includes(next)) return scan.fail(CODES.NOT_INT, 'vxlan-gpe', p + 3);
  // Without the P bit there is no next protocol. INT in this form is older than version 0.5.
  if ((flags & 0x34) !== 0x04) return scan.fail(CODES.UNSUPPORTED_INT_VERSION, 'vxlan-gpe', p);
  let shim = p + 8;
  let found = false;
  for (let depth = 0; GPE_INT_PROTOCOLS.includes(next); depth++) {
    if (depth === MAX_SHIMS) return scan.fail(CODES.UNSUPPORTED_NESTING, 'shim', shim);
    if (shim + 4 > end) return scan.fail(CODES.TRUNCATED, 'shim', shim);
    const first = view.getUint8(shim);
    const v2 = first >>> 4 !== 0;
    const type = v2 ? first >>> 4 : first;
    // Length moved from byte 2 to byte 1 and stopped counting the shim in v2.0.
    const length = v2 ? 4 + 4 * view.getUint8(shim + 1) : 4 * view.getUint8(shim + 2);
    if (length < 12) return scan.fail(CODES.BAD_SHIM_LENGTH, 'shim', shim + (v2 ? 1 : 2));
    if (shim + length > scan.ipEnd) return scan.fail(CODES.SHIM_BEYOND_PACKET, 'shim', shim + (v2 ? 1 : 2));
    if (type === 1 || type === 3) {
      if (found) return scan.fail(CODES.BAD_SHIM_TYPE, 'shim', shim);
      found = true;
      scan.encapsulation = VXLAN_GPE;
      scan.shimOffset = shim;
      if (!readIntHeader(scan, type, v2 ? 2 : 0, shim + 4, shim + length, end)) return false;
    } else if (type !== 2) {
      return scan.fail(CODES.BAD_SHIM_TYPE, 'shim', shim);
    }
    next = view.getUint8(shim + 3);
    shim += length;
    if (shim > end) return scan.fail(CODES.TRUNCATED, 'shim', end);
  }
  if (!found) return scan.fail(CODES.UNSUPPORTED_SHIM_TYPE, 'shim', p + 8);
  const etherType = next === 1 ? 0x0800 : next === 2 ? 0x86dd : next === 3 ? ETHER_TYPE.TRANSPARENT_ETHERNET : 0;
  encapsulatedFlow(scan, etherType, shim, Math.min(end, scan.ipEnd));
  return true;
}

/** Reads Geneve at `p`: the first INT option of type 1 or 3. NOT_INT if there is none. */
export function readGeneve(scan: Scan, p: number, end: number): boolean {
  const { view } = scan;
  scan.clearInt();
  if (p + 8 > end) return scan.fail(CODES.TRUNCATED, 'geneve', p);
  const first = view.getUint8(p);
  if (first >>> 6 !== 0) return scan.fail(CODES.NOT_INT, 'geneve', p);
  const optionsEnd = p + 8 + 4 * (first & 63);
  let found = false;
  let destination = false;
  for (let option = p + 8; option < optionsEnd; ) {
    if (option + 4 > end) return scan.fail(CODES.TRUNCATED, 'geneve', option);
    const head = view.getUint32(option);
    const length = 4 + 4 * (head & 31);
    if (option + length > optionsEnd) return scan.fail(CODES.BAD_TUNNEL, 'geneve', option);
    if (GENEVE_INT_CLASSES.includes(head >>> 16)) {
      // The upper bit of the type marks a critical option and is not part of the INT header type.
      const type = (head >>> 8) & 0x7f;
      if (type === 2) destination = true;
      else if (type !== 1 && type !== 3) return scan.fail(CODES.BAD_SHIM_TYPE, 'geneve', option + 2);
      else if (found) return scan.fail(CODES.BAD_SHIM_TYPE, 'geneve', option + 2);
      else {
        found = true;
        scan.encapsulation = GENEVE;
        scan.shimOffset = option;
        if (length < 12) return scan.fail(CODES.BAD_SHIM_LENGTH, 'geneve', option + 3);
        if (option + length > scan.ipEnd) return scan.fail(CODES.SHIM_BEYOND_PACKET, 'geneve', option + 3);
        if (!readIntHeader(scan, type, -1, option + 4, option + length, end)) return false;
      }
    }
    option += length;
  }
  if (!found) {
    return scan.fail(destination ? CODES.UNSUPPORTED_SHIM_TYPE : CODES.NOT_INT, 'geneve', p);
  }
  encapsulatedFlow(scan, view.getUint16(p + 2), optionsEnd, Math.min(end, scan.ipEnd));
  return true;
}

/** Reads GRE at `p` (RFC 2784, RFC 2890, RFC 1701 without routing). NOT_INT if the protocol type is not that of INT. */
export function readGre(scan: Scan, p: number, end: number): boolean {
  const { view } = scan;
  scan.clearInt();
  if (p + 4 > end) return scan.fail(CODES.TRUNCATED, 'gre', p);
  const flags = view.getUint16(p);
  if (view.getUint16(p + 2) !== scan.settings.greProtocol) return scan.fail(CODES.NOT_INT, 'gre', p + 2);
  if ((flags & 0x4007) !== 0) return scan.fail(CODES.BAD_TUNNEL, 'gre', p);
  const shim = p + 4 + (flags & 0x8000 ? 4 : 0) + (flags & 0x2000 ? 4 : 0) + (flags & 0x1000 ? 4 : 0);
  if (shim + 4 > end) return scan.fail(CODES.TRUNCATED, 'shim', Math.min(shim, end));
  const word = view.getUint32(shim);
  const type = word >>> 28;
  const length = 4 + 4 * ((word >>> 16) & 255);
  const next = word & 0xffff;
  scan.encapsulation = GRE;
  scan.shimOffset = shim;
  if (type === 2) return scan.fail(CODES.UNSUPPORTED_SHIM_TYPE, 'shim', shim);
  if (type !== 1 && type !== 3) return scan.fail(CODES.BAD_SHIM_TYPE, 'shim', shim);
  if (length < 16) return scan.fail(CODES.BAD_SHIM_LENGTH, 'shim', shim + 1);
  if (shim + length > scan.ipEnd) return scan.fail(CODES.SHIM_BEYOND_PACKET, 'shim', shim + 1);
  if (next < 0x0600) return scan.fail(CODES.BAD_NEXT_PROTOCOL, 'shim', shim + 2);
  if (!readIntHeader(scan, type, 2, shim + 4, shim + length, end)) return false;
  encapsulatedFlow(scan, next, shim + length, Math.min(end, scan.ipEnd));
  return true;
}
