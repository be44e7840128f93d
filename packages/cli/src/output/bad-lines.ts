import { type Io, say } from '../io.js';

/** Most messages about single lines; further problems are only counted. */
const MESSAGES = 10;

/** Tells of lines of the input that cannot be used, and counts them. */
export class BadLines {
  count = 0;
  readonly #io: Io;

  constructor(io: Io) {
    this.#io = io;
  }

  /** @param path the input; `-` is not named */
  reject(path: string, lineNumber: number, error: unknown): void {
    this.count++;
    const reason = error instanceof Error ? error.message : String(error);
    if (this.count <= MESSAGES) say(this.#io, `${path === '-' ? 'line' : `${path}: line`} ${lineNumber}: ${reason}`);
    if (this.count === MESSAGES) say(this.#io, 'further bad lines are only counted');
  }
}

/** Bytes of untrusted hexadecimal digits. @throws TypeError that names them */
export function bytesOfHex(value: unknown, name: string): Uint8Array {
  if (typeof value !== 'string' || value.length % 2 !== 0 || !/^[0-9a-fA-F]*$/.test(value)) {
    throw new TypeError(`${name} is not an even number of hexadecimal digits`);
  }
  return Buffer.from(value, 'hex');
}
