/** Captures of links. */
import { PcapWriter } from '@int/pcap';
import type { FrameConsumer } from './link.js';

export interface PcapTapOptions {
  /** Called with the pieces of the file: first its header, then a record per frame. Default: `bytes()` keeps them. */
  readonly onBytes?: (bytes: Uint8Array) => void;
  /** Most bytes recorded of a frame, from 1. Default: 262,144. */
  readonly snapLength?: number;
  /** Real time of virtual time 0: nanoseconds since 1970-01-01 00:00:00 UTC. Default: 0. */
  readonly epochNs?: bigint;
}

/** Writes the frames of a tap to a pcap file with nanoseconds. */
export class PcapTap {
  /** The consumer for `Network.tap`. One file may record several links. */
  readonly sink: FrameConsumer;
  readonly #writer: PcapWriter;
  readonly #onBytes: ((bytes: Uint8Array) => void) | null;
  #buffer: Uint8Array;
  #length = 0;
  #frameCount = 0;
  readonly #epochHigh: number;
  readonly #epochLow: number;

  /** @throws RangeError for an option out of range */
  constructor(options: PcapTapOptions = {}) {
    const { onBytes = null, snapLength, epochNs = 0n } = options;
    if (epochNs < 0n || epochNs >> 62n !== 0n)
      throw new RangeError(`epochNs must be from 0 to 2^62 - 1, not ${epochNs}`);
    this.#epochHigh = Number(epochNs >> 32n);
    this.#epochLow = Number(epochNs & 0xffff_ffffn);
    this.#writer = new PcapWriter(snapLength === undefined ? {} : { snapLength });
    this.#onBytes = onBytes;
    this.#buffer = new Uint8Array(onBytes === null ? 1 << 12 : 0);
    const header = this.#writer.header();
    if (onBytes === null) this.#append(header);
    else onBytes(header);
    this.sink = (frame, timeNs) => this.#write(frame, timeNs);
  }

  /** Frames written. */
  get frames(): number {
    return this.#frameCount;
  }

  /** The file so far: a view that later frames do not change. Empty with `onBytes`. */
  bytes(): Uint8Array {
    return this.#buffer.subarray(0, this.#length);
  }

  #write(frame: Uint8Array, timeNs: number): void {
    const writer = this.#writer;
    // Two words: nanoseconds since 1970 need 61 bits.
    const sum = this.#epochLow + (timeNs >>> 0);
    const low = sum >>> 0;
    const high = this.#epochHigh + Math.floor(timeNs / 2 ** 32) + (sum > 0xffff_ffff ? 1 : 0);
    const length = writer.recordLength(frame.length);
    this.#frameCount++;
    if (this.#onBytes !== null) {
      const record = new Uint8Array(length);
      writer.recordInto(record, 0, frame, high, low);
      this.#onBytes(record);
      return;
    }
    this.#reserve(length);
    this.#length += writer.recordInto(this.#buffer, this.#length, frame, high, low);
  }

  #append(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#buffer.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  #reserve(more: number): void {
    if (this.#length + more <= this.#buffer.length) return;
    const grown = new Uint8Array(Math.max(this.#buffer.length * 2, this.#length + more));
    grown.set(this.bytes());
    this.#buffer = grown;
  }
}
