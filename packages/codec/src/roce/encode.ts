/** Writes whole RoCEv2 packets. */
import { parseAddress } from '../address.js';
import { encodeIpHeader } from '../encode/ip-header.js';
import { requireFit } from '../headers/codec.js';
import { IP_PROTOCOL } from '../headers/ip.js';
import { ETHER_TYPE, ethernet } from '../headers/link.js';
import { aeth, atomicEth, bth, icrc, immDt, ROCE_PORT, reth, writeIcrc } from '../headers/roce.js';
import { udp } from '../headers/transport.js';
import { ROCE_PART, rocePartsLength, rocePartsOf } from './opcodes.js';
import type { RoceFields } from './packet.js';

const NOTHING = /* @__PURE__ */ new Uint8Array(0);
/** UDP header, BTH and iCRC. */
const FIXED_BYTES = 8 + 12 + 4;

interface Sizes {
  readonly parts: number;
  readonly six: boolean;
  readonly payload: Uint8Array;
  readonly padCount: number;
  /** UDP header to iCRC. */
  readonly udpLength: number;
  readonly length: number;
}

function sizesOf(fields: RoceFields): Sizes {
  const { opcode, payload = NOTHING } = fields;
  requireFit('opcode', opcode, 8);
  const parts = rocePartsOf(opcode);
  if (parts === 0) throw new RangeError(`opcode 0x${opcode.toString(16)} is none that can be written`);
  if (!(payload instanceof Uint8Array)) throw new TypeError('payload must be a Uint8Array');
  if ((parts & ROCE_PART.PAYLOAD) === 0 && payload.length > 0) {
    throw new RangeError(`opcode 0x${opcode.toString(16)} has no payload, not ${payload.length} bytes`);
  }
  const six = parseAddress(fields.source).version === 6;
  if (six !== (parseAddress(fields.destination).version === 6)) {
    throw new RangeError(`${fields.source} and ${fields.destination} are not of one IP version`);
  }
  const padCount = -payload.length & 3;
  const udpLength = FIXED_BYTES + rocePartsLength(parts) + payload.length + padCount;
  const ipLength = six ? 40 : 20;
  if (udpLength + (six ? 0 : ipLength) > 0xffff)
    throw new RangeError(`${payload.length} bytes of payload are too many`);
  return { parts, six, payload, padCount, udpLength, length: (fields.ethernet ? 14 : 0) + ipLength + udpLength };
}

function needed<T>(name: string, value: T | null | undefined): T {
  if (value === null || value === undefined) throw new TypeError(`this opcode needs ${name}`);
  return value;
}

/**
 * Writes a RoCEv2 packet: Ethernet (if `fields.ethernet` is there), IPv4 or IPv6 by the addresses, UDP, BTH, the
 * headers that the opcode needs, payload, pad bytes of zero, iCRC. It computes lengths, pad count, IPv4 header checksum
 * and iCRC.
 *
 * @param fields see {@link RoceFields}
 * @param out where to write; a new array of the right size if absent
 * @param offset first byte in `out`, default 0
 * @returns a view of the packet in `out`
 * @throws RangeError for a field out of its range, an opcode that is not known, a payload where none belongs, addresses
 *   of two IP versions, or too little room; TypeError if a header that the opcode needs is missing
 */
export function encodeRoce(fields: RoceFields, out?: Uint8Array, offset = 0): Uint8Array {
  const sizes = sizesOf(fields);
  const target = out ?? new Uint8Array(offset + sizes.length);
  if (!(Number.isInteger(offset) && offset >= 0 && target.length - offset >= sizes.length)) {
    throw new RangeError(`${sizes.length} bytes at ${offset} do not fit into ${target.length} bytes`);
  }
  let at = offset;
  if (fields.ethernet) {
    const etherType = sizes.six ? ETHER_TYPE.IPV6 : ETHER_TYPE.IPV4;
    at += ethernet.encodeInto({ ...fields.ethernet, etherType }, target, at);
  }
  const ipAt = at;
  const { sourcePort = 0xc000, destinationPort = ROCE_PORT, udpChecksum = 0 } = fields;
  const { parts, payload, padCount, udpLength: length } = sizes;
  const { timeToLive = 64 } = fields;
  const ipHeader = encodeIpHeader(sizes.six, { ...fields, protocol: IP_PROTOCOL.UDP, timeToLive }, length);
  target.set(ipHeader, at);
  at += ipHeader.length;
  at += udp.encodeInto({ sourcePort, destinationPort, length, checksum: udpChecksum }, target, at);
  at += bth.encodeInto(
    {
      opcode: fields.opcode,
      solicitedEvent: fields.solicitedEvent ?? false,
      migrated: fields.migrated ?? false,
      padCount,
      transportVersion: 0,
      partitionKey: fields.partitionKey ?? 0xffff,
      fecn: fields.fecn ?? false,
      becn: fields.becn ?? false,
      reserved: 0,
      destinationQp: fields.destinationQp,
      acknowledgeRequest: fields.acknowledgeRequest ?? false,
      reserved2: 0,
      psn: fields.psn,
    },
    target,
    at,
  );
  if ((parts & ROCE_PART.RETH) !== 0) at += reth.encodeInto(needed('reth', fields.reth), target, at);
  if ((parts & ROCE_PART.ATOMIC_ETH) !== 0) {
    at += atomicEth.encodeInto(needed('atomicEth', fields.atomicEth), target, at);
  }
  if ((parts & ROCE_PART.AETH) !== 0) at += aeth.encodeInto(needed('aeth', fields.aeth), target, at);
  if ((parts & ROCE_PART.IMMEDIATE) !== 0) {
    at += immDt.encodeInto({ value: needed('immediate', fields.immediate) }, target, at);
  }
  if ((parts & ROCE_PART.ORIGINAL) !== 0) {
    const original = needed('original', fields.original);
    if (BigInt.asUintN(64, original) !== original) throw new RangeError(`original must fit 64 bits, not ${original}`);
    new DataView(target.buffer, target.byteOffset + at, 8).setBigUint64(0, original);
    at += 8;
  }
  target.set(payload, at);
  at += payload.length;
  target.fill(0, at, at + padCount);
  at += padCount;
  at += writeIcrc(icrc(target, ipAt, at - ipAt), target, at);
  return target.subarray(offset, at);
}
