/** A source file: its text, and the name that diagnostics show. */
export interface SourceFile {
  readonly name: string;
  readonly text: string;
}

/**
 * A piece of a source file: UTF-16 offsets `start` (first unit) and `end` (one behind the last). Tokens from a macro
 * have the span of the macro's use.
 */
export interface Span {
  readonly file: SourceFile;
  readonly start: number;
  readonly end: number;
}

/** Line and column, both from 1; a column is a UTF-16 unit, a tab counts as one. */
export interface LineColumn {
  readonly line: number;
  readonly column: number;
}

/**
 * Characters per stored count of line ends. A file may have as many lines as characters, so not each line end is
 * stored.
 */
const STRIDE = 1024;
const countsOf = new WeakMap<SourceFile, Uint32Array>();

/** Line ends before each stride. */
function lineCounts(file: SourceFile): Uint32Array {
  let counts = countsOf.get(file);
  if (counts === undefined) {
    const { text } = file;
    counts = new Uint32Array(Math.floor(text.length / STRIDE) + 1);
    for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) {
      const next = Math.floor(at / STRIDE) + 1;
      if (next < counts.length) counts[next]!++;
    }
    for (let i = 1; i < counts.length; i++) counts[i]! += counts[i - 1]!;
    countsOf.set(file, counts);
  }
  return counts;
}

function lineStart(text: string, offset: number): number {
  return offset === 0 ? 0 : text.lastIndexOf('\n', offset - 1) + 1;
}

/** Line and column of an offset. Offsets beyond the end count as the end. */
export function lineColumn(file: SourceFile, offset: number): LineColumn {
  const { text } = file;
  const at = Math.min(offset, text.length);
  const stride = Math.floor(at / STRIDE);
  let line = lineCounts(file)[stride]! + 1;
  for (let i = stride * STRIDE; i < at; i++) if (text.charCodeAt(i) === 10) line++;
  return { line, column: at - lineStart(text, at) + 1 };
}

/** The line that an offset is in, without its line end, and where it starts. */
export function lineAround(file: SourceFile, offset: number): { readonly text: string; readonly start: number } {
  const { text } = file;
  const start = lineStart(text, Math.min(offset, text.length));
  let end = text.indexOf('\n', start);
  if (end === -1) end = text.length;
  else if (end > start && text[end - 1] === '\r') end--;
  return { text: text.slice(start, end), start };
}

/** The span from the start of one span to the end of another; the first one if they are in different files. */
export function spanning(first: Span, last: Span): Span {
  return first.file === last.file
    ? { file: first.file, start: first.start, end: Math.max(first.end, last.end) }
    : first;
}
