/** Rebuilding the IP and UDP headers that a socket removed from a datagram: its iCRC covers them. */
import { parseAddress } from '@int/codec';

/** Source and destination of a datagram. */
export interface DatagramEnds {
  /** IP addresses, both IPv4 (also as `::ffff:10.0.0.1`) or both IPv6 (a zone is left out). */
  readonly source: string;
  readonly destination: string;
  readonly sourcePort: number;
  readonly destinationPort: number;
}

const LARGEST = 0xffff;
/** Bytes of the largest headers: IPv6 and UDP. */
const ROOM = 40 + 8;

/** The words of an address. An IPv4 address mapped into IPv6 gives the words of the IPv4 address. */
function wordsOf(text: string): readonly number[] {
  const zone = text.indexOf('%');
  const { words } = parseAddress(zone < 0 ? text : text.slice(0, zone));
  const isMapped = words.length === 4 && words[0] === 0 && words[1] === 0 && words[2] === 0xffff;
  return isMapped ? [words[3]!] : words;
}

/**
 * Puts the probable headers before datagrams: IPv4 with identification 0 and "do not fragment", without options, or
 * IPv6; then UDP. Fields that the iCRC does not cover (TTL, traffic class, checksums) are 0.
 */
export class DatagramRebuilder {
  /** The last packet, with its IP header at offset 0. Valid until the next call. */
  readonly bytes = new Uint8Array(ROOM + LARGEST);
  #source = '';
  #destination = '';
  #udpAt = 0;

  /**
   * @returns length of the packet in bytes; -1 if it exceeds that of an IP packet
   * @throws AddressError, RangeError for invalid addresses or two IP versions
   */
  rebuild(payload: Uint8Array, ends: DatagramEnds): number {
    if (ends.source !== this.#source || ends.destination !== this.#destination) this.#setAddresses(ends);
    const { bytes } = this;
    const udpAt = this.#udpAt;
    const udpLength = 8 + payload.length;
    const isIpv6 = udpAt === 40;
    if (udpLength + (isIpv6 ? 0 : udpAt) > LARGEST) return -1;
    const total = isIpv6 ? udpLength : udpAt + udpLength;
    bytes[isIpv6 ? 4 : 2] = total >>> 8;
    bytes[isIpv6 ? 5 : 3] = total;
    bytes[udpAt] = ends.sourcePort >>> 8;
    bytes[udpAt + 1] = ends.sourcePort;
    bytes[udpAt + 2] = ends.destinationPort >>> 8;
    bytes[udpAt + 3] = ends.destinationPort;
    bytes[udpAt + 4] = udpLength >>> 8;
    bytes[udpAt + 5] = udpLength;
    bytes.set(payload, udpAt + 8);
    return udpAt + udpLength;
  }

  #setAddresses({ source, destination }: DatagramEnds): void {
    const from = wordsOf(source);
    const to = wordsOf(destination);
    if (from.length !== to.length) throw new RangeError(`${source} and ${destination} are not of one IP version`);
    const { bytes } = this;
    const isIpv6 = from.length === 4;
    bytes.fill(0, 0, ROOM);
    if (isIpv6) {
      bytes[0] = 0x60;
      bytes[6] = 17;
    } else {
      bytes[0] = 0x45;
      bytes[6] = 0x40;
      bytes[9] = 17;
    }
    const view = new DataView(bytes.buffer);
    [...from, ...to].forEach((word, at) => {
      view.setUint32((isIpv6 ? 8 : 12) + 4 * at, word);
    });
    this.#udpAt = isIpv6 ? 40 : 20;
    this.#source = source;
    this.#destination = destination;
  }
}
