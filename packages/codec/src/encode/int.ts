/** Building packets that carry INT. */
import { hopBlock } from '../headers/hop.js';
import { type int2016, intMd, intMon, intMx, intV05, intV10 } from '../headers/int.js';
import { IP_PROTOCOL } from '../headers/ip.js';
import { ETHER_TYPE } from '../headers/link.js';
import {
  greShim,
  INT_TYPE,
  intTail,
  shimV2,
  shimV05,
  shimV10,
  vxlanGpeShimV1,
  vxlanGpeShimV2,
} from '../headers/shim.js';
import { geneve, gre, TUNNEL_PORT, vxlanGpe } from '../headers/tunnels.js';
import type { Flow, Hop, IntHeaderInfo, TelemetryRecord } from '../model.js';
import { LAYOUT, planFor } from '../plan.js';
import { INTMON_PORT, settingsOf } from '../scan/settings.js';
import { concat, frame, ipPacket, monitored, plainPacket, transport } from './network.js';
import type { EncodeSettings } from './options.js';

const NONE = new Uint8Array(0);
/** VXLAN-GPE next protocols by INT version. */
const GPE_PROTOCOL = { '0.5': 0x05, '1.0': 0x08, '2': 0x82 } as const;
const GPE_ETHERNET = 3;
const GPE_NSH = 4;
const GENEVE_CLASS = { '0.5': 0x00ab, '1.0': 0x00ab, '2': 0x0103 } as const;
/** What a tunnel says when its packet is none that is read. */
const OTHER_ETHER_TYPE = 0x88b6;

function popcount(bits: number): number {
  let n = 0;
  for (let b = bits; b !== 0; b &= b - 1) n++;
  return n;
}

/** The source's domain-specific bytes in the order of the DS Instruction bits. */
function joinDomain(
  int: IntHeaderInfo,
  exported: Uint8Array,
  sourceOnly: Uint8Array,
  settings: EncodeSettings,
): Uint8Array {
  const domain = settings.domains[int.domainId];
  if (domain === undefined) return concat(exported, sourceOnly);
  const pieces: Uint8Array[] = [];
  let e = 0;
  let s = 0;
  for (let bit = 0; bit < 16; bit++) {
    const item = domain[bit];
    if (item === undefined || (int.domainInstructions & (0x8000 >>> bit)) === 0) continue;
    if (item.mode === 'source-only') {
      pieces.push(sourceOnly.subarray(s, s + item.bytes));
      s += item.bytes;
    } else {
      pieces.push(exported.subarray(e, e + item.bytes));
      e += item.bytes;
    }
  }
  return concat(...pieces);
}

/** Blocks of all hops, last hop first. */
function stack(int: IntHeaderInfo, hops: readonly Hop[], layout: number, settings: EncodeSettings): Uint8Array {
  const { instructionBitmap, sourceMetadata = NONE } = int;
  const words = planFor(layout, instructionBitmap).words;
  if (words === 0 && int.version === '2' && (int.hopMl ?? 0) === 0) return sourceMetadata;
  const domainBytes = int.version === '2' ? 4 * Math.max(0, (int.hopMl ?? words) - words) : 0;
  const blocks: Uint8Array[] = [];
  for (let k = hops.length - 1; k >= 0; k--) {
    let hop = hops[k]!;
    let bytes = domainBytes;
    if (k === 0 && sourceMetadata.length > 0) {
      bytes += sourceMetadata.length;
      const exported = hop.domain ?? new Uint8Array(domainBytes).fill(0xff);
      hop = { ...hop, domain: joinDomain(int, exported, sourceMetadata, settings) };
    }
    blocks.push(hopBlock(layout, instructionBitmap, { domainBytes: bytes, bottomOfStack: k === 0 }).encode(hop));
  }
  return concat(...blocks);
}

/** The INT header and its stack: what stands between a carrier's shim and the payload (without the v0.5 tail). */
function headerAndStack(int: IntHeaderInfo, hops: readonly Hop[], settings: EncodeSettings): Uint8Array {
  const { instructionBitmap, hopExceeded, mtuExceeded, discard, domainId, domainInstructions, domainFlags } = int;
  switch (int.version) {
    case '0.5': {
      const header = intV05.encode({
        replication: 0,
        copy: false,
        hopExceeded,
        reserved: 0,
        instructionCount: popcount(instructionBitmap),
        maxHopCount: hops.length + (int.remainingHopCount ?? 0),
        totalHopCount: hops.length,
        instructionBitmap,
        reserved2: 0,
      });
      return concat(header, stack(int, hops, LAYOUT.V05, settings));
    }
    case '1.0': {
      const layout = settingsOf({ profile: settings.profile }).layout10;
      const header = intV10.encode({
        replication: 0,
        copy: false,
        hopExceeded,
        mtuExceeded,
        reserved: 0,
        hopMl: int.hopMl ?? planFor(layout, instructionBitmap).words,
        remainingHopCount: int.remainingHopCount ?? 0,
        instructionBitmap,
        reserved2: 0,
      });
      return concat(header, stack(int, hops, layout, settings));
    }
    case '2': {
      const domain = { domainId, domainInstructions, domainFlags };
      if (int.mode === 'mx') {
        const header = intMx.encode({ discard, reserved: 0, instructionBitmap, ...domain });
        return concat(header, int.sourceMetadata ?? NONE);
      }
      const header = intMd.encode({
        discard,
        hopExceeded,
        mtuExceeded,
        reserved: 0,
        hopMl: int.hopMl ?? planFor(LAYOUT.V2, instructionBitmap).words,
        remainingHopCount: int.remainingHopCount ?? 0,
        instructionBitmap,
        ...domain,
      });
      return concat(header, stack(int, hops, LAYOUT.V2, settings));
    }
    default:
      throw new RangeError(`INT version ${int.version} has no header of its own`);
  }
}

const typeOf = (int: IntHeaderInfo): number => (int.mode === 'mx' ? INT_TYPE.MX : INT_TYPE.MD);

function wanted(flow: Flow | null, encapsulation: string): Flow {
  if (flow === null) throw new TypeError(`a packet with INT over ${encapsulation} needs a flow`);
  return flow;
}

/** INT behind a UDP or TCP header, marked by port (v2 over UDP) or by DSCP. */
function overTransport(int: IntHeaderInfo, hops: readonly Hop[], flow: Flow, settings: EncodeSettings): Uint8Array {
  const body = headerAndStack(int, hops, settings);
  const { payload, intDscp } = settings;
  if (int.version === '2') {
    const common = { type: typeOf(int), reserved: 0, length: body.length / 4 };
    if (int.encapsulation === 'udp') {
      const shim = shimV2.encode({ ...common, npt: 1, destinationPort: flow.destinationPort });
      const marked = { ...flow, destinationPort: settings.intPorts[0] ?? 5000 };
      return ipPacket(flow, 0, transport(marked, concat(shim, body, payload)), settings);
    }
    const shim = shimV2.encode({ ...common, npt: 0, reserved2: 0, dscp: 0, reserved3: 0 });
    return ipPacket(flow, intDscp, transport(flow, concat(shim, body, payload)), settings);
  }
  if (int.version === '1.0') {
    const shim = shimV10.encode({ type: 1, reserved: 0, length: 1 + body.length / 4, dscp: 0, reserved2: 0 });
    return ipPacket(flow, intDscp, transport(flow, concat(shim, body, payload)), settings);
  }
  const shim = shimV05.encode({ type: 1, reserved: 0, length: 2 + body.length / 4, reserved2: 0 });
  const tail = intTail.encode({ protocol: flow.protocol, destinationPort: flow.destinationPort, dscp: 0 });
  return ipPacket(flow, intDscp, transport(flow, concat(shim, body, tail, payload)), settings);
}

/** INT behind a UDP header that the source put in front of the transport header. Its checksum is 0 (RFC 6936). */
function newUdp(int: IntHeaderInfo, hops: readonly Hop[], flow: Flow, settings: EncodeSettings): Uint8Array {
  const body = headerAndStack(int, hops, settings);
  const shim = shimV2.encode({
    type: typeOf(int),
    npt: 2,
    reserved: 0,
    length: body.length / 4,
    reserved2: 0,
    protocol: flow.protocol,
  });
  // The monitored packet's checksum was made for the packet without INT.
  const original = ipPacket(flow, 0, transport(flow, settings.payload), settings);
  const l4 = original.subarray(original[0]! >>> 4 === 6 ? 40 : 20);
  const outer = {
    ...flow,
    protocol: IP_PROTOCOL.UDP,
    sourcePort: 49152,
    destinationPort: settings.intPorts[0] ?? 5000,
  };
  return ipPacket(outer, 0, transport(outer, concat(shim, body, l4)), settings, false);
}

/** INT in VXLAN-GPE, Geneve or GRE around the monitored packet. */
function tunnelled(int: IntHeaderInfo, hops: readonly Hop[], flow: Flow | null, settings: EncodeSettings): Uint8Array {
  const version = int.version as '0.5' | '1.0' | '2';
  const body = headerAndStack(int, hops, settings);
  const inner = flow === null ? NONE : plainPacket(flow, settings);
  const ends = { source: settings.tunnelSource, destination: settings.tunnelDestination };
  const words = body.length / 4;
  if (int.encapsulation === 'gre') {
    const nextProtocol = flow === null ? OTHER_ETHER_TYPE : inner[0]! >>> 4 === 6 ? ETHER_TYPE.IPV6 : ETHER_TYPE.IPV4;
    const header = gre.encode({
      reserved: 0,
      protocolType: settings.greProtocol,
      checksum: null,
      reserved2: 0,
      key: null,
      sequenceNumber: null,
    });
    const shim = greShim.encode({ type: typeOf(int), inserted: true, reserved: 0, length: words, nextProtocol });
    return ipPacket({ ...ends, protocol: IP_PROTOCOL.GRE }, 0, concat(header, shim, body, inner), settings);
  }
  const encapsulated = flow === null ? NONE : frame(inner, settings);
  let carried: Uint8Array;
  if (int.encapsulation === 'geneve') {
    carried = geneve.encode({
      version: 0,
      control: false,
      critical: false,
      reserved: 0,
      protocolType: flow === null ? OTHER_ETHER_TYPE : ETHER_TYPE.TRANSPARENT_ETHERNET,
      vni: 0,
      reserved2: 0,
      options: [{ optionClass: GENEVE_CLASS[version], type: typeOf(int), reserved: 0, data: body }],
    });
  } else {
    const nextProtocol = flow === null ? GPE_NSH : GPE_ETHERNET;
    const header = vxlanGpe.encode({
      reserved: 0,
      version: 0,
      vniValid: true,
      nextProtocolValid: true,
      bumTraffic: false,
      oam: false,
      reserved2: 0,
      nextProtocol: GPE_PROTOCOL[version],
      vni: 0,
      reserved3: 0,
    });
    const shim =
      version === '2'
        ? vxlanGpeShimV2.encode({
            type: typeOf(int),
            reserved: 0,
            length: words,
            inserted: false,
            reserved2: 0,
            nextProtocol,
          })
        : vxlanGpeShimV1.encode({ type: 1, reserved: 0, length: 1 + words, nextProtocol });
    carried = concat(header, shim, body);
  }
  const outer: Flow = {
    ...ends,
    protocol: IP_PROTOCOL.UDP,
    sourcePort: 49152,
    destinationPort: int.encapsulation === 'geneve' ? TUNNEL_PORT.GENEVE : TUNNEL_PORT.VXLAN_GPE,
  };
  return ipPacket(outer, 0, transport(outer, concat(carried, encapsulated)), settings, false);
}

function fields2016(int: IntHeaderInfo, hops: readonly Hop[]): Parameters<typeof int2016.encode>[0] {
  return {
    version: 0,
    replication: 0,
    copy: false,
    hopExceeded: int.hopExceeded,
    reserved: 0,
    instructionCount: popcount(int.instructionBitmap),
    maxHopCount: hops.length + (int.remainingHopCount ?? 0),
    totalHopCount: hops.length,
    instructionBitmap: int.instructionBitmap,
    reserved2: 0,
  };
}

function overIntMon(int: IntHeaderInfo, hops: readonly Hop[], flow: Flow, settings: EncodeSettings): Uint8Array {
  const values = stack(int, hops, LAYOUT.Y2016, settings);
  const header = intMon.encode({
    ...fields2016(int, hops),
    sentToController: false,
    reserved: 0,
    intLength: 12 + values.length,
    destinationPort: flow.destinationPort,
  });
  const marked = { ...flow, destinationPort: INTMON_PORT };
  return ipPacket(flow, 0, transport(marked, concat(header, values, settings.payload)), settings);
}

/** The eight-field format of int-afxdp-kafka: hop count in byte 2 of the header, values of v0.5. */
function overKafkaXdp(int: IntHeaderInfo, hops: readonly Hop[], flow: Flow, settings: EncodeSettings): Uint8Array {
  const body = headerAndStack({ ...int, version: '0.5', remainingHopCount: 0 }, hops, settings);
  const shim = shimV05.encode({ type: 1, reserved: 0, length: 2 + body.length / 4, reserved2: 0 });
  const tail = intTail.encode({ protocol: flow.protocol, destinationPort: flow.destinationPort, dscp: 0 });
  return ipPacket(flow, settings.intDscp, transport(flow, concat(shim, body, tail, settings.payload)), settings);
}

/** Whether a packet's IP header is a tunnel's: the monitored packet is then the one inside. */
function isTunnel({ encapsulation }: IntHeaderInfo): boolean {
  return encapsulation === 'vxlan-gpe' || encapsulation === 'geneve' || encapsulation === 'gre';
}

/** An Ethernet frame with a record's INT packet. @throws as {@link intPacket} */
export function intFrame(record: TelemetryRecord, int: IntHeaderInfo, settings: EncodeSettings): Uint8Array {
  const inner = monitored(record, settings);
  return frame(intPacket(int, record.hops, record.flow, inner), isTunnel(int) ? settings : inner);
}

/**
 * An IP packet that carries INT.
 * @throws TypeError where a flow is needed and missing; RangeError for a value that does not fit
 */
function intPacket(int: IntHeaderInfo, hops: readonly Hop[], flow: Flow | null, settings: EncodeSettings): Uint8Array {
  if (int.version === 'intmon') return overIntMon(int, hops, wanted(flow, 'IntMon'), settings);
  if (int.version === '2016') return overKafkaXdp(int, hops, wanted(flow, 'TCP'), settings);
  switch (int.encapsulation) {
    case 'udp':
    case 'tcp':
      return overTransport(int, hops, wanted(flow, int.encapsulation), settings);
    case 'udp-new':
      return newUdp(int, hops, wanted(flow, int.encapsulation), settings);
    case 'vxlan-gpe':
    case 'geneve':
    case 'gre':
      return tunnelled(int, hops, flow, settings);
    default:
      throw new RangeError(`INT-${int.mode.toUpperCase()} needs an encapsulation`);
  }
}
