import { mix32 } from '@int/random';

/** UDP port of telemetry reports. */
export const REPORT_PORT = 32766;

/** What a frame is made of. All fields have a default. */
export interface FrameShape {
  /** IP version. Default 4. */
  readonly version?: 4 | 6;
  /** VLAN tags, outermost first: each the tag's EtherType. Default none. */
  readonly tags?: readonly number[];
  /** UDP destination port. Default 32766. */
  readonly port?: number;
  /** Bytes of the frame, or several that take turns. Default: those of a telemetry report, and that is what it holds. */
  readonly sizes?: readonly number[];
  /** IPv4 fragment field: flags and offset in units of 8 bytes. Default 0. */
  readonly fragment?: number;
}

/**
 * A telemetry report v2.0 with an INT-MD stack of two hops (node id; queue id and occupancy), a switch's own queue, and the
 * monitored packet's headers.
 */
const REPORT = Buffer.from(
  '214000000000000314170120100000000000000004000064' +
    '45000057123440003e1113600a0001010a000202c0de138800430000' +
    '180700062000020690000000000000000000000201000200' +
    '0000000100000064c738005011223344556677885018721079620000',
  'hex',
);
/** Places in {@link REPORT} that the number of the frame decides. */
const SEQUENCE = 0;
const NODE = 4;
const OWN_QUEUE = 20;
const FIRST_HOP_QUEUE = 80;

/** What a report of {@link FrameMaker} says in its columns. */
export function reported(index: number): { sequence: number; nodeId: number; ownQueue: number; firstHopQueue: number } {
  return {
    sequence: index & 0x3fffff,
    nodeId: (mix32(index) | 1) >>> 0,
    ownQueue: ((4 << 24) | (mix32(index + 1) & 0xffff)) >>> 0,
    firstHopQueue: mix32(index + 2) & 0xffff,
  };
}

function mac(number: number): Buffer {
  return Buffer.from([2, 0, 0, 0, 0, number]);
}

function ipv6Address(number: number): Buffer {
  const address = Buffer.alloc(16);
  address.writeUInt16BE(0xfd77, 0);
  address[15] = number;
  return address;
}

function checksumOf(bytes: Uint8Array, from: number, to: number, start = 0): number {
  let sum = start;
  for (let at = from; at < to; at += 2) sum += (bytes[at]! << 8) | (at + 1 < to ? bytes[at + 1]! : 0);
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >>> 16);
  return ~sum & 0xffff;
}

/** Ethernet header with tags. @returns the bytes */
function link(tags: readonly number[], etherType: number): Buffer {
  const parts = [mac(2), mac(1)];
  for (const [depth, tag] of tags.entries()) {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt16BE(tag, 0);
    bytes.writeUInt16BE(0x2064 + depth, 2);
    parts.push(bytes);
  }
  const type = Buffer.alloc(2);
  type.writeUInt16BE(etherType);
  return Buffer.concat([...parts, type]);
}

/** An IPv4 or IPv6 packet in an Ethernet frame from the left end to the right one; `payload` from the transport header on. */
export function ipFrame(protocol: number, payload: Uint8Array, shape: FrameShape = {}): Buffer {
  const { version = 4, tags = [], fragment = 0 } = shape;
  if (version === 6) {
    const header = Buffer.alloc(8);
    header[0] = 0x60;
    header.writeUInt16BE(payload.length, 4);
    header[6] = protocol;
    header[7] = 64;
    return Buffer.concat([link(tags, 0x86dd), header, ipv6Address(1), ipv6Address(2), payload]);
  }
  const header = Buffer.alloc(20);
  header[0] = 0x45;
  header.writeUInt16BE(20 + payload.length, 2);
  header.writeUInt16BE(0x1d1d, 4);
  header.writeUInt16BE(fragment, 6);
  header[8] = 64;
  header[9] = protocol;
  header.set([10, 77, 0, 1], 12);
  header.set([10, 77, 0, 2], 16);
  header.writeUInt16BE(checksumOf(header, 0, 20), 10);
  return Buffer.concat([link(tags, 0x0800), header, payload]);
}

/** The UDP header and payload; the checksum is right for IPv6 and absent for IPv4, where it need not be there. */
export function udp(port: number, payload: Uint8Array, version: 4 | 6 = 4): Buffer {
  const bytes = Buffer.alloc(8 + payload.length);
  bytes.writeUInt16BE(40_000, 0);
  bytes.writeUInt16BE(port, 2);
  bytes.writeUInt16BE(bytes.length, 4);
  bytes.set(payload, 8);
  if (version === 6) {
    const pseudo = Buffer.concat([ipv6Address(1), ipv6Address(2), Buffer.from([0, 0, 0, 0, 0, 0, 0, 17]), bytes]);
    pseudo.writeUInt32BE(bytes.length, 32);
    bytes.writeUInt16BE(checksumOf(pseudo, 0, pseudo.length) || 0xffff, 6);
  }
  return bytes;
}

/** An ICMP echo request, for IPv4. */
export function ping(sequence: number): Buffer {
  const bytes = Buffer.alloc(16, 0x61);
  bytes.writeUInt32BE(0x0800_0000, 0);
  bytes.writeUInt16BE(0x77, 4);
  bytes.writeUInt16BE(sequence, 6);
  bytes.writeUInt16BE(checksumOf(bytes, 0, bytes.length), 2);
  return ipFrame(1, bytes);
}

/** A TCP SYN for a port, for IPv4. */
export function syn(port: number): Buffer {
  const bytes = Buffer.alloc(20);
  bytes.writeUInt16BE(40_001, 0);
  bytes.writeUInt16BE(port, 2);
  bytes.writeUInt32BE(1, 4);
  bytes.writeUInt16BE(0x5002, 12);
  bytes.writeUInt16BE(1024, 14);
  const pseudo = Buffer.concat([Buffer.from([10, 77, 0, 1, 10, 77, 0, 2, 0, 6, 0, 20]), bytes]);
  bytes.writeUInt16BE(checksumOf(pseudo, 0, pseudo.length), 16);
  return ipFrame(6, bytes);
}

/** An ARP request of the left end for the right one's address. */
export function arp(): Buffer {
  const header = Buffer.from('0001080006040001', 'hex');
  const target = Buffer.from([0, 0, 0, 0, 0, 0, 10, 77, 0, 2]);
  const frame = Buffer.concat([link([], 0x0806), header, mac(1), Buffer.from([10, 77, 0, 1]), target]);
  frame.fill(0xff, 0, 6);
  return frame;
}

/**
 * Makes numbered frames: the number decides every byte, so that a receiver can make the same frame again and compare.
 * UDP payloads that are no reports start with the number, 32 bits big endian.
 */
export class FrameMaker {
  readonly #templates: readonly Buffer[];
  readonly #heads: number;
  readonly #isReport: boolean;

  constructor(shape: FrameShape = {}) {
    const { version = 4, tags = [], port = REPORT_PORT, sizes } = shape;
    this.#heads = 14 + 4 * tags.length + (version === 4 ? 20 : 40) + 8;
    this.#isReport = sizes === undefined;
    const payloads = sizes?.map((size) => Buffer.alloc(size - this.#heads)) ?? [REPORT];
    this.#templates = payloads.map((payload) => ipFrame(17, udp(port, payload, version), shape));
  }

  /** Frame number `index`: valid until the next call. The UDP checksum over IPv6 is not made right. */
  make(index: number): Buffer {
    const frame = this.#templates[index % this.#templates.length]!;
    const at = this.#heads;
    if (this.#isReport) {
      const { sequence, nodeId, ownQueue, firstHopQueue } = reported(index);
      frame.writeUInt32BE((0x21400000 | sequence) >>> 0, at + SEQUENCE);
      frame.writeUInt32BE(nodeId, at + NODE);
      frame.writeUInt32BE(ownQueue, at + OWN_QUEUE);
      frame.writeUInt32BE(firstHopQueue, at + FIRST_HOP_QUEUE);
      return frame;
    }
    frame.writeUInt32BE(index, at);
    for (let place = at + 4, word = index; place < frame.length; place += 4) {
      word = mix32(word + 0x9e3779b9);
      for (let byte = place; byte < Math.min(place + 4, frame.length); byte++) {
        frame[byte] = word & 0xff;
        word = ((word << 24) | (word >>> 8)) >>> 0;
      }
    }
    return frame;
  }

  /** The number of a frame, read from its bytes. */
  indexOf(frame: Buffer): number {
    const word = frame.length >= this.#heads + 4 ? frame.readUInt32BE(this.#heads) : 0xffffffff;
    return this.#isReport ? word & 0x3fffff : word;
  }

  /** Whether these are exactly the bytes of that frame. */
  isFrame(index: number, frame: Buffer): boolean {
    return frame.equals(this.make(index));
  }
}
