import type { Terminal } from '../io.js';

const ENTER = '\x1b[?1049h\x1b[?25l';
const LEAVE = '\x1b[?25h\x1b[?1049l';
const HOME = '\x1b[H';
const CLEAR_LINE = '\x1b[K';
const CLEAR_BELOW = '\x1b[J';

/** The alternate screen of a terminal, redrawn as a whole. Who enters it sees to it that it is left. */
export class Screen {
  readonly #stream: Terminal;
  #isActive = false;

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
    this.#stream.write(ENTER);
  }

  /** Shows lines, which must fit the width. Lines beyond the height are omitted. */
  draw(lines: readonly string[]): void {
    // A terminal that is behind misses a picture; nothing accumulates here.
    if (!this.#isActive || this.#stream.writableNeedDrain) return;
    // The line is cleared before it is written: behind a full line, the last character would go.
    const shown = lines.slice(0, this.rows).map((line) => CLEAR_LINE + line);
    this.#stream.write(HOME + shown.join('\r\n') + (shown.length < this.rows ? `\r\n${CLEAR_BELOW}` : ''));
  }

  leave(): void {
    if (!this.#isActive) return;
    this.#isActive = false;
    this.#stream.write(LEAVE);
  }
}
