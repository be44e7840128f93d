/** The edit distance of two words: letters to insert, remove, replace or swap with the next one. */
function editDistance(first: string, second: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: second.length + 1 }, (_, i) => i);
  for (let i = 1; i <= first.length; i++) {
    const row = [i];
    for (let k = 1; k <= second.length; k++) {
      const same = first[i - 1] === second[k - 1];
      let best = Math.min(last[k]! + 1, row[k - 1]! + 1, last[k - 1]! + (same ? 0 : 1));
      if (i > 1 && k > 1 && first[i - 1] === second[k - 2] && first[i - 2] === second[k - 1]) {
        best = Math.min(best, beforeLast[k - 2]! + 1);
      }
      row.push(best);
    }
    beforeLast = last;
    last = row;
  }
  return last[second.length]!;
}

/** Longer words are not compared: nobody mistypes them. */
const MAX_LENGTH = 64;

/**
 * The candidate most similar to a word, if one is similar enough.
 *
 * @param looked called with the number of candidates that were compared
 */
export function closest(
  word: string,
  candidates: Iterable<string>,
  looked: (count: number) => void = () => {},
): string | undefined {
  if (word.length > MAX_LENGTH) return undefined;
  const limit = word.length < 3 ? 0 : word.length < 6 ? 1 : 2;
  let best: string | undefined;
  let bestDistance = limit + 1;
  for (const candidate of candidates) {
    looked(1);
    if (Math.abs(candidate.length - word.length) >= bestDistance) continue;
    looked(word.length);
    const distance = editDistance(word, candidate);
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}
