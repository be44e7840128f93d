/** The sink role for forwarding programs: from one place in memory to another, without an object per packet. */
import { foldSum, sumRange, updateChecksum, updateUdpChecksum } from '../checksum.js';
import { CODE_NAMES, CODES, type CodeName } from '../codes.js';
import { CodecError } from '../errors.js';
import { readUint16, writeUint16 } from '../headers/codec.js';
import { IP_PROTOCOL } from '../headers/ip.js';
import { linkPayload } from '../scan/network.js';
import { readTransport } from '../scan/packet.js';
import { settingsOf } from '../scan/settings.js';
import { MARKING, Scan } from '../scan/state.js';
import type { SinkConfig } from './config.js';
import { ENCAPSULATION, findInt, isFragment, locate, type OuterPacket, VERSION, writeDscp } from './packet.js';
import { endsHere, intStart, restore, storedDscp, storedPort } from './sink.js';

/** What became of a frame. */
export const STRIP = {
  /** No INT: copied as it is. */
  PLAIN: 0,
  /** INT was removed. */
  STRIPPED: 1,
  /** INT was removed, and the packet ends here: the D bit (v2.x), or the mark of a copy (v0.5, v1.0, IntMon). */
  DISCARD: 2,
  /** INT in a fragment, from which nothing can be removed: copied as it is. */
  FRAGMENT: 3,
  /** A packet that is cut or malformed, or malformed INT: copied as it is. {@link Stripper.code} says what is wrong. */
  UNSOUND: 4,
} as const;

/** From this length on the built-in copy is faster than a loop, although it needs a view if the two memories differ. */
const LONG = 64;

function copy(source: Uint8Array, from: number, to: number, target: Uint8Array, at: number): void {
  if (source === target) {
    if (from !== at) target.copyWithin(at, from, to);
  } else if (to - from >= LONG) {
    target.set(source.subarray(from, to), at);
  } else {
    for (let p = from, q = at; p < to; p++, q++) target[q] = source[p]!;
  }
}

/**
 * Copies frames from one buffer to another and removes their INT. The packets equal those of `sink`, byte for byte.
 *
 * Whatever the bytes are, it throws nothing and reads nothing outside the frame. To remove INT between a UDP or TCP
 * header and its payload (by port, DSCP, probe marker, and IntMon) it allocates nothing if `source` and `target` are
 * the same array; for two arrays it makes a view for each longer range. INT in tunnels and in a UDP header of its own
 * is removed as by `sink`, with a new array for the packet.
 *
 * One caller at a time: {@link verdict} and {@link code} are those of the last frame.
 */
export class Stripper {
  /** What became of the last frame: one of {@link STRIP}. */
  verdict: number = STRIP.PLAIN;
  readonly #config: SinkConfig;
  readonly #scan: Scan;
  readonly #outer: OuterPacket;
  #code: number = CODES.OK;

  /** @throws RangeError for an option out of range */
  constructor(config: SinkConfig = {}) {
    this.#config = config;
    this.#scan = new Scan(settingsOf(config));
    this.#outer = { scan: this.#scan, ipv6: false, fragment: false };
  }

  /** What was wrong with the last frame; `OK` unless the verdict is `UNSOUND`. */
  get code(): CodeName {
    return CODE_NAMES[this.#code]!;
  }

  /**
   * Writes a frame as it is to be sent on.
   *
   * @param source where the frame lies
   * @param offset its first byte in `source`
   * @param length its bytes: Ethernet without frame check sequence
   * @param target where to write; it may be `source` if the two ranges are the same or do not overlap
   * @param targetOffset first byte to write; `length` bytes from there on must be free
   * @returns bytes written: `length`, or less if INT was removed
   * @throws RangeError if a range does not lie inside its array
   */
  strip(source: Uint8Array, offset: number, length: number, target: Uint8Array, targetOffset: number): number {
    const end = offset + length;
    if (!(offset >= 0 && length >= 0 && end <= source.length)) {
      throw new RangeError(`source: ${length} bytes from ${offset} on do not lie in ${source.length}`);
    }
    if (!(targetOffset >= 0 && targetOffset + length <= target.length)) {
      throw new RangeError(`target: ${length} bytes from ${targetOffset} on do not lie in ${target.length}`);
    }
    this.#code = CODES.OK;
    this.verdict = this.#find(source, offset, end);
    if (this.verdict === STRIP.STRIPPED) {
      const { encapsulation } = this.#scan;
      const isMarked = encapsulation === ENCAPSULATION.UDP || encapsulation === ENCAPSULATION.TCP;
      if (endsHere(this.#scan)) this.verdict = STRIP.DISCARD;
      if (isMarked) return this.#takeOut(source, end, target, targetOffset - offset);
      const restored = this.#restore(source.subarray(offset, end));
      if (restored !== null) {
        target.set(restored, targetOffset);
        return restored.length;
      }
      this.verdict = STRIP.UNSOUND;
    }
    copy(source, offset, end, target, targetOffset);
    return length;
  }

  /** Looks for INT that can be removed. */
  #find(source: Uint8Array, start: number, end: number): number {
    const scan = this.#scan;
    scan.aim(source, start, end);
    const ip = linkPayload(scan, 'ethernet', start, end);
    if (ip < 0 || !readTransport(scan, ip, end)) return this.#unsound(scan.code);
    if (scan.ipEnd > end) return this.#unsound(CODES.TRUNCATED);
    const code = findInt(this.#outer);
    if (code !== CODES.OK) return this.#unsound(code);
    return isFragment(source, scan, source[scan.ipOffset]! >>> 4 === 6) ? STRIP.FRAGMENT : STRIP.STRIPPED;
  }

  #unsound(code: number): number {
    if (code === CODES.NOT_INT) return STRIP.PLAIN;
    this.#code = code;
    return STRIP.UNSOUND;
  }

  /** Restores a packet as `sink` does. @returns `null` if it cannot be restored; `code` then says why */
  #restore(packet: Uint8Array): Uint8Array | null {
    try {
      return restore(packet, locate(packet, this.#config)!, this.#config);
    } catch (error) {
      if (!(error instanceof CodecError)) throw error;
      this.#code = CODES[error.code as CodeName];
      return null;
    }
  }

  /**
   * Removes what stands between the L4 header and its payload. It computes lengths and checksums from the removed and
   * the restored words alone. The sums equal those of `sink` modulo 65,535, and are the same number, because only a sum
   * of zeros alone is 0. It reads everything before it writes anything, so a frame can be stripped in place.
   *
   * @param shift difference of a position in `target` and the same position in `source`
   */
  #takeOut(source: Uint8Array, end: number, target: Uint8Array, shift: number): number {
    const scan = this.#scan;
    const { ipOffset, l4Offset, intEnd, marking } = scan;
    const start = intStart(scan);
    const cut = intEnd - start;
    const isUdp = scan.l4Protocol === IP_PROTOCOL.UDP;
    const isIpv6 = source[ipOffset]! >>> 4 === 6;
    const intmon = scan.intVersion === VERSION.INTMON;

    const port = readUint16(source, l4Offset + 2);
    const newPort = intmon || marking === MARKING.PORT ? storedPort(source, scan) : port;
    const dscp =
      !intmon && marking === MARKING.DSCP && this.#config.restoreDscp !== false ? storedDscp(source, scan) : -1;
    const lengthAt = ipOffset + (isIpv6 ? 4 : 2);
    const ipLength = readUint16(source, lengthAt);
    const udpLength = isUdp ? readUint16(source, l4Offset + 4) : 0;
    // 0 (jumbogram, segmentation offload) is no length and remains.
    const newIpLength = ipLength === 0 ? 0 : ipLength - cut;
    const newUdpLength = udpLength === 0 ? 0 : (udpLength - cut) & 0xffff;
    const checksumAt = l4Offset + (isUdp ? 6 : 16);
    const checksum = readUint16(source, checksumAt);
    const header = isIpv6 ? 0 : readUint16(source, ipOffset);
    // The UDP length counts twice, because the pseudo header has it as well. 0xffff is a zero.
    const removed = isUdp && checksum === 0 ? 0 : sumRange(source, start, cut, cut + port + udpLength);
    const added = foldSum(0xffff + newPort + newUdpLength);

    copy(source, scan.start, start, target, scan.start + shift);
    copy(source, intEnd, end, target, start + shift);

    const ip = ipOffset + shift;
    if (dscp >= 0) writeDscp(target, ip, dscp);
    writeUint16(target, lengthAt + shift, newIpLength);
    if (!isIpv6) {
      const sum = readUint16(target, ip + 10);
      const now = foldSum(readUint16(target, ip) + newIpLength);
      writeUint16(target, ip + 10, updateChecksum(sum, foldSum(header + ipLength), now));
    }
    writeUint16(target, l4Offset + 2 + shift, newPort);
    if (isUdp) writeUint16(target, l4Offset + 4 + shift, newUdpLength);
    const update = isUdp ? updateUdpChecksum : updateChecksum;
    writeUint16(target, checksumAt + shift, update(checksum, removed, added));
    return end - scan.start - cut;
  }
}
