/**
 * Templates of packets that differ only in sequence number and body. The headers are made once and copied per packet.
 */
import { ethernet, ipv4, ipv6, parseAddress, udp } from '@int/codec';
import { bth, ETHER_TYPE, IP_PROTOCOL, ipv4HeaderChecksum } from '@int/codec/internals';
import { crc32 } from '@int/hash';

/** The first header of a packet: Ethernet, IP, or, for `udp`, the BTH; the UDP socket adds the rest. */
export type PacketFormat = 'ethernet' | 'ip' | 'udp';

/** All fields of a packet except sequence number and body. */
export interface TemplateFields {
  readonly format: PacketFormat;
  readonly sourceMac: string;
  readonly destinationMac: string;
  readonly source: string;
  readonly destination: string;
  readonly sourcePort: number;
  readonly destinationPort: number;
  readonly dscp: number;
  readonly timeToLive: number;
  readonly opcode: number;
  readonly queuePair: number;
  readonly partitionKey: number;
  readonly acknowledgeRequest: boolean;
  /** Bytes between BTH and pad bytes. */
  readonly bodyBytes: number;
}

const BTH_BYTES = 12;
/** The first word that differs between packets is the last of the BTH, which has the sequence number. */
const CONSTANT_BTH_BYTES = 8;

function ipHeader(fields: TemplateFields, udpLength: number): Uint8Array {
  const { source, destination, dscp, timeToLive } = fields;
  if (parseAddress(source).version === 6) {
    return ipv6.encode({
      dscp,
      ecn: 0,
      flowLabel: 0,
      payloadLength: udpLength,
      nextHeader: IP_PROTOCOL.UDP,
      hopLimit: timeToLive,
      source,
      destination,
    });
  }
  const header = ipv4.encode({
    dscp,
    ecn: 0,
    totalLength: 20 + udpLength,
    identification: 0,
    reserved: false,
    dontFragment: true,
    moreFragments: false,
    fragmentOffset: 0,
    timeToLive,
    protocol: IP_PROTOCOL.UDP,
    headerChecksum: 0,
    source,
    destination,
    options: new Uint8Array(0),
  });
  const checksum = ipv4HeaderChecksum(header, 0);
  header[10] = checksum >>> 8;
  header[11] = checksum;
  return header;
}

/** CRC of the constant part: eight bytes of ones, then IP header to the second word of the BTH, masked. */
function constantCrc(ip: Uint8Array, udpAndBth: Uint8Array): number {
  const covered = new Uint8Array(8 + ip.length + 8 + CONSTANT_BTH_BYTES);
  covered.fill(0xff, 0, 8);
  covered.set(ip, 8);
  covered.set(udpAndBth.subarray(0, 8 + CONSTANT_BTH_BYTES), 8 + ip.length);
  if (ip.length === 40) {
    covered[8]! |= 0x0f;
    covered.fill(0xff, 9, 12);
    covered[8 + 7] = 0xff;
  } else {
    covered[8 + 1] = 0xff;
    covered[8 + 8] = 0xff;
    covered.fill(0xff, 8 + 10, 8 + 12);
  }
  const udpAt = 8 + ip.length;
  covered.fill(0xff, udpAt + 6, udpAt + 8);
  covered[udpAt + 8 + 4] = 0xff;
  return crc32(covered);
}

/** Makes packets of one kind and size for one queue pair. */
export class PacketTemplate {
  /** Bytes of a packet. */
  readonly length: number;
  /** Offset of the body in a packet. */
  readonly bodyAt: number;
  readonly bodyBytes: number;
  readonly #header: Uint8Array;
  readonly #crc: number;
  readonly #padCount: number;

  /** @throws RangeError for a field out of its range, AddressError for an invalid address */
  constructor(fields: TemplateFields) {
    const { format, bodyBytes, sourcePort, destinationPort, source, destination } = fields;
    if (parseAddress(source).version !== parseAddress(destination).version) {
      throw new RangeError(`${source} and ${destination} are not of one IP version`);
    }
    const padCount = -bodyBytes & 3;
    const udpLength = 8 + BTH_BYTES + bodyBytes + padCount + 4;
    const ip = ipHeader(fields, udpLength);
    const udpAndBth = new Uint8Array(8 + BTH_BYTES);
    udp.encodeInto({ sourcePort, destinationPort, length: udpLength, checksum: 0 }, udpAndBth);
    const flags = { solicitedEvent: false, migrated: true, transportVersion: 0, fecn: false, becn: false };
    const { opcode, partitionKey, queuePair: destinationQp, acknowledgeRequest } = fields;
    const rest = { reserved: 0, destinationQp, acknowledgeRequest, reserved2: 0, psn: 0 };
    bth.encodeInto({ opcode, ...flags, padCount, partitionKey, ...rest }, udpAndBth, 8);
    this.#crc = constantCrc(ip, udpAndBth);
    const etherType = ip.length === 40 ? ETHER_TYPE.IPV6 : ETHER_TYPE.IPV4;
    const link = ethernet.encode({ destination: fields.destinationMac, source: fields.sourceMac, etherType });
    const parts: Uint8Array[] = [udpAndBth.subarray(format === 'udp' ? 8 : 0)];
    if (format !== 'udp') parts.unshift(ip);
    if (format === 'ethernet') parts.unshift(link);
    this.#header = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
    let at = 0;
    for (const part of parts) {
      this.#header.set(part, at);
      at += part.length;
    }
    this.#padCount = padCount;
    this.bodyBytes = bodyBytes;
    this.bodyAt = at;
    this.length = at + bodyBytes + padCount + 4;
  }

  /** Writes the headers before the body. */
  begin(out: Uint8Array, offset: number, psn: number): void {
    const header = this.#header;
    for (let at = 0; at < header.length; at++) out[offset + at] = header[at]!;
    const at = offset + this.bodyAt - 3;
    out[at] = psn >>> 16;
    out[at + 1] = psn >>> 8;
    out[at + 2] = psn;
  }

  /** Writes pad bytes and iCRC. Write the body first. */
  end(out: Uint8Array, offset: number): void {
    const from = offset + this.bodyAt - (BTH_BYTES - CONSTANT_BTH_BYTES);
    let at = offset + this.bodyAt + this.bodyBytes;
    for (let pad = this.#padCount; pad > 0; pad--) out[at++] = 0;
    const crc = crc32(out, from, at - from, this.#crc);
    out[at] = crc;
    out[at + 1] = crc >>> 8;
    out[at + 2] = crc >>> 16;
    out[at + 3] = crc >>> 24;
  }
}
