/** A line of a difference: of both texts, only of the old, only of the new. */
export interface DiffLine {
  readonly kind: 'same' | 'old' | 'new';
  readonly text: string;
}

/** Lines beyond which all lines of both texts are listed: the table of the comparison would be too large. */
const MOST_LINES = 2000;

/** The lines of two texts, matched by their longest common subsequence. */
export function diffOf(before: string, after: string): DiffLine[] {
  const a = before.split('\n');
  const b = after.split('\n');
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  const left = a.slice(start, a.length - end);
  const right = b.slice(start, b.length - end);
  const line =
    (kind: DiffLine['kind']) =>
    (text: string): DiffLine => ({ kind, text });
  const middle =
    left.length > MOST_LINES || right.length > MOST_LINES
      ? [...left.map(line('old')), ...right.map(line('new'))]
      : matched(left, right);
  return [...a.slice(0, start).map(line('same')), ...middle, ...a.slice(a.length - end).map(line('same'))];
}

function matched(a: readonly string[], b: readonly string[]): DiffLine[] {
  const width = b.length + 1;
  const longest = new Uint16Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      longest[i * width + j] =
        a[i] === b[j]
          ? longest[(i + 1) * width + j + 1]! + 1
          : Math.max(longest[(i + 1) * width + j]!, longest[i * width + j + 1]!);
    }
  }
  const lines: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      lines.push({ kind: 'same', text: a[i]! });
      i++;
      j++;
    } else if (j < b.length && (i === a.length || longest[i * width + j + 1]! > longest[(i + 1) * width + j]!)) {
      lines.push({ kind: 'new', text: b[j++]! });
    } else lines.push({ kind: 'old', text: a[i++]! });
  }
  return lines;
}

/** Only what differs, with some lines around it; `null` stands for lines that are left out. */
export function shortened(lines: readonly DiffLine[], around = 2): (DiffLine | null)[] {
  const near = lines.map((_, index) =>
    lines.slice(Math.max(0, index - around), index + around + 1).some(({ kind }) => kind !== 'same'),
  );
  return lines.flatMap((line, index) => (near[index] ? [line] : near[index - 1] ? [null] : []));
}
