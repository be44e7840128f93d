/*
 * Values of 33 to 128 bits are 32-bit words, least significant first, each a signed number, which V8 stores without
 * allocating. Only arithmetic that needs a bigint makes one from them.
 */

/** Least significant word first, whatever the machine's byte order. */
const words = /* @__PURE__ */ new Int32Array(2);
const pair = /* @__PURE__ */ new BigUint64Array(words.buffer);
const isLittleEndian = /* @__PURE__ */ new Uint8Array(new Uint16Array([1]).buffer)[0] === 1;
const LOW = isLittleEndian ? 0 : 1;
const HIGH = 1 - LOW;

/** The result words of `split2` and `splitWords`. Read them before the next call. */
export const word: Int32Array = /* @__PURE__ */ new Int32Array(64);

/** Unsigned value of two words. */
export function join2(w0: number, w1: number): bigint {
  words[LOW] = w0;
  words[HIGH] = w1;
  return pair[0]!;
}

/** Unsigned value of three words. */
export function join3(w0: number, w1: number, w2: number): bigint {
  return (BigInt(w2 >>> 0) << 64n) | join2(w0, w1);
}

/** Unsigned value of four words. */
export function join4(w0: number, w1: number, w2: number, w3: number): bigint {
  return (join2(w2, w3) << 64n) | join2(w0, w1);
}

/** Puts the low 64 bits of a value into `word[0]` and `word[1]`. */
export function split2(value: bigint): void {
  pair[0] = value;
  word[0] = words[LOW]!;
  word[1] = words[HIGH]!;
}

/** Puts the low `count * 32` bits of a value into `word`. */
export function splitWords(value: bigint, count: number): void {
  let rest = value;
  for (let at = 0; at < count; at += 2) {
    pair[0] = rest;
    word[at] = words[LOW]!;
    word[at + 1] = words[HIGH]!;
    rest >>= 64n;
  }
}

/** The number of `count` words in `word`, unsigned. */
export function joinWords(count: number): bigint {
  let value = 0n;
  for (let at = count - 1; at >= 0; at--) value = (value << 32n) | BigInt(word[at]! >>> 0);
  return value;
}
