/** Called with the characters of each line that is written. */
export type CodeMeter = (characters: number) => void;

/** Lines of JavaScript with their indentation. */
export class Code {
  readonly #lines: { readonly depth: number; readonly text: string }[] = [];
  #depth = 0;
  readonly #marks = new Set<string>();

  constructor(readonly meter: CodeMeter) {}

  get isEmpty(): boolean {
    return this.#lines.length === 0;
  }

  line(text: string): void {
    this.meter(text.length + 2 * this.#depth + 1);
    this.#lines.push({ depth: this.#depth, text });
  }

  lines(...texts: readonly string[]): void {
    for (const each of texts) this.line(each);
  }

  /** A line, and all that follows one step further in. */
  open(text: string): void {
    this.line(text);
    this.#depth++;
    this.#marks.clear();
  }

  /** One step out, and a line. */
  close(text = '}'): void {
    this.#depth--;
    this.line(text);
    this.#marks.clear();
  }

  /** Closes a block and opens another on one line, such as `} else {`. */
  turn(text: string): void {
    this.#depth--;
    this.open(text);
  }

  /** Appends lines, at the present depth. */
  append(other: Code): void {
    const inner = this.#depth;
    if (inner > 0) this.meter(2 * inner * other.#lines.length);
    for (const { depth, text } of other.#lines) this.#lines.push({ depth: depth + inner, text });
    this.#marks.clear();
  }

  /** Whether a mark (see `AggregatePlace.marks`) was written here, and nothing came since that may have changed it. */
  isMarked(mark: string): boolean {
    return this.#marks.has(mark);
  }

  addMark(mark: string): void {
    this.#marks.add(mark);
  }

  /** Call this before lines that may set objects to zero. */
  forgetMarks(): void {
    this.#marks.clear();
  }

  /** @param work called with each line */
  text(work: () => void): string {
    let text = '';
    for (const line of this.#lines) {
      text += `${'  '.repeat(line.depth)}${line.text}\n`;
      work();
    }
    return text;
  }
}
