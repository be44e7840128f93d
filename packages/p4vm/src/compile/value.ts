/**
 * A value in generated code. Its code is free of effects: statements before it have them. `words`: 32-bit words as
 * signed numbers, least significant first, the unused high bits of the last one 0 (two's complement patterns of signed
 * values are cut to the width too); each may be used several times.
 */
export type Value =
  | { readonly kind: 'number'; readonly code: string; readonly width: number; readonly isSigned: boolean }
  | { readonly kind: 'words'; readonly words: readonly string[]; readonly width: number; readonly isSigned: boolean }
  | { readonly kind: 'big'; readonly code: string; readonly width: number; readonly isSigned: boolean }
  | { readonly kind: 'boolean'; readonly code: string }
  | { readonly kind: 'string'; readonly code: string }
  /** A reference to an object. Do not change the object. */
  | { readonly kind: 'aggregate'; readonly code: string }
  | { readonly kind: 'void' };

/**
 * Whether code is a literal or a name that is never reassigned. Such code may be repeated, and moved behind effects.
 */
export function isStable(code: string): boolean {
  return /^(\d+n?|-\d+n?|true|false|\$\d+)$/.test(code);
}

/** Puts code between parentheses unless it is a name, member, index, call or literal. */
export function atom(code: string): string {
  if (/^[\w$.]+$/.test(code)) return code;
  if (/^[\w$.]*\(/.test(code) && code.endsWith(')')) {
    let depth = 0;
    for (let at = code.indexOf('('); at < code.length; at++) {
      if (code[at] === '(') depth++;
      else if (code[at] === ')' && --depth === 0) return at === code.length - 1 ? code : `(${code})`;
    }
  }
  if (/^[\w$.]+(\[[\w$.]+\])+[\w$.]*$/.test(code)) return code;
  return `(${code})`;
}

/** `2^width - 1` as a number. */
export function maskOf(width: number): number {
  return width === 0 ? 0 : 0xffffffff >>> (32 - width);
}

/** Code that cuts an integer (of any size that is exact, or any 32-bit pattern) to a width of at most 32. */
export function wrapNumber(code: string, width: number, isSigned: boolean): string {
  if (width === 0) return '0';
  if (/^-?\d+$/.test(code)) {
    const value = BigInt(code);
    return String(isSigned ? BigInt.asIntN(width, value) : BigInt.asUintN(width, value));
  }
  if (isSigned) {
    return width === 32 ? `${atom(code)} | 0` : `${atom(code)} << ${32 - width} >> ${32 - width}`;
  }
  return width === 32 ? `${atom(code)} >>> 0` : `${atom(code)} & ${maskOf(width)}`;
}

/** Code that cuts a bigint to a width. */
export function wrapBig(code: string, width: number, isSigned: boolean): string {
  return `BigInt.${isSigned ? 'asIntN' : 'asUintN'}(${width}, ${code})`;
}

/** The 32 bits from bit `offset` (negative: zeros come in) of words whose unused bits are 0. */
export function chunk(words: readonly string[], offset: number): string {
  const index = Math.floor(offset / 32);
  const shift = offset - index * 32;
  const low = words[index] ?? '0';
  if (shift === 0) return low;
  const high = words[index + 1] ?? '0';
  const parts: string[] = [];
  if (low !== '0') parts.push(`${atom(low)} >>> ${shift}`);
  if (high !== '0') parts.push(`${atom(high)} << ${32 - shift}`);
  return parts.length === 2 ? parts.join(' | ') : parts.length === 1 ? `${parts[0]} | 0` : '0';
}

/** Cuts the last of the words of a value to its width. */
export function cutTop(words: readonly string[], width: number): readonly string[] {
  const used = width & 31;
  if (used === 0) return words;
  return words.map((code, index) =>
    index < words.length - 1
      ? code
      : /^-?\d+$/.test(code)
        ? String(Number(code) & maskOf(used))
        : `${atom(code)} & ${maskOf(used)}`,
  );
}
