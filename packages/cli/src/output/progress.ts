import type { Io, Terminal } from '../io.js';

/** Shorter work needs no progress. */
const QUIET_MS = 1000;
const INTERVAL_MS = 200;

/** A line on standard error that says how far a long command is: only in a terminal, only after a second. */
export class Progress {
  readonly #stream: Terminal | null;
  readonly #started = performance.now();
  #shown = 0;
  #isVisible = false;

  /** @param isDataShown data go to the same terminal: the line would get in between */
  constructor(io: Io, isDataShown: boolean) {
    this.#stream = io.stderr.isTTY === true && !(isDataShown && io.stdout.isTTY === true) ? io.stderr : null;
  }

  /** Call as often as convenient; `text` is asked for only when it is shown. */
  update(text: () => string): void {
    if (this.#stream === null) return;
    const now = performance.now();
    if (now - this.#started < QUIET_MS || now - this.#shown < INTERVAL_MS) return;
    this.#shown = now;
    this.#isVisible = true;
    this.#stream.write(`\r\x1b[2K${text()}`);
  }

  /** Takes the line away. */
  done(): void {
    if (this.#isVisible) this.#stream?.write('\r\x1b[2K');
    this.#isVisible = false;
  }
}
