import { CaptureError } from './capture-error.js';
import { ChunkWindow } from './chunk-window.js';
import { type ByteOrder, type CaptureLimits, type FormatParser, readU32 } from './format-parser.js';
import { CaptureBatch, type CaptureFrame, type CaptureInterface } from './frame.js';
import { isPcapMagic, PcapParser } from './pcap-parser.js';
import { PcapngParser, SECTION_HEADER } from './pcapng-parser.js';

/** Limits of a reader. A capture that exceeds them causes `ERR_CAPTURE_TOO_LARGE`. */
export interface CaptureReaderOptions {
  /** Most captured bytes of a frame. Default: 262,144. */
  readonly maxFrameLength?: number;
  /** Most bytes of a pcapng block, and so (rounded up) of the reader's buffer. Default: 16,777,216. */
  readonly maxBlockLength?: number;
  /** Most interfaces in a pcapng section. Default: 65,536. */
  readonly maxInterfaces?: number;
}

/** Larger chunks are read in pieces, so that every offset fits 32 bits. */
const MAX_PIECE = 0x4000_0000;

/**
 * A push parser for pcap and pcapng of either byte order. The first four bytes determine the format.
 *
 * Feed chunks of any size, and take frames after each until there is none. The frames and a possible error do not
 * depend on the chunk boundaries.
 *
 * A chunk is borrowed, not copied, until `next` returns false or `readBatch` returns 0. Then the caller may reuse its
 * memory. Several chunks may be fed before the first frame is taken; the reader then holds them all.
 *
 * The reader's own memory holds one record or block that straddles chunks: at most the larger of the two limits,
 * rounded up to a power of two. It grows only as bytes arrive. Time and copying are linear in the input for chunks of
 * any size.
 *
 * An error is final: every later call throws it again.
 *
 * ```ts
 * const frame = new CaptureFrame();
 * for (const chunk of chunks) {
 *   reader.feed(chunk);
 *   while (reader.next(frame)) handle(frame.bytes, frame.offset, frame.length);
 * }
 * reader.end();
 * ```
 */
export class CaptureReader {
  readonly #limits: CaptureLimits;
  readonly #window = new ChunkWindow();
  /** The frame for `next`, which may be found but not returned yet. */
  readonly #single = new CaptureBatch(1);
  #parser: FormatParser | undefined;
  #failure: unknown;
  #hasFailed = false;
  #hasEnded = false;
  /** The fed bytes hold no further complete frame. */
  #isDrained = true;
  /** `#single` holds a frame that was found but not returned yet. */
  #isHeld = false;

  /** @throws RangeError for a limit that is not an integer from 1 to 2^30 */
  constructor(options: CaptureReaderOptions = {}) {
    this.#limits = {
      maxFrameLength: limit('maxFrameLength', options.maxFrameLength, 1 << 18),
      maxBlockLength: limit('maxBlockLength', options.maxBlockLength, 1 << 24),
      maxInterfaces: limit('maxInterfaces', options.maxInterfaces, 1 << 16),
    };
  }

  /** The format; undefined until `next` or `readBatch` has read the first four bytes. */
  get format(): 'pcap' | 'pcapng' | undefined {
    if (this.#parser === undefined) return undefined;
    return this.#parser instanceof PcapParser ? 'pcap' : 'pcapng';
  }

  /** Byte order of the file, in pcapng of the current section; undefined as long as `format` is. */
  get byteOrder(): ByteOrder | undefined {
    return this.#parser?.byteOrder;
  }

  /** Interfaces described so far: in the file (pcap, always one) or in the current section (pcapng). */
  get interfaces(): readonly CaptureInterface[] {
    return this.#parser?.interfaces ?? [];
  }

  /** Bytes read so far, from the start of the capture. */
  get offset(): number {
    return this.#window.offset;
  }

  /** Bytes copied inside the reader so far, to join records that straddle chunks. */
  get copiedBytes(): number {
    return this.#window.copiedBytes;
  }

  /** Bytes of memory that the reader holds for records that straddle chunks. */
  get bufferCapacity(): number {
    return this.#window.gatheredCapacity;
  }

  /**
   * Adds the next bytes of the capture, by reference.
   * @param chunk any number of bytes, or none
   * @throws TypeError if `chunk` is not a Uint8Array, or after `end`
   * @throws CaptureError if reading has failed before
   */
  feed(chunk: Uint8Array): void {
    this.#check();
    if (!(chunk instanceof Uint8Array)) throw new TypeError('feed: the chunk must be a Uint8Array');
    if (this.#hasEnded) throw new TypeError('feed: called after end');
    // A subclass such as Buffer would change the meaning of slice for users of frames, and slow down hot loops.
    const isPlain = Object.getPrototypeOf(chunk) === Uint8Array.prototype;
    const plain = isPlain ? chunk : new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.length);
    for (let at = 0; at < plain.length; at += MAX_PIECE) {
      this.#window.push(plain.length > MAX_PIECE ? plain.subarray(at, at + MAX_PIECE) : plain);
      this.#isDrained = false;
    }
  }

  /**
   * Fills `frame` with the next frame.
   * @returns false, with `frame` unchanged, if the bytes fed so far hold no further complete frame
   * @throws CaptureError if the capture is wrong or, after `end`, incomplete
   */
  next(frame: CaptureFrame): boolean {
    this.#check();
    const single = this.#single;
    if (this.#isHeld) this.#isHeld = false;
    else if (this.#fill(single) === 0) {
      this.#drained();
      return false;
    }
    frame.bytes = single.bytes;
    frame.offset = single.offsets[0]!;
    frame.length = single.lengths[0]!;
    frame.originalLength = single.originalLengths[0]!;
    frame.linkType = single.linkType;
    frame.interfaceId = single.interfaceIds[0]!;
    frame.timestampHigh = single.timestampsHigh[0]!;
    frame.timestampLow = single.timestampsLow[0]!;
    return true;
  }

  /**
   * Fills `batch` with the next frames that fit, lie in one buffer, have one link type and belong to one section. It
   * copies only records that straddle chunks, which come as batches of one.
   * @returns number of frames; 0 if the bytes fed so far hold no further complete frame
   * @throws CaptureError if the capture is wrong or, after `end`, incomplete; frames before the error come first
   */
  readBatch(batch: CaptureBatch): number {
    batch.count = 0;
    this.#check();
    if (this.#isHeld) {
      this.#isHeld = false;
      return copyRow(this.#single, batch);
    }
    const count = this.#fill(batch);
    if (count === 0) this.#drained();
    return count;
  }

  /**
   * Declares the end of the bytes. Call it when `next` has returned false, to check that the capture is complete.
   * Remaining frames can still be taken, and `next` throws at an incomplete one.
   * @throws CaptureError `ERR_CAPTURE_TRUNCATED` if no complete frame is left and the capture is empty or stops inside
   *   a header, record or block
   */
  end(): void {
    this.#check();
    this.#hasEnded = true;
    if (this.#isHeld) return;
    if (!this.#isDrained && this.#fill(this.#single) > 0) this.#isHeld = true;
    else this.#drained();
  }

  #check(): void {
    if (this.#hasFailed) throw this.#failure;
  }

  #fail(error: unknown): never {
    this.#hasFailed = true;
    this.#failure = error;
    throw error;
  }

  #drained(): void {
    this.#isDrained = true;
    if (!this.#hasEnded) return;
    const window = this.#window;
    const parser = this.#parser;
    const rest = window.end - window.position;
    if (parser?.isBetweenUnits && rest === 0) return;
    const start = parser?.unitOffset ?? 0;
    const what = start > 0 ? `the record or block at byte ${start}` : 'its header';
    this.#fail(
      new CaptureError(
        'ERR_CAPTURE_TRUNCATED',
        start,
        `the capture ends at byte ${window.offset + rest}, inside ${what}`,
      ),
    );
  }

  #fill(batch: CaptureBatch): number {
    const window = this.#window;
    try {
      this.#parser ??= this.#detect();
      batch.count = this.#parser?.fill(window, batch) ?? 0;
      batch.bytes = window.bytes;
      return batch.count;
    } catch (error) {
      return this.#fail(error);
    } finally {
      window.pinned = false;
    }
  }

  #detect(): FormatParser | undefined {
    const window = this.#window;
    if (!window.need(4)) return undefined;
    const magic = readU32(window.bytes, window.position, false);
    if (isPcapMagic(magic)) return new PcapParser(magic, this.#limits);
    if (magic === SECTION_HEADER) return new PcapngParser(this.#limits);
    const hint = magic >>> 16 === 0x1f8b ? ': gzip, to be decompressed first' : '';
    throw new CaptureError(
      'ERR_CAPTURE_MAGIC',
      0,
      `neither pcap nor pcapng, magic 0x${magic.toString(16).padStart(8, '0')}${hint}`,
    );
  }
}

function limit(name: string, value: number | undefined, fallback: number): number {
  const resolved = value ?? fallback;
  if (!Number.isInteger(resolved) || resolved < 1 || resolved > MAX_PIECE) {
    throw new RangeError(`${name} must be an integer from 1 to 2^30, not ${resolved}`);
  }
  return resolved;
}

const COLUMNS = ['offsets', 'lengths', 'originalLengths', 'interfaceIds', 'timestampsHigh', 'timestampsLow'] as const;

/** Makes `to` a batch of the one frame in `from`. */
function copyRow(from: CaptureBatch, to: CaptureBatch): number {
  to.bytes = from.bytes;
  to.linkType = from.linkType;
  for (const column of COLUMNS) to[column][0] = from[column][0]!;
  to.count = 1;
  return 1;
}
