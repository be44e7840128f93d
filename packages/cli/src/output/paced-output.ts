import type { DataOutput } from './data-output.js';

/**
 * Lines for a reader that may be slower than what there is to tell: nobody waits for it, and no more is kept for it
 * than a limit. Everything that is written while it is in use has to go through it.
 */
export class PacedOutput {
  readonly #output: DataOutput;
  readonly #limit: number;
  /** Lines not yet written, joined. */
  #text: string | null = null;
  #busy: Promise<void> | null = null;

  /** @param limit characters to keep while the reader is behind */
  constructor(output: DataOutput, limit: number) {
    this.#output = output;
    this.#limit = limit;
  }

  /** The reader has not yet taken what was written. */
  get isBehind(): boolean {
    return this.#busy !== null;
  }

  /** Whether {@link add} would be refused. */
  get isFull(): boolean {
    return this.#output.closed || (this.#busy !== null && (this.#text?.length ?? 0) >= this.#limit);
  }

  /** Adds a line, to be written by the next {@link flush}. Returns false if there is no room for it. */
  add(line: string): boolean {
    if (this.isFull) return false;
    this.#text = this.#text === null ? line : `${this.#text}\n${line}`;
    return true;
  }

  /** Writes what was added, now or when the reader is ready. Returns a promise if that is later. */
  flush(): Promise<void> | undefined {
    if (this.#busy !== null) return this.#busy;
    const text = this.#text;
    if (text === null) return undefined;
    this.#text = null;
    const waiting = this.#output.line(text) ?? this.#output.flush();
    if (waiting === undefined) return undefined;
    this.#busy = waiting.then(() => {
      this.#busy = null;
      return this.flush();
    });
    return this.#busy;
  }
}
