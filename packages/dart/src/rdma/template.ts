/**
 * Templates of packets that differ only in sequence number and body. The headers are made once and copied per packet.
 */
import { encodeRoce, ROCE_OPCODE, type RocePacket } from '@int/codec';
import { crc32 } from '@int/hash';

/** The first header of a packet: Ethernet, IP, or, for `udp`, the BTH; the UDP socket adds the rest. */
export type PacketFormat = 'ethernet' | 'ip' | 'udp';

/** All fields of a packet except sequence number and body. */
export interface TemplateFields
  extends Pick<
    RocePacket,
    | 'source'
    | 'destination'
    | 'sourcePort'
    | 'destinationPort'
    | 'dscp'
    | 'timeToLive'
    | 'opcode'
    | 'partitionKey'
    | 'acknowledgeRequest'
  > {
  readonly format: PacketFormat;
  readonly sourceMac: string;
  readonly destinationMac: string;
  readonly queuePair: number;
  /** Bytes between BTH and pad bytes. */
  readonly bodyBytes: number;
}

const BTH_BYTES = 12;
/** The first word that differs between packets is the last of the BTH, which has the sequence number. */
const CONSTANT_BTH_BYTES = 8;

/** CRC of the constant part: eight bytes of ones, then IP header to the second word of the BTH, with ones where routers write. */
function constantCrc(packet: Uint8Array, ipAt: number, bthAt: number): number {
  const ipBytes = bthAt - 8 - ipAt;
  const covered = new Uint8Array(8 + ipBytes + 8 + CONSTANT_BTH_BYTES).fill(0xff, 0, 8);
  covered.set(packet.subarray(ipAt, bthAt + CONSTANT_BTH_BYTES), 8);
  if (ipBytes === 40) covered[8]! |= 0x0f;
  // Traffic class, flow label and hop limit, or DSCP, TTL and checksum; the UDP checksum; the reserved byte of the BTH.
  const written = ipBytes === 40 ? [1, 2, 3, 7] : [1, 8, 10, 11];
  for (const at of [...written, ipBytes + 6, ipBytes + 7, ipBytes + 12]) covered[8 + at] = 0xff;
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
    const { format, bodyBytes, opcode, queuePair: destinationQp, sourceMac, destinationMac } = fields;
    const packet = encodeRoce({
      ...fields,
      ethernet: format === 'ethernet' ? { source: sourceMac, destination: destinationMac } : null,
      migrated: true,
      destinationQp,
      psn: 0,
      // This opcode has nothing between BTH and payload.
      opcode: ROCE_OPCODE.RC_WRITE_MIDDLE,
      payload: new Uint8Array(bodyBytes),
    });
    this.#padCount = -bodyBytes & 3;
    const bodyAt = packet.length - 4 - this.#padCount - bodyBytes;
    const bthAt = bodyAt - BTH_BYTES;
    packet[bthAt] = opcode;
    const ipAt = format === 'ethernet' ? 14 : 0;
    this.#crc = constantCrc(packet, ipAt, bthAt);
    // Before the BTH of a payload for a UDP socket there is nothing.
    const begin = format === 'udp' ? bthAt : 0;
    this.#header = packet.slice(begin, bodyAt);
    this.bodyBytes = bodyBytes;
    this.bodyAt = bodyAt - begin;
    this.length = packet.length - begin;
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
