import type { FrameInput } from '../capture-writer.js';
import type { ByteOrder } from '../format-parser.js';
import { LinkType } from '../link-type.js';
import { PcapWriter } from '../pcap-writer.js';
import { type PcapngInterface, PcapngWriter } from '../pcapng-writer.js';
import { type ByteOutput, openOutput } from './byte-sink.js';

/** Options of a capture file. */
export interface CaptureFileOptions {
  /** Format. Default: pcapng if the name ends in `.pcapng` or `.pcapng.gz`, otherwise pcap. */
  readonly format?: 'pcap' | 'pcapng';
  /** Whether to compress. Default: true if the name ends in `.gz`. */
  readonly gzip?: boolean;
  /** Link type. Default: that of the first frame; Ethernet if it has none, or without frames. */
  readonly linkType?: number;
  /** Whether times are in nanoseconds; otherwise in microseconds, rounded down. Default: true. */
  readonly nanosecond?: boolean;
  /** Most bytes written of a frame. Default: 262,144. */
  readonly snapLength?: number;
  /** Byte order of the file. Default: little. */
  readonly byteOrder?: ByteOrder;
  /**
   * pcapng only: the interfaces for the frames' `interfaceId`. They replace `linkType`, `nanosecond` and `snapLength`
   * above. Default: one interface for each link type that occurs, and `interfaceId` is ignored.
   */
  readonly interfaces?: readonly PcapngInterface[];
  /** Aborts the wait for a reader if the path is a pipe. */
  readonly signal?: AbortSignal;
}

/** Bytes to collect before they are written. */
const FLUSH_LENGTH = 1 << 16;

/**
 * Creates a capture file, or empties an existing one.
 * @param path a file, or `-` for standard output
 * @throws RangeError for an option out of range; Node's errors of the file system
 */
export async function createCaptureFile(path: string, options: CaptureFileOptions = {}): Promise<CaptureFile> {
  const isPcapng = options.format === undefined ? /\.pcapng(\.gz)?$/i.test(path) : options.format === 'pcapng';
  const encoder = isPcapng ? pcapngEncoder(options) : pcapEncoder(options);
  return new CaptureFile(encoder, await openOutput(path, options.gzip ?? /\.gz$/i.test(path), options.signal));
}

/** A capture file being written, made by {@link createCaptureFile}. */
export class CaptureFile {
  readonly #encoder: FrameEncoder;
  readonly #sink: ByteOutput;
  #pending: Uint8Array[] = [];
  #pendingLength = 0;
  #written: Promise<void> = Promise.resolve();
  #isClosed = false;

  /** @internal */
  constructor(encoder: FrameEncoder, sink: ByteOutput) {
    this.#encoder = encoder;
    this.#sink = sink;
  }

  /**
   * Adds a frame. Await it, so that a slow disk or pipe slows down the caller. Frames keep the order of the calls. The
   * data are read during the call.
   * @throws RangeError or TypeError for a frame that the format cannot hold (see `CaptureWriter.record`), TypeError
   *   after `close`; Node's errors of the file system, also for an earlier frame
   */
  async write(frame: FrameInput): Promise<void> {
    if (this.#isClosed) throw new TypeError('write: the capture file is closed');
    this.#encoder.encode(frame, this.#append);
    if (this.#pendingLength >= FLUSH_LENGTH) await this.#flush();
  }

  /**
   * Writes the remaining bytes and closes the file. It is a valid capture even without frames.
   * @throws Node's errors of the file system, also for an earlier frame
   */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#encoder.finish(this.#append);
    try {
      await this.#flush();
    } finally {
      await this.#sink.close();
    }
  }

  readonly #append = (part: Uint8Array): void => {
    this.#pending.push(part);
    this.#pendingLength += part.length;
  };

  #flush(): Promise<void> {
    const bytes = Buffer.concat(this.#pending);
    this.#pending = [];
    this.#pendingLength = 0;
    this.#written = this.#written.then(() => this.#sink.write(bytes));
    // A caller that does not await `write` gets the error from `close`.
    this.#written.catch(() => {});
    return this.#written;
  }
}

/**
 * Encodes frames to the bytes of a file, with the header at its place. Finished parts are emitted at once, so that a
 * refused frame loses nothing before it.
 */
interface FrameEncoder {
  encode(frame: FrameInput, emit: (part: Uint8Array) => void): void;
  finish(emit: (part: Uint8Array) => void): void;
}

function pcapEncoder(options: CaptureFileOptions): FrameEncoder {
  // Report options out of range now, and not at the first frame.
  new PcapWriter(options);
  let used: PcapWriter | undefined;
  return {
    encode(frame, emit) {
      const writer = used ?? new PcapWriter({ ...options, linkType: linkTypeOf(options, frame) });
      const record = writer.record(frame);
      if (used === undefined) emit(writer.header());
      used = writer;
      emit(record);
    },
    finish(emit) {
      if (used === undefined) emit(new PcapWriter(options).header());
    },
  };
}

function pcapngEncoder(options: CaptureFileOptions): FrameEncoder {
  const { interfaces = [], byteOrder = 'little' } = options;
  const writer = new PcapngWriter({ interfaces, byteOrder });
  new PcapngWriter({ interfaces: [options] });
  const interfaceOfLinkType = new Map<number, number>();
  let hasHeader = false;

  function finish(emit: (part: Uint8Array) => void): void {
    if (!hasHeader) emit(writer.header());
    hasHeader = true;
  }

  function interfaceOf(frame: FrameInput, emit: (part: Uint8Array) => void): number {
    if (options.interfaces !== undefined) return frame.interfaceId ?? 0;
    const linkType = linkTypeOf(options, frame);
    const known = interfaceOfLinkType.get(linkType);
    if (known !== undefined) return known;
    const interfaceId = writer.interfaceCount;
    emit(writer.addInterface({ ...options, linkType }));
    interfaceOfLinkType.set(linkType, interfaceId);
    return interfaceId;
  }

  return {
    encode(frame, emit) {
      finish(emit);
      emit(writer.record({ ...frame, interfaceId: interfaceOf(frame, emit) }));
    },
    finish,
  };
}

function linkTypeOf(options: CaptureFileOptions, frame: FrameInput): number {
  return options.linkType ?? frame.linkType ?? LinkType.ETHERNET;
}
