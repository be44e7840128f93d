import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';

const CHUNK = 1 << 16;
const BRAND: unique symbol = /* @__PURE__ */ Symbol.for('@int/p4vm.UnreadableFile') as never;

/** Refusal to read a file: a device, a pipe, or a file that is too long. `reason` says which. */
export class UnreadableFile extends Error {
  override readonly name = 'UnreadableFile';
  readonly code = 'ERR_P4_FILE';

  constructor(
    readonly path: string,
    readonly reason: string,
  ) {
    super(`${path}: ${reason}`);
    Object.defineProperty(this, BRAND, { value: true });
  }

  /** Works across the ESM and the CommonJS copy of this package, where `instanceof` does not. */
  static is(value: unknown): value is UnreadableFile {
    return typeof value === 'object' && value !== null && BRAND in value;
  }
}

/**
 * Reads a regular file as UTF-8. Does not wait for the writer of a pipe.
 *
 * @throws UnreadableFile if it is not a regular file, or has more than `mostBytes` bytes; the file system's error if it
 *   cannot be read
 */
export function readRegularFile(path: string, mostBytes: number): string {
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stat = fstatSync(descriptor);
    // The error of reading a folder is clear enough.
    if (!stat.isFile() && !stat.isDirectory()) throw new UnreadableFile(path, 'it is no regular file');
    const chunks: Uint8Array[] = [];
    let length = 0;
    for (;;) {
      // Some files have size 0 and yet have content, so read until the end.
      const chunk = new Uint8Array(Math.max(CHUNK, Math.min(stat.size, mostBytes) - length + 1));
      const count = readSync(descriptor, chunk);
      if (count === 0) return Buffer.concat(chunks).toString('utf8');
      length += count;
      if (length > mostBytes) throw new UnreadableFile(path, `it is longer than ${mostBytes} bytes`);
      chunks.push(chunk.subarray(0, count));
    }
  } finally {
    closeSync(descriptor);
  }
}
