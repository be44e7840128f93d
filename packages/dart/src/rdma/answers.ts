/** Answers of a reliable connection: acknowledgements, and the results of atomics. */
import { ROCE_OPCODE } from '@int/codec';
import { fastIcrc, ROCE_PORT, writeIcrc } from '@int/codec/internals';
import { type PacketReader, uint32At } from './packet-reader.js';

/** Syndromes of the AETH (InfiniBand Architecture Specification volume 1, section 9.7.5). */
export const SYNDROME = {
  /** Acknowledged; no credits are counted. */
  ACKNOWLEDGED: 0x1f,
  /** Not acknowledged: packets are missing. The sender must repeat those from the answer's PSN on. */
  SEQUENCE_ERROR: 0x60,
  /** Not acknowledged: the request is invalid. */
  INVALID_REQUEST: 0x61,
  /** Not acknowledged: the region does not exist, does not contain the whole range, or forbids the access. */
  REMOTE_ACCESS_ERROR: 0x62,
} as const;

/** Ethernet with tags, the longest IP header written, UDP, BTH, AETH, 8 bytes, iCRC. */
const ROOM = 14 + 16 + 40 + 8 + 12 + 4 + 8 + 4;
const TIME_TO_LIVE = 64;

/** The fields of an answer. */
export interface AnswerFields {
  readonly syndrome: number;
  /** 24 bits. */
  readonly psn: number;
  /** Messages completed, 24 bits. */
  readonly messages: number;
  /** The queue pair at the other side, 24 bits. */
  readonly peer: number;
  readonly partitionKey: number;
  /** The value in memory before an atomic operation. */
  readonly original?: bigint;
}

/** Writes answers into one buffer, each over the previous one. */
export class AnswerWriter {
  readonly #bytes = new Uint8Array(ROOM);
  readonly #view = new DataView(this.#bytes.buffer);

  /**
   * Writes the answer to a request, with source and destination exchanged.
   *
   * @param offset start of the request: its Ethernet header or its IP header; the answer starts with the same header
   * @param isDatagram whether the request came through a socket: the answer then goes to the request's source port, not
   *   to 4791, and starts with its BTH
   * @returns a view that the next answer overwrites
   */
  write(
    request: Uint8Array,
    offset: number,
    reader: PacketReader,
    isDatagram: boolean,
    fields: AnswerFields,
  ): Uint8Array {
    const bytes = this.#bytes;
    const linkBytes = reader.ipAt - offset;
    if (linkBytes > 0) {
      bytes.set(request.subarray(offset, reader.ipAt));
      bytes.copyWithin(0, 6, 12);
      bytes.set(request.subarray(offset, offset + 6), 6);
    }
    const isAtomic = fields.original !== undefined;
    const udpLength = 8 + 12 + 4 + (isAtomic ? 8 : 0) + 4;
    const udpAt = this.#writeIp(request, reader, linkBytes, udpLength);
    const view = this.#view;
    const from = reader.udpAt;
    bytes.set(request.subarray(from, from + 2), udpAt);
    if (isDatagram) {
      bytes.set(request.subarray(from + 2, from + 4), udpAt);
      bytes.set(request.subarray(from, from + 2), udpAt + 2);
    } else {
      view.setUint16(udpAt + 2, ROCE_PORT);
    }
    view.setUint32(udpAt + 4, udpLength << 16);
    const bthAt = udpAt + 8;
    bytes[bthAt] = isAtomic ? ROCE_OPCODE.RC_ATOMIC_ACKNOWLEDGE : ROCE_OPCODE.RC_ACKNOWLEDGE;
    // Copy the migration state of the request; no solicited event, no pad bytes, version 0.
    bytes[bthAt + 1] = request[reader.bthAt + 1]! & 0x40;
    view.setUint16(bthAt + 2, fields.partitionKey);
    view.setUint32(bthAt + 4, fields.peer);
    view.setUint32(bthAt + 8, fields.psn);
    view.setUint32(bthAt + 12, ((fields.syndrome << 24) | fields.messages) >>> 0);
    if (fields.original !== undefined) view.setBigUint64(bthAt + 16, fields.original);
    const icrcAt = udpAt + udpLength - 4;
    writeIcrc(fastIcrc(bytes, linkBytes, icrcAt - linkBytes), bytes, icrcAt);
    return bytes.subarray(isDatagram ? bthAt : 0, icrcAt + 4);
  }

  #writeIp(request: Uint8Array, { ipAt, isIpv6 }: PacketReader, at: number, udpLength: number): number {
    const bytes = this.#bytes;
    const view = this.#view;
    if (isIpv6) {
      view.setUint32(at, 0x60000000);
      view.setUint32(at + 4, (udpLength << 16) | (17 << 8) | TIME_TO_LIVE);
      bytes.set(request.subarray(ipAt + 24, ipAt + 40), at + 8);
      bytes.set(request.subarray(ipAt + 8, ipAt + 24), at + 24);
      return at + 40;
    }
    view.setUint32(at, 0x45000000 | (20 + udpLength));
    // Identification 0, do not fragment.
    view.setUint32(at + 4, 0x4000);
    view.setUint32(at + 8, (TIME_TO_LIVE << 24) | (17 << 16));
    bytes.set(request.subarray(ipAt + 16, ipAt + 20), at + 12);
    bytes.set(request.subarray(ipAt + 12, ipAt + 16), at + 16);
    let sum = 0;
    for (let word = 0; word < 20; word += 2) sum += view.getUint16(at + word);
    sum = (sum & 0xffff) + (sum >>> 16);
    view.setUint16(at + 10, ~((sum & 0xffff) + (sum >>> 16)) & 0xffff);
    return at + 20;
  }
}

/** Number of atomic operations per queue pair whose answers are kept. */
const KEPT = 16;
/** BTH opcode and the AtomicETH. */
const WORDS = 1 + 7;

/** The last answers to atomics of a queue pair. A repeated request must get the same answer without execution. */
export class AtomicAnswers {
  readonly #psns = new Int32Array(KEPT).fill(-1);
  readonly #requests = new Uint32Array(KEPT * WORDS);
  readonly #originals = new BigUint64Array(KEPT);
  #next = 0;

  /** @param atomicAt offset of the AtomicETH */
  keep(psn: number, opcode: number, bytes: Uint8Array, atomicAt: number, original: bigint): void {
    // After a queue pair is reset, a number may occur again; the older answer must not be found.
    const same = this.#psns.indexOf(psn);
    const entry = same < 0 ? this.#next : same;
    if (same < 0) this.#next = (entry + 1) % KEPT;
    this.#psns[entry] = psn;
    this.#originals[entry] = original;
    this.#requests[entry * WORDS] = opcode;
    for (let word = 0; word < 7; word++)
      this.#requests[entry * WORDS + 1 + word] = uint32At(bytes, atomicAt + 4 * word);
  }

  /** The answer given to the same request; undefined if it is no longer kept, or the request differs. */
  find(psn: number, opcode: number, bytes: Uint8Array, atomicAt: number): bigint | undefined {
    const entry = this.#psns.indexOf(psn);
    if (entry < 0 || this.#requests[entry * WORDS] !== opcode) return undefined;
    for (let word = 0; word < 7; word++) {
      if (this.#requests[entry * WORDS + 1 + word] !== uint32At(bytes, atomicAt + 4 * word)) return undefined;
    }
    return this.#originals[entry];
  }
}
