import type { Io, Terminal } from '../io.js';

/** Shorter work shows no progress. */
const QUIET_MS = 1000;
const INTERVAL_MS = 200;

/** A progress line of a long command on standard error: only in a terminal, and only after a second. */
export class Progress {
  readonly #stream: Terminal | null;
  readonly #started = performance.now();
  #shown = 0;
  #isVisible = false;

  /** @param isDataShown whether data go to the same terminal, which the line would disturb */
  constructor(io: Io, isDataShown: boolean) {
    this.#stream = io.stderr.isTTY === true && !(isDataShown && io.stdout.isTTY === true) ? io.stderr : null;
  }

  /** Updates the line. Call it as often as convenient: `text` is called only if it is shown. */
  update(text: () => string): void {
    if (this.#stream === null) return;
    const now = performance.now();
    if (now - this.#started < QUIET_MS || now - this.#shown < INTERVAL_MS) return;
    this.#shown = now;
    this.#isVisible = true;
    this.#stream.write(`\r\x1b[2K${text()}`);
  }

  done(): void {
    if (this.#isVisible) this.#stream?.write('\r\x1b[2K');
    this.#isVisible = false;
  }
}
