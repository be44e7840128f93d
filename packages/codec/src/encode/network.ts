/** Builds the layers below INT: Ethernet, IP, UDP, TCP, with lengths and checksums. */
import { parseAddress } from '../address.js';
import { ipv4HeaderChecksum, tcpChecksum, udpChecksum } from '../checksum.js';
import { concat } from '../copy.js';
import { IP_PROTOCOL, ipv6Fragment } from '../headers/ip.js';
import { ETHER_TYPE, ethernet } from '../headers/link.js';
import { TCP_FLAG, tcp, udp } from '../headers/transport.js';
import type { Flow, TelemetryRecord } from '../model.js';
import { hasPorts } from '../scan/network.js';
import { encodeIpHeader } from './ip-header.js';
import type { EncodeSettings } from './options.js';

/** An EtherType whose payload this library does not read (IEEE 802, local experimental 2). */
export const OTHER_ETHER_TYPE = 0x88b6;

/** A transport header for the flow, and `payload` behind it. {@link ipPacket} adds the checksum. */
export function transport(flow: Flow, payload: Uint8Array): Uint8Array {
  const { protocol, sourcePort, destinationPort } = flow;
  if (protocol === IP_PROTOCOL.UDP) {
    return concat(udp.encode({ sourcePort, destinationPort, length: 8 + payload.length, checksum: 0 }), payload);
  }
  if (protocol === IP_PROTOCOL.TCP) {
    const header = tcp.encode({
      sourcePort,
      destinationPort,
      sequenceNumber: 1,
      acknowledgementNumber: 1,
      reserved: 0,
      flags: TCP_FLAG.ACK,
      window: 0xffff,
      checksum: 0,
      urgentPointer: 0,
      options: new Uint8Array(0),
    });
    return concat(header, payload);
  }
  if (!hasPorts(protocol)) return payload;
  const ports = Uint8Array.of(sourcePort >>> 8, sourcePort & 255, destinationPort >>> 8, destinationPort & 255);
  return concat(ports, payload);
}

/**
 * An IP packet, of the version of the addresses. It has the header checksum, and the UDP or TCP checksum of the
 * transport header at the start of `payload`. If `checksum` is false, the latter remains 0.
 */
export function ipPacket(
  ends: Pick<Flow, 'source' | 'destination' | 'protocol'>,
  dscp: number,
  payload: Uint8Array,
  settings: EncodeSettings,
  checksum = true,
): Uint8Array {
  const { source, destination, protocol } = ends;
  const six = parseAddress(source).version === 6;
  if (six !== (parseAddress(destination).version === 6)) {
    throw new RangeError(`flow: ${source} and ${destination} are not of one IP version`);
  }
  const { timeToLive } = settings;
  const header = encodeIpHeader(six, { source, destination, protocol, dscp, timeToLive }, payload.length);
  const packet = concat(header, payload);
  const view = new DataView(packet.buffer);
  if (!checksum) return packet;
  const l4 = header.length;
  if (protocol === IP_PROTOCOL.UDP) view.setUint16(l4 + 6, udpChecksum(packet, 0, l4, payload.length));
  if (protocol === IP_PROTOCOL.TCP) view.setUint16(l4 + 16, tcpChecksum(packet, 0, l4, payload.length));
  return packet;
}

/** A fragment that is not the first: an IP packet whose flow is unknown. */
export function fragment(version: 4 | 6, settings: EncodeSettings): Uint8Array {
  if (version === 4) {
    const packet = ipPacket(
      { source: '0.0.0.0', destination: '0.0.0.0', protocol: 17 },
      0,
      new Uint8Array(8),
      settings,
      false,
    );
    const view = new DataView(packet.buffer);
    view.setUint16(6, 1);
    view.setUint16(10, ipv4HeaderChecksum(packet, 0));
    return packet;
  }
  const header = ipv6Fragment.encode({
    nextHeader: IP_PROTOCOL.UDP,
    reserved: 0,
    fragmentOffset: 1,
    reserved2: 0,
    moreFragments: false,
    identification: 0,
  });
  return ipPacket(
    { source: '::', destination: '::', protocol: 44 },
    0,
    concat(header, new Uint8Array(8)),
    settings,
    false,
  );
}

/** Settings with the MAC addresses of the record, if it has some for its monitored packet. */
export function monitored(record: TelemetryRecord, settings: EncodeSettings): EncodeSettings {
  const { ethernet: named } = record;
  return named === undefined ? settings : { ...settings, sourceMac: named.source, destinationMac: named.destination };
}

/** An Ethernet frame with an IP packet, or with nothing that is read. */
export function frame(packet: Uint8Array | null, settings: EncodeSettings): Uint8Array {
  const etherType = packet === null ? OTHER_ETHER_TYPE : packet[0]! >>> 4 === 6 ? ETHER_TYPE.IPV6 : ETHER_TYPE.IPV4;
  const header = ethernet.encode({ destination: settings.destinationMac, source: settings.sourceMac, etherType });
  return packet === null ? header : concat(header, packet);
}

/** A packet of the flow without INT. */
export function plainPacket(flow: Flow, settings: EncodeSettings): Uint8Array {
  return ipPacket(flow, 0, transport(flow, settings.payload), settings);
}
