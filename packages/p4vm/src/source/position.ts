/** A file's text and where its lines begin. `name` is what diagnostics show. */
export interface SourceFile {
  readonly name: string;
  readonly text: string;
}

/**
 * A piece of a source file: UTF-16 offsets `start` (first unit) and `end` (one behind the last). Tokens that come out of
 * a macro have the span of the macro's use.
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

const lineStarts = new WeakMap<SourceFile, number[]>();

function startsOf(file: SourceFile): number[] {
  let starts = lineStarts.get(file);
  if (starts === undefined) {
    starts = [0];
    for (let at = file.text.indexOf('\n'); at !== -1; at = file.text.indexOf('\n', at + 1)) starts.push(at + 1);
    lineStarts.set(file, starts);
  }
  return starts;
}

/** Line and column of an offset. Offsets behind the end are taken as the end. */
export function lineColumn(file: SourceFile, offset: number): LineColumn {
  const starts = startsOf(file);
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (starts[middle]! <= offset) low = middle;
    else high = middle - 1;
  }
  return { line: low + 1, column: Math.min(offset, file.text.length) - starts[low]! + 1 };
}

/** The text of a line (from 1), without its line end. */
export function lineText(file: SourceFile, line: number): string {
  const starts = startsOf(file);
  const start = starts[line - 1] ?? file.text.length;
  return file.text.slice(start, starts[line] ?? file.text.length).replace(/\r?\n$/, '');
}

/** The span from the beginning of one to the end of another, of one file; the first if they are of two. */
export function spanning(first: Span, last: Span): Span {
  return first.file === last.file
    ? { file: first.file, start: first.start, end: Math.max(first.end, last.end) }
    : first;
}
