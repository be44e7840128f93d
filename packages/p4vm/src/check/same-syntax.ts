/** Whether two pieces of a syntax tree are equal, apart from their positions. */
export function sameSyntax(first: unknown, second: unknown): boolean {
  if (first === second) return true;
  if (typeof first !== 'object' || typeof second !== 'object' || first === null || second === null) return false;
  if (Array.isArray(first)) {
    return (
      Array.isArray(second) && first.length === second.length && first.every((each, i) => sameSyntax(each, second[i]))
    );
  }
  const one = first as Readonly<Record<string, unknown>>;
  const other = second as Readonly<Record<string, unknown>>;
  const keys = Object.keys(one).filter((key) => key !== 'span');
  return (
    keys.length === Object.keys(other).filter((key) => key !== 'span').length &&
    keys.every((key) => sameSyntax(one[key], other[key]))
  );
}
