/** Longer than every name; longer text resembles none. */
const LONGEST = 40;

/** Without what people vary: case, blanks, dashes, underscores. */
const plain = (text: string): string => text.toLowerCase().replaceAll(/[\s_-]/g, '');

/**
 * The name that a mistyped one most likely stands for. It differs by few letters that were added, left out, changed or
 * swapped with a neighbour; or the text is a part of it. Case, blanks, `_` and `-` do not count.
 *
 * @returns `null` if none is near
 */
export function nearestName<T extends string>(text: string, names: readonly T[]): T | null {
  if (text.length > LONGEST) return null;
  const written = plain(text);
  if (written === '') return null;
  let best: T | null = null;
  let least = Math.max(1, Math.floor(written.length / 3)) + 1;
  for (const name of names) {
    const wanted = plain(name);
    let cost = distance(written, wanted);
    // A part of at least four letters costs one mistake, and a little for each letter left out.
    if (written.length >= 4 && wanted.includes(written)) {
      cost = Math.min(cost, 1 + (wanted.length - written.length) / 100);
    }
    if (cost < least && cost < wanted.length) {
      best = name;
      least = cost;
    }
  }
  return best;
}

/** Insertions, deletions, replacements and swaps of neighbours that lead from one text to the other. */
function distance(a: string, b: string): number {
  let before: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const changed = previous[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      let cost = Math.min(changed, previous[j]! + 1, row[j - 1]! + 1);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) cost = Math.min(cost, before[j - 2]! + 1);
      row.push(cost);
    }
    before = previous;
    previous = row;
  }
  return previous[b.length]!;
}
