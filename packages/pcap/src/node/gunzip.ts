import { createGunzip, type Gunzip } from 'node:zlib';
import { CaptureError } from '../capture-error.js';

/**
 * Compressed bytes per call of zlib. Deflate expands at most about 1032 times, so even a hostile piece stays below 17
 * MiB.
 */
const PIECE = 1 << 14;

/**
 * Passes bytes through, decompressing them if they start with the gzip magic 1f 8b (RFC 1952). Reads all members of a
 * file with several. Zero bytes after the last one are ignored.
 *
 * @param source chunks of any size
 * @throws CaptureError `ERR_CAPTURE_GZIP` if the compressed data are damaged or cut short, after all bytes that could
 *   be decompressed
 */
export async function* gunzipIfNeeded(
  source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  let start: Uint8Array | undefined = new Uint8Array(0);
  let inflater: Inflater | undefined;
  try {
    for await (const chunk of source) {
      let bytes = chunk;
      if (start !== undefined) {
        if (start.length > 0) bytes = Buffer.concat([start, chunk]);
        if (bytes.length < 2) {
          start = new Uint8Array(bytes);
          continue;
        }
        start = undefined;
        if (bytes[0] === 0x1f && bytes[1] === 0x8b) inflater = new Inflater();
      }
      if (inflater === undefined) yield bytes;
      else yield* inflater.write(bytes);
    }
    if (start !== undefined && start.length > 0) yield start;
    if (inflater !== undefined) yield* inflater.end();
  } finally {
    inflater?.destroy();
  }
}

/** zlib's gunzip stream, one piece at a time, so that output before an error is not lost. */
class Inflater {
  readonly #gunzip: Gunzip = createGunzip();
  #output: Uint8Array[] = [];
  #error: Error | undefined;
  #settle: () => void = () => {};
  /** The last member has ended; only padding may follow. */
  #isOver = false;
  #taken = 0;

  constructor() {
    this.#gunzip.on('data', (chunk: Uint8Array) => this.#output.push(chunk));
    this.#gunzip.on('error', (error: Error) => {
      this.#error = error;
      this.#settle();
    });
    this.#gunzip.on('end', () => this.#settle());
  }

  async *write(bytes: Uint8Array): AsyncGenerator<Uint8Array, void, undefined> {
    for (let at = 0; at < bytes.length; at += PIECE) {
      const piece = bytes.subarray(at, at + PIECE);
      let consumed = 0;
      if (!this.#isOver) {
        const before = this.#gunzip.bytesWritten;
        await this.#settled(() => this.#gunzip.write(piece, () => this.#settle()));
        yield* this.#drain();
        consumed = this.#gunzip.bytesWritten - before;
        // zlib leaves bytes only if they start with 0 after a complete member, and then takes no more.
        this.#isOver = consumed < piece.length;
      }
      this.#taken += piece.length;
      if (!piece.subarray(consumed).every((byte) => byte === 0)) this.#fail('data after the zero padding at its end');
    }
  }

  async *end(): AsyncGenerator<Uint8Array, void, undefined> {
    if (this.#isOver) return;
    await this.#settled(() => this.#gunzip.end());
    yield* this.#drain();
  }

  destroy(): void {
    this.#gunzip.destroy();
  }

  #settled(start: () => void): Promise<void> {
    return new Promise((resolve) => {
      this.#settle = resolve;
      start();
    });
  }

  *#drain(): Generator<Uint8Array, void, undefined> {
    const output = this.#output;
    this.#output = [];
    yield* output;
    if (this.#error !== undefined) this.#fail(this.#error.message, this.#error);
  }

  #fail(message: string, cause?: Error): never {
    throw new CaptureError('ERR_CAPTURE_GZIP', this.#taken, `gzip: ${message}`, { cause });
  }
}
