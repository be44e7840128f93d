import { type FileHandle, open } from 'node:fs/promises';
import type { Writable } from 'node:stream';
import { createGzip, type Gzip } from 'node:zlib';
import { openWritablePipe } from './open-stream.js';

/** The output of a capture's bytes, one write after the other. */
export interface ByteOutput {
  write(bytes: Uint8Array): Promise<void>;
  /** Completes the output; also releases it if a write has failed. */
  close(): Promise<void>;
}

/**
 * @param path a file, created or emptied, a pipe, or `-` for standard output
 * @param signal aborts the wait for a reader of a pipe
 */
export async function openOutput(path: string, isCompressed: boolean, signal?: AbortSignal): Promise<ByteOutput> {
  const plain = path === '-' ? new StreamOutput(process.stdout) : await openPath(path, signal);
  return isCompressed ? new GzipOutput(plain) : plain;
}

async function openPath(path: string, signal?: AbortSignal): Promise<ByteOutput> {
  const pipe = await openWritablePipe(path, signal);
  return pipe === null ? new FileOutput(await open(path, 'w')) : new PipeOutput(pipe);
}

class FileOutput implements ByteOutput {
  readonly #handle: FileHandle;

  constructor(handle: FileHandle) {
    this.#handle = handle;
  }

  async write(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length; ) {
      const { bytesWritten } = await this.#handle.write(bytes, at);
      at += bytesWritten;
    }
  }

  close(): Promise<void> {
    return this.#handle.close();
  }
}

/** Standard output, which this module must not close. */
class StreamOutput implements ByteOutput {
  readonly #stream: Writable;
  /** The callback of `write` reports the error. Without a listener the event would also end the process. */
  readonly #ignore = (): void => {};

  constructor(stream: Writable) {
    this.#stream = stream;
    stream.on('error', this.#ignore);
  }

  write(bytes: Uint8Array): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#stream.write(bytes, (error) => (error ? reject(error) : resolve()));
    });
  }

  async close(): Promise<void> {
    // A failed stream reports its error after the callback.
    await new Promise(setImmediate);
    this.#stream.off('error', this.#ignore);
  }
}

/** A pipe opened here. Closing it signals the end to the reader. */
class PipeOutput extends StreamOutput {
  readonly #pipe: Writable;

  constructor(pipe: Writable) {
    super(pipe);
    this.#pipe = pipe;
  }

  override async close(): Promise<void> {
    if (!this.#pipe.destroyed) await new Promise<void>((resolve) => this.#pipe.end(resolve));
    await super.close();
    this.#pipe.destroy();
  }
}

class GzipOutput implements ByteOutput {
  readonly #inner: ByteOutput;
  readonly #gzip: Gzip = createGzip();
  #output: Uint8Array[] = [];

  constructor(inner: ByteOutput) {
    this.#inner = inner;
    this.#gzip.on('data', (chunk: Uint8Array) => this.#output.push(chunk));
  }

  async write(bytes: Uint8Array): Promise<void> {
    await new Promise<void>((resolve) => this.#gzip.write(bytes, () => resolve()));
    await this.#forward();
  }

  async close(): Promise<void> {
    try {
      await new Promise<void>((resolve) => this.#gzip.once('end', resolve).end());
      await this.#forward();
    } finally {
      await this.#inner.close();
    }
  }

  async #forward(): Promise<void> {
    const output = this.#output;
    this.#output = [];
    for (const chunk of output) await this.#inner.write(chunk);
  }
}
