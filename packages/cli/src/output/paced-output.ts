import type { DataOutput } from './data-output.js';

/**
 * Lines for a reader that may be too slow. Writers do not wait for it, and a limited number of characters is kept.
 * While it is in use, all output must go through it.
 */
export class PacedOutput {
  readonly #output: DataOutput;
  readonly #limit: number;
  /** Lines not yet written, joined. */
  #text: string | null = null;
  #busy: Promise<void> | null = null;

  /** @param limit most characters kept for a slow reader */
  constructor(output: DataOutput, limit: number) {
    this.#output = output;
    this.#limit = limit;
  }

  /** Whether the reader has not yet taken all written text. */
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

  /** Writes the added lines, now or when the reader is ready. Returns a promise if it is later. */
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
