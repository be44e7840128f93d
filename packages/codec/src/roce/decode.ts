/** Reads whole RoCEv2 packets. */
import { CodecError } from '../errors.js';
import { readUint16, requireBytes } from '../headers/codec.js';
import { IP_PROTOCOL, ipv4, ipv6 } from '../headers/ip.js';
import { ETHER_TYPE, ethernet } from '../headers/link.js';
import { aeth, atomicEth, bth, immDt, ROCE_PORT, reth, verifyIcrc } from '../headers/roce.js';
import { udp } from '../headers/transport.js';
import { ROCE_PART, rocePartsLength, rocePartsOf } from './opcodes.js';
import type { RocePacket } from './packet.js';

/** Codes of the errors that {@link decodeRoce} throws, besides those of the headers. */
export const ROCE_ERROR_CODES = [
  'TRUNCATED',
  'BAD_IP_VERSION',
  'BAD_IP_LENGTH',
  'BAD_UDP_LENGTH',
  'NOT_ROCE',
  'BAD_ICRC',
  'BAD_TRANSPORT_VERSION',
  'BAD_OPCODE',
  'BAD_PAD_COUNT',
] as const;
export type RoceErrorCode = (typeof ROCE_ERROR_CODES)[number];

/** What the bytes start with, and how strictly they are read. */
export interface RoceDecodeOptions {
  /** Default `ethernet`. */
  readonly linkType?: 'ethernet' | 'ip';
  /** Bytes of the frame, default to the end; bytes behind the IP packet are padding of Ethernet. */
  readonly length?: number;
  /** UDP destination port, default 4791. */
  readonly port?: number;
  /** Default true: a wrong iCRC is an error. */
  readonly verifyIcrc?: boolean;
}

const MOST_TAGS = 4;

function fail(
  code: RoceErrorCode,
  layer: 'link' | 'ipv4' | 'ipv6' | 'udp' | 'roce',
  offset: number,
  text: string,
): never {
  throw new CodecError(code, layer, offset, text);
}

/** Offset of the IP header, behind any VLAN tags. */
function networkAt(bytes: Uint8Array, offset: number): number {
  let at = offset + 12;
  for (let tags = 0; tags <= MOST_TAGS; tags++) {
    requireBytes(bytes, at, 2, 'link');
    const type = readUint16(bytes, at);
    if (type === ETHER_TYPE.IPV4 || type === ETHER_TYPE.IPV6) return at + 2;
    const isTag = type === ETHER_TYPE.VLAN || type === ETHER_TYPE.SERVICE_VLAN || type === ETHER_TYPE.QINQ_OLD;
    if (!isTag) return fail('NOT_ROCE', 'link', at, `EtherType 0x${type.toString(16)}`);
    at += 4;
  }
  return fail('NOT_ROCE', 'link', at, `more than ${MOST_TAGS} tags`);
}

type IpFields = Pick<
  RocePacket,
  'source' | 'destination' | 'dscp' | 'ecn' | 'timeToLive' | 'identification' | 'dontFragment' | 'flowLabel'
>;

function readIp(bytes: Uint8Array, at: number): { fields: IpFields; udpAt: number; end: number } {
  requireBytes(bytes, at, 1, 'roce');
  if (bytes[at]! >>> 4 === 6) {
    const header = ipv6.decode(bytes, at);
    const { source, destination, dscp, ecn, flowLabel, hopLimit: timeToLive } = header;
    if (header.nextHeader !== IP_PROTOCOL.UDP) fail('NOT_ROCE', 'ipv6', at, `next header ${header.nextHeader}`);
    const fields = { source, destination, dscp, ecn, timeToLive, identification: 0, dontFragment: true, flowLabel };
    return { fields, udpAt: at + 40, end: at + 40 + header.payloadLength };
  }
  const header = ipv4.decode(bytes, at);
  const { source, destination, dscp, ecn, timeToLive, identification, dontFragment } = header;
  if (header.protocol !== IP_PROTOCOL.UDP) fail('NOT_ROCE', 'ipv4', at, `protocol ${header.protocol}`);
  if (header.moreFragments || header.fragmentOffset > 0) fail('NOT_ROCE', 'ipv4', at, 'a fragment');
  const headerLength = 20 + header.options.length;
  if (header.totalLength < headerLength) fail('BAD_IP_LENGTH', 'ipv4', at, `total length ${header.totalLength} bytes`);
  const fields = { source, destination, dscp, ecn, timeToLive, identification, dontFragment, flowLabel: 0 };
  return { fields, udpAt: at + headerLength, end: at + header.totalLength };
}

/**
 * Reads a RoCEv2 packet: RDMA WRITE (first, middle, last, only; RC and UC; with and without immediate data),
 * COMPARE&SWAP, FETCH&ADD, and their answers.
 *
 * VLAN tags are skipped. The IPv4 header checksum and the UDP checksum are not verified: the iCRC covers the same
 * bytes. The DMA length is not compared with the payload: in a WRITE-first packet it is that of the whole message.
 *
 * @param bytes holds the frame
 * @param offset its first byte, default 0
 * @throws CodecError of the layer `roce`; TypeError, RangeError for arguments that are no range
 */
export function decodeRoce(bytes: Uint8Array, offset = 0, options: RoceDecodeOptions = {}): RocePacket {
  const { linkType = 'ethernet', port = ROCE_PORT, length } = options;
  requireBytes(bytes, offset, 0, 'link');
  if (length !== undefined && !(Number.isInteger(length) && length >= 0 && length <= bytes.length - offset)) {
    throw new RangeError(`length ${length} at ${offset} does not lie in ${bytes.length} bytes`);
  }
  const frame = length === undefined ? bytes : bytes.subarray(0, offset + length);
  let link: RocePacket['ethernet'] = null;
  let ipAt = offset;
  if (linkType === 'ethernet') {
    const { destination, source } = ethernet.decode(frame, offset);
    link = { destination, source };
    ipAt = networkAt(frame, offset);
  }
  const { fields, udpAt, end } = readIp(frame, ipAt);
  requireBytes(frame, ipAt, end - ipAt, 'roce');
  // From here on, bytes behind the IP packet cannot be read.
  const packet = frame.subarray(0, end);
  const { sourcePort, destinationPort, length: udpLength, checksum: udpChecksum } = udp.decode(packet, udpAt);
  if (destinationPort !== port) fail('NOT_ROCE', 'udp', udpAt, `destination port ${destinationPort}`);
  if (udpLength !== end - udpAt) {
    fail('BAD_UDP_LENGTH', 'udp', udpAt, `UDP length ${udpLength}, ${end - udpAt} bytes in the IP packet`);
  }
  const bthAt = udpAt + 8;
  requireBytes(packet, bthAt, 12 + 4, 'roce');
  if ((options.verifyIcrc ?? true) && !verifyIcrc(packet, ipAt)) fail('BAD_ICRC', 'roce', end - 4, 'the iCRC is wrong');
  const { padCount, transportVersion, reserved: _, reserved2: __, ...transport } = bth.decode(packet, bthAt);
  if (transportVersion !== 0) fail('BAD_TRANSPORT_VERSION', 'roce', bthAt + 1, `transport version ${transportVersion}`);
  const parts = rocePartsOf(transport.opcode);
  if (parts === 0) fail('BAD_OPCODE', 'roce', bthAt, `opcode 0x${transport.opcode.toString(16)}`);
  const body = packet.subarray(0, end - 4);
  let at = bthAt + 12;
  requireBytes(body, at, rocePartsLength(parts), 'roce');
  const take = (part: number, partLength: number): number => {
    if ((parts & part) === 0) return -1;
    at += partLength;
    return at - partLength;
  };
  const rethAt = take(ROCE_PART.RETH, 16);
  const atomicAt = take(ROCE_PART.ATOMIC_ETH, 28);
  const aethAt = take(ROCE_PART.AETH, 4);
  const immediateAt = take(ROCE_PART.IMMEDIATE, 4);
  const originalAt = take(ROCE_PART.ORIGINAL, 8);
  const rest = body.length - at;
  const mayHavePayload = (parts & ROCE_PART.PAYLOAD) !== 0;
  if (padCount > rest || (!mayHavePayload && rest > 0)) {
    fail('BAD_PAD_COUNT', 'roce', bthAt + 1, `${rest} bytes behind the headers, pad count ${padCount}`);
  }
  return {
    ethernet: link,
    ...fields,
    sourcePort,
    destinationPort,
    udpChecksum,
    ...transport,
    reth: rethAt < 0 ? null : reth.decode(body, rethAt),
    atomicEth: atomicAt < 0 ? null : atomicEth.decode(body, atomicAt),
    aeth: aethAt < 0 ? null : aeth.decode(body, aethAt),
    immediate: immediateAt < 0 ? null : immDt.decode(body, immediateAt).value,
    original: originalAt < 0 ? null : new DataView(body.buffer, body.byteOffset + originalAt, 8).getBigUint64(0),
    payload: body.subarray(at, body.length - padCount),
  };
}
