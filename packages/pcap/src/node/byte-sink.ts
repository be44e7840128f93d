import { type FileHandle, open } from 'node:fs/promises';
import type { Writable } from 'node:stream';
import { createGzip } from 'node:zlib';
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
  const plain = path === '-' ? streamOutput(process.stdout) : await openPath(path, signal);
  return isCompressed ? gzipOutput(plain) : plain;
}

async function openPath(path: string, signal?: AbortSignal): Promise<ByteOutput> {
  const pipe = await openWritablePipe(path, signal);
  return pipe === null ? fileOutput(await open(path, 'w')) : pipeOutput(pipe);
}

function fileOutput(handle: FileHandle): ByteOutput {
  return { write: (bytes) => handle.appendFile(bytes), close: () => handle.close() };
}

/** Standard output, which this module must not close. */
function streamOutput(stream: Writable): ByteOutput {
  /** The callback of `write` reports the error. Without a listener the event would also end the process. */
  const ignore = (): void => {};
  stream.on('error', ignore);
  return {
    write: (bytes) =>
      new Promise((resolve, reject) => {
        stream.write(bytes, (error) => (error ? reject(error) : resolve()));
      }),
    async close() {
      // A failed stream reports its error after the callback.
      await new Promise(setImmediate);
      stream.off('error', ignore);
    },
  };
}

/** A pipe opened here. Closing it signals the end to the reader. */
function pipeOutput(pipe: Writable): ByteOutput {
  const { write, close } = streamOutput(pipe);
  return {
    write,
    async close() {
      if (!pipe.destroyed) await new Promise<void>((resolve) => pipe.end(resolve));
      await close();
      pipe.destroy();
    },
  };
}

function gzipOutput(inner: ByteOutput): ByteOutput {
  const gzip = createGzip();
  let output: Uint8Array[] = [];
  gzip.on('data', (chunk: Uint8Array) => output.push(chunk));
  const forward = async (): Promise<void> => {
    const chunks = output;
    output = [];
    for (const chunk of chunks) await inner.write(chunk);
  };
  return {
    async write(bytes) {
      await new Promise<void>((resolve) => gzip.write(bytes, () => resolve()));
      await forward();
    },
    async close() {
      try {
        await new Promise<void>((resolve) => gzip.once('end', resolve).end());
        await forward();
      } finally {
        await inner.close();
      }
    },
  };
}
