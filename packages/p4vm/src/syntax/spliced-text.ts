import type { SourceFile } from '../source/position.js';

/**
 * The text of a file without its line continuations (backslash, line end). It maps offsets back to the file, so that
 * positions refer to the file. Source: P4_16 specification, "Preprocessing".
 */
export class SplicedText {
  readonly text: string;
  /** Ascending offsets in `text` at which something was removed, each with the total removed so far. */
  readonly #cuts: number[] = [];
  readonly #removed: number[] = [];

  constructor(readonly file: SourceFile) {
    const source = file.text;
    if (!/\\\r?\n/.test(source)) {
      this.text = source;
      return;
    }
    const parts: string[] = [];
    let from = 0;
    let removed = 0;
    for (const match of source.matchAll(/\\\r?\n/g)) {
      parts.push(source.slice(from, match.index));
      from = match.index + match[0].length;
      removed += match[0].length;
      this.#cuts.push(from - removed);
      this.#removed.push(removed);
    }
    parts.push(source.slice(from));
    this.text = parts.join('');
  }

  /** The offset in the file of an offset in `text`. */
  original(offset: number): number {
    let low = 0;
    let high = this.#cuts.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#cuts[middle]! <= offset) low = middle + 1;
      else high = middle;
    }
    return low === 0 ? offset : offset + this.#removed[low - 1]!;
  }

  /** As `original`, for an end. A continuation right after the last unit does not count. */
  originalEnd(offset: number): number {
    return offset === 0 ? 0 : this.original(offset - 1) + 1;
  }
}
