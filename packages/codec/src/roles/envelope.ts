/** For each encapsulation: where a source puts INT, and what it writes around it. */
import { crc32 } from '@int/hash';
import { parseAddress, writeAddress } from '../address.js';
import { ipv4HeaderChecksum } from '../checksum.js';
import { concat, copyOf } from '../copy.js';
import { encodeGpeShim, encodeShim, GENEVE_CLASS, GPE_PROTOCOL } from '../encode/int-header.js';
import { CodecError } from '../errors.js';
import { readUint16, requireFit, writeUint16 } from '../headers/codec.js';
import { IP_PROTOCOL } from '../headers/ip.js';
import { ETHER_TYPE } from '../headers/link.js';
import { greShim, INT_TYPE, intTail, probeMarker, shimV2 } from '../headers/shim.js';
import { udp } from '../headers/transport.js';
import { geneve, gre, TUNNEL_PORT } from '../headers/tunnels.js';
import { GPE_INT_PROTOCOLS, INTMON_PORT } from '../scan/settings.js';
import type { SourceConfig } from './config.js';
import { type OuterPacket, protocolFieldAt, readDscp, writeDscp } from './packet.js';
import type { SourceRule } from './plan.js';

const NONE = /* @__PURE__ */ new Uint8Array(0);
const GRE_BYTES = 4;

/** Where INT goes, and what goes with it. */
export interface Envelope {
  /** Where bytes are inserted. */
  readonly at: number;
  /** Makes the bytes in front of the INT header. @param bytes length of header and stack */
  prefix(bytes: number): Uint8Array;
  /** Bytes behind the stack. Default: none. */
  readonly suffix?: Uint8Array;
  /** Bytes of `prefix` and `suffix`. */
  readonly overhead: number;
  /** The most bytes that header and stack may have. */
  readonly room: number;
  /** Changes fields outside the inserted bytes. Lengths and checksums come later. */
  patch?(out: Uint8Array, bytes: number): void;
  /** What is to be updated then: the IP header alone, or nothing. Default: IP header and transport header. */
  readonly settle?: 'ip' | 'none';
}

/** Everything an envelope depends on. */
interface Setting {
  readonly packet: Uint8Array;
  readonly outer: OuterPacket;
  readonly rule: SourceRule;
  readonly config: SourceConfig;
}

/** Offset behind the transport header; -1 if it is neither UDP nor TCP. */
function transportEnd({ packet, outer }: Setting): number {
  const { l4Offset, l4Protocol, ipEnd } = outer.scan;
  if (l4Protocol === IP_PROTOCOL.UDP) return l4Offset + 8;
  if (l4Protocol !== IP_PROTOCOL.TCP) return -1;
  const end = l4Offset + (packet[l4Offset + 12]! >>> 4) * 4;
  if (end > ipEnd) throw new CodecError('BAD_TCP_LENGTH', 'tcp', l4Offset + 12, 'the TCP options run past the packet');
  return end;
}

function intType(rule: SourceRule): number {
  return rule.mx ? INT_TYPE.MX : INT_TYPE.MD;
}

/** A shim between the L4 header and its payload. */
function marked(setting: Setting): Envelope | null {
  const { packet, outer, rule, config } = setting;
  const { scan } = outer;
  const { l4Offset, l4Protocol, ipOffset, settings } = scan;
  const at = transportEnd(setting);
  if (at < 0) return null;
  const byPort = rule.encapsulation === 'port';
  const byDscp = rule.encapsulation === 'dscp';
  if (byPort && l4Protocol !== IP_PROTOCOL.UDP) return null;
  const intPort = settings.intPorts[0];
  if (byPort && intPort === undefined) throw new RangeError('intPorts: encapsulation port needs one');
  if (byDscp && settings.dscpValue < 0) throw new RangeError('intDscp: encapsulation dscp needs one');
  const { probeMarker: value } = config;
  if (!byPort && !byDscp && (value === null || value === undefined)) {
    throw new RangeError('probeMarker: encapsulation probe-marker needs one');
  }
  const destinationPort = readUint16(packet, l4Offset + 2);
  const dscp = readDscp(packet, ipOffset);
  const original = byDscp ? dscp : 0;
  const marker = byPort || byDscp ? NONE : probeMarker.encode({ value: value! });
  const v05 = rule.version === '0.5';
  const type = intType(rule);
  const suffix = v05 ? intTail.encode({ protocol: l4Protocol, destinationPort, dscp: original }) : NONE;
  const stored = byPort ? { destinationPort } : { dscp: original };
  return {
    at,
    prefix: (bytes) => concat(marker, encodeShim(rule.version as '2', type, bytes / 4, stored)),
    suffix,
    overhead: marker.length + 4 + suffix.length,
    // v0.5 and v1.0 count the shim, v0.5 its tail too.
    room: 4 * (255 - (v05 ? 2 : rule.version === '1.0' ? 1 : 0)),
    patch(out) {
      if (byPort) writeUint16(out, l4Offset + 2, intPort!);
      else if (byDscp) writeDscp(out, ipOffset, (dscp & ~settings.dscpMask) | settings.dscpValue);
    },
  };
}

/** 0xc000 and 14 bits of a hash of the flow, so that a flow stays on one path (INT v2.1 section 5.7.2). */
function entropyPort(packet: Uint8Array, { scan, ipv6 }: OuterPacket): number {
  const { ipOffset, l4Offset, l4Protocol, ipEnd } = scan;
  const addresses = crc32(packet, ipOffset + (ipv6 ? 8 : 12), ipv6 ? 32 : 8, l4Protocol);
  const ports = (l4Protocol === IP_PROTOCOL.TCP || l4Protocol === IP_PROTOCOL.UDP) && l4Offset + 4 <= ipEnd;
  return 0xc000 | (crc32(packet, l4Offset, ports ? 4 : 0, addresses) & 0x3fff);
}

/** A UDP header of the source's own, between IP and the transport header. */
function newUdp({ packet, outer, rule, config }: Setting): Envelope {
  const { l4Offset, l4Protocol, ipEnd, settings } = outer.scan;
  const intPort = settings.intPorts[0];
  if (intPort === undefined) throw new RangeError('intPorts: encapsulation new-udp needs one');
  if (config.entropyPort !== undefined) requireFit('entropyPort', config.entropyPort, 16);
  return {
    at: l4Offset,
    prefix(bytes) {
      const header = udp.encode({
        sourcePort: config.entropyPort ?? entropyPort(packet, outer),
        destinationPort: intPort,
        length: 8 + 4 + bytes + (ipEnd - l4Offset),
        // 0 is recommended, also for IPv6 (RFC 6936): the inner checksum covers the payload.
        checksum: 0,
      });
      const shim = { type: intType(rule), npt: 2, reserved: 0, length: bytes / 4, reserved2: 0 } as const;
      return concat(header, shimV2.encode({ ...shim, protocol: l4Protocol }));
    },
    overhead: 12,
    room: 4 * 255,
    patch(out) {
      out[protocolFieldAt(packet, outer)] = IP_PROTOCOL.UDP;
    },
    settle: 'ip',
  };
}

/** For a GRE packet: a shim behind its GRE header. */
function greOriginal({ packet, outer, rule }: Setting): Envelope | null {
  const { l4Offset, l4Protocol, ipEnd, settings } = outer.scan;
  if (l4Protocol !== IP_PROTOCOL.GRE) return null;
  const header = gre.decode(packet.subarray(0, ipEnd), l4Offset);
  const nextProtocol = header.protocolType;
  if (nextProtocol < 0x0600) {
    throw new CodecError('BAD_NEXT_PROTOCOL', 'gre', l4Offset + 2, `${nextProtocol} is no EtherType`);
  }
  return {
    at: l4Offset + gre.encodingLength(header),
    prefix: (bytes) =>
      greShim.encode({ type: intType(rule), inserted: false, reserved: 0, length: bytes / 4, nextProtocol }),
    overhead: 4,
    room: 4 * 255,
    patch: (out) => writeUint16(out, l4Offset + 2, settings.greProtocol),
  };
}

/** An IP header and a GRE header of the source's own in front of the packet. */
function greInserted({ packet, outer, rule, config }: Setting): Envelope {
  const { ipOffset, ipEnd, settings } = outer.scan;
  const { ipv6 } = outer;
  const { tunnel } = config;
  const size = ipv6 ? 40 : 20;
  for (const address of tunnel === undefined ? [] : [tunnel.source, tunnel.destination]) {
    if (parseAddress(address).version !== (ipv6 ? 6 : 4)) {
      throw new RangeError(`tunnel: ${address} is not of the packet's IP version`);
    }
  }
  const outerIp = (length: number): Uint8Array => {
    const ip = copyOf(packet, ipOffset, ipOffset + size);
    const addresses = ipv6 ? 8 : 12;
    if (ipv6) {
      writeUint16(ip, 4, length - size);
      ip[6] = IP_PROTOCOL.GRE;
    } else {
      ip[0] = 0x45;
      writeUint16(ip, 2, length);
      // The packet must not be fragmented, so it needs no identification (RFC 6864).
      ip.set([0, 0, 0x40, 0], 4);
      ip[9] = IP_PROTOCOL.GRE;
    }
    if (tunnel !== undefined) {
      const bytes = writeAddress(tunnel.source, ip, addresses);
      writeAddress(tunnel.destination, ip, addresses + bytes);
    }
    if (!ipv6) writeUint16(ip, 10, ipv4HeaderChecksum(ip, 0));
    return ip;
  };
  return {
    at: ipOffset,
    prefix(bytes) {
      const header = new Uint8Array(GRE_BYTES);
      writeUint16(header, 2, settings.greProtocol);
      const nextProtocol = ipv6 ? ETHER_TYPE.IPV6 : ETHER_TYPE.IPV4;
      const length = size + GRE_BYTES + 4 + bytes + (ipEnd - ipOffset);
      const shim = { type: intType(rule), inserted: true, reserved: 0, length: bytes / 4, nextProtocol };
      return concat(outerIp(length), header, greShim.encode(shim));
    },
    overhead: size + GRE_BYTES + 4,
    room: 4 * 255,
    settle: 'none',
  };
}

const GPE_ETHERNET = 3;
const FLAG_I = 0x08;
const FLAG_P = 0x04;

/** A shim behind the VXLAN-GPE header, or behind a VXLAN header that becomes one. */
function vxlan({ packet, outer, rule, config }: Setting): Envelope | null {
  const { l4Offset, l4Protocol, ipEnd } = outer.scan;
  if (l4Protocol !== IP_PROTOCOL.UDP) return null;
  const port = readUint16(packet, l4Offset + 2);
  const plain = port === TUNNEL_PORT.VXLAN && rule.version === '2';
  if (port !== TUNNEL_PORT.VXLAN_GPE && !plain) return null;
  const header = l4Offset + 8;
  if (header + 8 > ipEnd) throw new CodecError('BAD_TUNNEL', 'vxlan-gpe', header, 'the packet ends in the header');
  const flags = packet[header]!;
  const reserved = packet[header + 1]! | packet[header + 2]! | packet[header + 3]!;
  // The sink restores plain VXLAN with zeros there, so it must have zeros.
  if (plain ? flags !== FLAG_I || reserved !== 0 : (flags & FLAG_P) === 0) {
    throw new CodecError('BAD_TUNNEL', 'vxlan-gpe', header, 'these flags leave no room for a next protocol');
  }
  const nextProtocol = plain ? GPE_ETHERNET : packet[header + 3]!;
  const own = config.gpeProtocol ?? GPE_PROTOCOL[rule.version as '2'];
  if (!GPE_INT_PROTOCOLS.includes(own)) throw new RangeError(`gpeProtocol: ${own} is none of INT's`);
  const type = intType(rule);
  return {
    at: header + 8,
    prefix: (bytes) => encodeGpeShim(rule.version as '2', type, bytes / 4, nextProtocol, plain),
    overhead: 4,
    room: 4 * (rule.version === '2' ? 255 : 254),
    patch(out) {
      out[header + 3] = own;
      if (!plain) return;
      out[header]! |= FLAG_P;
      writeUint16(out, l4Offset + 2, TUNNEL_PORT.VXLAN_GPE);
    },
  };
}

/** A Geneve option, in front of the others. */
function geneveOption({ packet, outer, rule, config }: Setting): Envelope | null {
  const { l4Offset, l4Protocol, ipEnd } = outer.scan;
  const header = l4Offset + 8;
  if (l4Protocol !== IP_PROTOCOL.UDP || readUint16(packet, l4Offset + 2) !== TUNNEL_PORT.GENEVE) return null;
  // This refuses malformed options before one is put in front of them.
  const { options } = geneve.decode(packet.subarray(0, ipEnd), header);
  const used = options.reduce((bytes, { data }) => bytes + 4 + data.length, 0);
  const optionClass = config.geneveClass ?? GENEVE_CLASS[rule.version as '2'];
  requireFit('geneveClass', optionClass, 16);
  return {
    at: header + 8,
    prefix(bytes) {
      const option = new Uint8Array([0, 0, intType(rule), bytes / 4]);
      writeUint16(option, 0, optionClass);
      return option;
    },
    overhead: 4,
    room: Math.min(4 * 31, 4 * 63 - used - 4),
    patch(out, bytes) {
      out[header]! += 1 + bytes / 4;
    },
  };
}

/** An IntMon header directly behind UDP. */
function intmon({ outer }: Setting): Envelope | null {
  const { l4Offset, l4Protocol } = outer.scan;
  if (l4Protocol !== IP_PROTOCOL.UDP) return null;
  return {
    at: l4Offset + 8,
    prefix: () => NONE,
    overhead: 0,
    room: 0xffff - 3,
    patch: (out) => writeUint16(out, l4Offset + 2, INTMON_PORT),
  };
}

/**
 * The envelope for a packet.
 *
 * @returns `null` if the encapsulation does not fit the packet
 * @throws CodecError for a malformed packet, RangeError for options that do not fit
 */
export function envelopeFor(setting: Setting): Envelope | null {
  switch (setting.rule.encapsulation) {
    case 'port':
    case 'dscp':
    case 'probe-marker':
      return marked(setting);
    case 'new-udp':
      return newUdp(setting);
    case 'gre':
      return greOriginal(setting);
    case 'gre-new':
      return greInserted(setting);
    case 'vxlan-gpe':
      return vxlan(setting);
    case 'geneve':
      return geneveOption(setting);
    case 'intmon':
      return intmon(setting);
  }
}
