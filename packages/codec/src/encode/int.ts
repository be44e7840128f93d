/** Builds packets that carry INT. */
import { concat } from '../copy.js';
import { hopBlock } from '../headers/hop.js';
import { IP_PROTOCOL } from '../headers/ip.js';
import { ETHER_TYPE } from '../headers/link.js';
import { greShim, INT_TYPE, intTail, shimV2 } from '../headers/shim.js';
import { geneve, gre, TUNNEL_PORT, vxlanGpe } from '../headers/tunnels.js';
import type { Flow, Hop, IntHeaderInfo, TelemetryRecord } from '../model.js';
import { planFor, VERSION_LAYOUT } from '../plan.js';
import { INTMON_PORT, settingsOf } from '../scan/settings.js';
import {
  domainItems,
  encodeGpeShim,
  encodeIntHeader,
  encodeShim,
  GENEVE_CLASS,
  GPE_PROTOCOL,
  joinDomain,
} from './int-header.js';
import { frame, ipPacket, monitored, OTHER_ETHER_TYPE, plainPacket, transport } from './network.js';
import type { EncodeSettings } from './options.js';

const NONE = new Uint8Array(0);
const GPE_ETHERNET = 3;
const GPE_NSH = 4;

/** The blocks of all hops, last hop first. */
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
      const domain = settings.domains[int.domainId];
      // Without the domain's definition, the bytes that only the source adds are taken to be the last.
      const joined =
        domain === undefined
          ? concat(exported, sourceMetadata)
          : joinDomain(domainItems(domain, int.domainInstructions), exported, sourceMetadata);
      hop = { ...hop, domain: joined };
    }
    blocks.push(hopBlock(layout, instructionBitmap, { domainBytes: bytes, bottomOfStack: k === 0 }).encode(hop));
  }
  return concat(...blocks);
}

/** The INT header and its stack: what stands between a carrier's shim and the payload (without the v0.5 tail). */
function headerAndStack(
  int: IntHeaderInfo,
  hops: readonly Hop[],
  settings: EncodeSettings,
  destinationPort = 0,
): Uint8Array {
  const { version } = int;
  if (version === '2016') throw new RangeError(`INT version ${version} has no header of its own`);
  const layout = version === '1.0' ? settingsOf({ profile: settings.profile }).layout10 : VERSION_LAYOUT[version];
  const mx = version === '2' && int.mode === 'mx';
  const body = mx ? (int.sourceMetadata ?? NONE) : stack(int, hops, layout, settings);
  const { words } = planFor(layout, int.instructionBitmap);
  const header = encodeIntHeader({
    ...int,
    version,
    mx,
    hopMl: version === '1.0' || version === '2' ? (int.hopMl ?? words) : words,
    hops: hops.length,
    remainingHopCount: int.remainingHopCount ?? 0,
    stackBytes: body.length,
    destinationPort,
  });
  return concat(header, body);
}

const typeOf = ({ mode, version }: IntHeaderInfo): number =>
  mode === 'mx' && version === '2' ? INT_TYPE.MX : INT_TYPE.MD;

function wanted(flow: Flow | null, encapsulation: string): Flow {
  if (flow === null) throw new TypeError(`a packet with INT over ${encapsulation} needs a flow`);
  return flow;
}

/** INT behind a UDP or TCP header. The port marks it (v2 over UDP), or the DSCP. */
function overTransport(int: IntHeaderInfo, hops: readonly Hop[], flow: Flow, settings: EncodeSettings): Uint8Array {
  const body = headerAndStack(int, hops, settings);
  const { payload, intDscp } = settings;
  const { protocol, destinationPort } = flow;
  const version = int.version as '0.5' | '1.0' | '2';
  const byPort = version === '2' && int.encapsulation === 'udp';
  const shim = encodeShim(version, typeOf(int), body.length / 4, byPort ? { destinationPort } : { dscp: 0 });
  const tail = version === '0.5' ? intTail.encode({ protocol, destinationPort, dscp: 0 }) : NONE;
  const marked = byPort ? { ...flow, destinationPort: settings.intPorts[0] ?? 5000 } : flow;
  return ipPacket(flow, byPort ? 0 : intDscp, transport(marked, concat(shim, body, tail, payload)), settings);
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
  // The checksum of the monitored packet is that of the packet without INT.
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
    const shim = encodeGpeShim(version, typeOf(int), words, nextProtocol, false);
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

function overIntMon(int: IntHeaderInfo, hops: readonly Hop[], flow: Flow, settings: EncodeSettings): Uint8Array {
  const body = headerAndStack(int, hops, settings, flow.destinationPort);
  const marked = { ...flow, destinationPort: INTMON_PORT };
  return ipPacket(flow, 0, transport(marked, concat(body, settings.payload)), settings);
}

/** The eight-field format of int-afxdp-kafka: hop count in byte 2 of the header, values of v0.5. */
function overKafkaXdp(int: IntHeaderInfo, hops: readonly Hop[], flow: Flow, settings: EncodeSettings): Uint8Array {
  return overTransport({ ...int, mode: 'md', version: '0.5', remainingHopCount: 0 }, hops, flow, settings);
}

/** Whether INT is in a tunnel. The monitored packet is then the encapsulated one. */
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
