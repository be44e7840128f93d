/** Keys and values for processes and threads of tests: every word of a value depends on the key and on its version. */

const VALUE_BYTES = 20;

export function keyOf(number: number): Uint8Array {
  const key = new Uint8Array(8);
  const view = new DataView(key.buffer);
  view.setUint32(0, 0x6b657900);
  view.setUint32(4, number);
  return key;
}

function word(number: number, version: number, index: number): number {
  let mixed = Math.imul(number + 1, 0x9e3779b1) ^ Math.imul(version + 1, 0x85ebca6b) ^ Math.imul(index, 0xc2b2ae35);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x2c1b3c6d);
  return (mixed ^ (mixed >>> 13)) >>> 0;
}

/** Word 0 is the version; the others follow from it and the key. */
export function valueFor(number: number, version: number, valueBytes: number = VALUE_BYTES): Uint8Array {
  const value = new Uint8Array(valueBytes);
  const view = new DataView(value.buffer);
  view.setUint32(0, version);
  for (let index = 1; index < valueBytes / 4; index++) view.setUint32(index * 4, word(number, version, index));
  return value;
}

/** The version of a value of this key; -1 if it is none, or of two writes. */
export function versionOf(number: number, value: Uint8Array): number {
  const version = new DataView(value.buffer, value.byteOffset).getUint32(0);
  return Buffer.compare(valueFor(number, version, value.length), value) === 0 ? version : -1;
}

/** A small generator of numbers below 2^32 (mulberry32). */
export function randomNumbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
}
