import { FLAG, NOT_AVAILABLE, type TelemetryBatch } from '@int/codec';
import { writeIpv4 } from '../table/address.js';
import { PacketReader, PROTOCOL, TCP } from './packet.js';

/** What {@link ReportPackets.rest} gives: the flags of TCP, and the length of the IP packet from this bit on. */
export const REST = { FLAGS: 0xff, LENGTH_SHIFT: 8 } as const;
/** Flags that a report does not have: those of most packets, which neither begin nor end anything. */
const UNKNOWN = TCP.ACK;
/** Next protocol type of the shim header: its last byte is the IP protocol of what follows INT. */
const NPT_PROTOCOL = 2;
/** Bytes of an IPv4 header without options. */
const PLAIN = 20;

/** The packets that reports are of: from the columns, and from the bytes where they are there. */
export class ReportPackets {
  readonly #reader = new PacketReader();
  #bytes: Uint8Array = new Uint8Array(0);
  #view: DataView = new DataView(this.#bytes.buffer);

  /** Reports of this batch will be read. */
  open({ bytes }: TelemetryBatch): void {
    if (bytes === this.#bytes) return;
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** What the columns do not have: the flags of TCP (0 for others) and the length of the IP packet, see {@link REST}. */
  rest(batch: TelemetryBatch, row: number): number {
    const view = this.#view;
    const frame = batch.frame[row]!;
    const start = batch.frameOffset[frame]!;
    const end = start + batch.frameLength[frame]!;
    const ethernet = batch.ethernet[row]!;
    const hasEthernet = ethernet !== NOT_AVAILABLE;
    const ip = hasEthernet ? ethernet + 14 : start + this.#reader.usualFront;
    if (ip + PLAIN + 14 > end || (hasEthernet && view.getUint16(ip - 2) !== 0x0800)) {
      return this.#search(batch, row, start, end);
    }
    // Version, length of the header, type of service, length of the packet.
    const first = view.getInt32(ip);
    const isThere =
      first >>> 24 === 0x45 &&
      (view.getUint16(ip + 6) & 0x1fff) === 0 &&
      view.getInt32(ip + 12) === (batch.source0[row]! | 0) &&
      view.getInt32(ip + 16) === (batch.destination0[row]! | 0);
    if (!isThere) return this.#search(batch, row, start, end);
    let flags = 0;
    if (batch.protocol[row] === PROTOCOL.TCP) {
      flags =
        view.getUint8(ip + 9) === PROTOCOL.TCP ? view.getUint8(ip + PLAIN + 13) : this.#behindInt(ip + PLAIN, end);
    }
    return ((first & 0xffff) << REST.LENGTH_SHIFT) | flags;
  }

  /** The packet of a report. @param rest of it. @returns overwritten by the next one */
  read(batch: TelemetryBatch, row: number, rest: number): PacketReader {
    const reader = this.#reader;
    const { words } = reader;
    if ((batch.flags[row]! & FLAG.IPV6) === 0) {
      writeIpv4(batch.source0[row]!, words, 0);
      writeIpv4(batch.destination0[row]!, words, 4);
    } else {
      words[0] = batch.source0[row]!;
      words[1] = batch.source1[row]!;
      words[2] = batch.source2[row]!;
      words[3] = batch.source3[row]!;
      words[4] = batch.destination0[row]!;
      words[5] = batch.destination1[row]!;
      words[6] = batch.destination2[row]!;
      words[7] = batch.destination3[row]!;
    }
    reader.ports = batch.ports[row]!;
    reader.protocol = batch.protocol[row]!;
    reader.flags = rest & REST.FLAGS;
    reader.length = rest >>> REST.LENGTH_SHIFT;
    return reader;
  }

  /** Where the IP header is not where it usually is, or is not all there. */
  #search(batch: TelemetryBatch, row: number, start: number, end: number): number {
    const reader = this.#reader;
    const ethernet = batch.ethernet[row]!;
    reader.flags = reader.length = 0;
    // A switch may send a packet without payload from its IP header on: its flags are there all the same.
    const isIpv4 = (batch.flags[row]! & FLAG.IPV6) === 0;
    const isRead =
      ethernet !== NOT_AVAILABLE
        ? reader.readEthernet(batch.bytes, ethernet, end)
        : reader.findIp(batch.bytes, start, end, batch.source0[row]!, batch.destination0[row]!, isIpv4);
    let { flags } = reader;
    if (batch.protocol[row] !== PROTOCOL.TCP) flags = 0;
    else if (!isRead) flags = UNKNOWN;
    else if (reader.protocol !== PROTOCOL.TCP) {
      flags = this.#behindInt(reader.ipOffset + (isIpv4 ? (batch.bytes[reader.ipOffset]! & 15) * 4 : 40), end);
    }
    return (reader.length << REST.LENGTH_SHIFT) | flags;
  }

  /**
   * The flags of a TCP header behind a UDP header and INT, both put in front of it by the INT source (INT 2.1, section 5.6.2).
   * @param udp offset of that header
   */
  #behindInt(udp: number, end: number): number {
    const view = this.#view;
    const shim = udp + 8;
    if (shim + 4 > end || ((view.getUint8(shim) >>> 2) & 3) !== NPT_PROTOCOL) return UNKNOWN;
    const tcp = shim + 4 + 4 * view.getUint8(shim + 1);
    return tcp + 14 <= end ? view.getUint8(tcp + 13) : UNKNOWN;
  }
}
