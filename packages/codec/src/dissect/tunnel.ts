/** The parts of tunnels that carry INT: VXLAN-GPE, Geneve, GRE. */
import { FieldGroup } from '../headers/codec.js';
import { ETHER_TYPE } from '../headers/link.js';
import { greShim, INT_TYPE, vxlanGpeShimV1, vxlanGpeShimV2 } from '../headers/shim.js';
import { GENEVE, GENEVE_OPTION, vxlanGpe } from '../headers/tunnels.js';
import { GPE_INT_PROTOCOLS } from '../scan/settings.js';
import type { Scan } from '../scan/state.js';
import type { Parts } from './field.js';
import { addHeader, ENCAPSULATION } from './int.js';

const GRE = /* @__PURE__ */ new FieldGroup('gre', {
  hasChecksum: 'flag',
  hasRouting: 'flag',
  hasKey: 'flag',
  hasSequenceNumber: 'flag',
  reserved: 9,
  version: 3,
  protocolType: 16,
});
const MAX_SHIMS = 8;

/** EtherType and first byte of the packet in the tunnel. */
type Inner = readonly [etherType: number, at: number];

/** The tunnel at `p`, with its INT. What it adds ends where the inner packet begins, or at `end`. */
export function addTunnel(parts: Parts, scan: Scan, p: number, end: number): Inner {
  switch (scan.encapsulation) {
    case ENCAPSULATION.VXLAN_GPE:
      return addVxlanGpe(parts, scan, p, end);
    case ENCAPSULATION.GENEVE:
      return addGeneve(parts, scan, p, end);
    default:
      return addGre(parts, scan, p, end);
  }
}

/** INT header and stack in `[at, to)`; what the scan could not read of them is `undecoded`. */
function addIntBetween(parts: Parts, scan: Scan, at: number, to: number): void {
  parts.bytes('undecoded', addHeader(parts, scan, at, to), to);
}

function addVxlanGpe(parts: Parts, scan: Scan, p: number, end: number): Inner {
  let next = parts.headerGroup('vxlan-gpe', vxlanGpe, p, end) ? scan.bytes[p + 3]! : 0;
  let at = p + 8;
  for (let depth = 0; depth < MAX_SHIMS && GPE_INT_PROTOCOLS.includes(next) && at < end; depth++) {
    const shim = at;
    const isV2 = scan.bytes[shim]! >>> 4 !== 0;
    const codec = isV2 ? vxlanGpeShimV2 : vxlanGpeShimV1;
    if (!parts.headerGroup('shim', codec, shim, end)) return [0, end];
    const length = isV2 ? 4 + 4 * scan.bytes[shim + 1]! : 4 * scan.bytes[shim + 2]!;
    const to = Math.max(shim + 4, Math.min(shim + length, end));
    if (shim === scan.shimOffset) addIntBetween(parts, scan, shim + 4, to);
    else parts.bytes(isDestination(scan, shim, isV2) ? 'data' : 'undecoded', shim + 4, to);
    next = scan.bytes[shim + 3]!;
    at = to;
  }
  return [
    next === 1 ? ETHER_TYPE.IPV4 : next === 2 ? ETHER_TYPE.IPV6 : next === 3 ? ETHER_TYPE.TRANSPARENT_ETHERNET : 0,
    at,
  ];
}

function isDestination(scan: Scan, shim: number, isV2: boolean): boolean {
  const first = scan.bytes[shim]!;
  return (isV2 ? first >>> 4 : first) === INT_TYPE.DESTINATION;
}

function addGeneve(parts: Parts, scan: Scan, p: number, end: number): Inner {
  let at = p;
  parts.group('geneve', p, (inside) => {
    if (!inside.header(GENEVE, p, end)) {
      at = end;
      return '';
    }
    at = p + 8;
    const optionsEnd = Math.min(at + 4 * (scan.bytes[p]! & 63), end);
    while (at < optionsEnd) at = addOption(inside, scan, at, optionsEnd);
    return '';
  });
  return [p + 4 <= end ? scan.view.getUint16(p + 2) : 0, at];
}

function addOption(parts: Parts, scan: Scan, at: number, end: number): number {
  let to = end;
  parts.group('geneve-option', at, (inside) => {
    if (!inside.header(GENEVE_OPTION, at, end)) return '';
    to = Math.min(at + 4 + 4 * (scan.bytes[at + 3]! & 31), end);
    if (at === scan.shimOffset) addIntBetween(inside, scan, at + 4, to);
    else inside.bytes('data', at + 4, to);
    return '';
  });
  return to;
}

function addGre(parts: Parts, scan: Scan, p: number, end: number): Inner {
  let at = p;
  parts.group('gre', p, (inside) => {
    if (!inside.header(GRE, p, end)) {
      at = end;
      return '';
    }
    const flags = scan.bytes[p]!;
    at = p + 4;
    if ((flags & 0x80) !== 0) {
      at = addWord(inside, scan, at, end, ['checksum', 'reserved2']);
    }
    if ((flags & 0x20) !== 0) at = addWord(inside, scan, at, end, ['key']);
    if ((flags & 0x10) !== 0) at = addWord(inside, scan, at, end, ['sequenceNumber']);
    return '';
  });
  const shim = at;
  if (!parts.headerGroup('shim', greShim, shim, end)) return [0, end];
  const to = Math.min(shim + 4 + 4 * scan.bytes[shim + 1]!, end);
  addIntBetween(parts, scan, shim + 4, to);
  return [scan.view.getUint16(shim + 2), to];
}

/** One word of a GRE header, as one field or as two halves. */
function addWord(parts: Parts, scan: Scan, at: number, end: number, names: readonly string[]): number {
  if (at + 4 > end) {
    parts.bytes('undecoded', at, end);
    return end;
  }
  const width = 32 / names.length;
  const word = scan.view.getUint32(at);
  for (const [k, name] of names.entries()) {
    const value = names.length === 1 ? word : k === 0 ? word >>> 16 : word & 0xffff;
    parts.field(name, value, at, k * width, width);
  }
  return at + 4;
}
