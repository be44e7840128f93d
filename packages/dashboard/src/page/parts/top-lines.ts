/** Indices of the columns with the largest values, in their own order, so that a line keeps its colour while it is there. */
export function topOf(columns: readonly (readonly (number | null)[])[], count: number): number[] {
  return columns
    .map((column, index) => ({ index, most: column.reduce<number>((most, value) => Math.max(most, value ?? -1), -1) }))
    .sort((a, b) => b.most - a.most || a.index - b.index)
    .slice(0, count)
    .map(({ index }) => index)
    .sort((a, b) => a - b);
}

/** All columns but some as one: the sum of counts, the largest of anything else. */
export function restOf(
  columns: readonly (readonly (number | null)[])[],
  without: readonly number[],
  isCount: boolean,
): (number | null)[] {
  const left = columns.filter((_, index) => !without.includes(index));
  const length = left[0]?.length ?? 0;
  return Array.from({ length }, (_, k) => {
    let rest: number | null = null;
    for (const column of left) {
      const value = column[k] ?? null;
      if (value === null) continue;
      rest = rest === null ? value : isCount ? rest + value : Math.max(rest, value);
    }
    return rest;
  });
}
