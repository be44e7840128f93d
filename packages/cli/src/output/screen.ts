import type { Terminal } from '../io.js';

const ENTER = '\x1b[?1049h\x1b[?25l';
const LEAVE = '\x1b[?25h\x1b[?1049l';
const HOME = '\x1b[H';
const CLEAR_LINE_END = '\x1b[K';
const CLEAR_BELOW = '\x1b[J';

/**
 * The alternate screen of a terminal, redrawn as a whole. The terminal is restored when the screen is left, and when
 * the process ends without leaving it.
 */
export class Screen {
  readonly #stream: Terminal;
  #isActive = false;
  readonly #restore = (): void => this.leave();

  constructor(stream: Terminal) {
    this.#stream = stream;
  }

  get columns(): number {
    return this.#stream.columns ?? 80;
  }

  get rows(): number {
    return this.#stream.rows ?? 24;
  }

  enter(): void {
    if (this.#isActive) return;
    this.#isActive = true;
    // Writes to a terminal are synchronous, even on exit. The monitor runs before Node prints an uncaught error.
    process.once('exit', this.#restore);
    process.once('uncaughtExceptionMonitor', this.#restore);
    this.#stream.write(ENTER);
  }

  /** Shows lines, which must fit the width. Lines beyond the height are omitted. */
  draw(lines: readonly string[]): void {
    if (!this.#isActive) return;
    const shown = lines.slice(0, this.rows).map((line) => line + CLEAR_LINE_END);
    this.#stream.write(HOME + shown.join('\r\n') + CLEAR_BELOW);
  }

  leave(): void {
    if (!this.#isActive) return;
    this.#isActive = false;
    process.off('exit', this.#restore);
    process.off('uncaughtExceptionMonitor', this.#restore);
    this.#stream.write(LEAVE);
  }
}
