/**
 * A value in generated code. Its code is free of effects: statements before it have them. `words`: 32-bit words as
 * signed numbers, least significant first, the unused high bits of the last one 0 (two's complement patterns of signed
 * values are cut to the width too); each may be used several times.
 */
export type Value<Kind extends keyof ValueParts = keyof ValueParts> = {
  [Each in Kind]: Readonly<ValueParts[Each]> & { readonly kind: Each };
}[Kind];

interface ValueParts {
  number: { code: string; width: number; isSigned: boolean };
  words: { words: readonly string[]; width: number; isSigned: boolean };
  big: { code: string; width: number; isSigned: boolean };
  boolean: { code: string };
  string: { code: string };
  /** A reference to an object. Do not change the object. */
  aggregate: { code: string };
  void: object;
}

export const NOTHING: Value = { kind: 'void' };

export function numberOf(code: string, width: number, isSigned = false): Value<'number'> {
  return { kind: 'number', code, width, isSigned };
}

export function wordsOf(words: readonly string[], width: number, isSigned = false): Value<'words'> {
  return { kind: 'words', words, width, isSigned };
}

export function bigOf(code: string, width: number, isSigned = false): Value<'big'> {
  return { kind: 'big', code, width, isSigned };
}

export function booleanOf(code: string): Value<'boolean'> {
  return { kind: 'boolean', code };
}

/** A value with each of its codes put into `wrap`. References to objects stay. */
export function mapCodes(value: Value, wrap: (code: string, word: number) => string): Value {
  switch (value.kind) {
    case 'words':
      return { ...value, words: value.words.map(wrap) };
    case 'number':
    case 'big':
    case 'boolean':
    case 'string':
      return { ...value, code: wrap(value.code, 0) };
    default:
      return value;
  }
}

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
