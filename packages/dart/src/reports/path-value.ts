/** Paths as values of a store: 32-bit node ids, big-endian, from the INT source on. Words after the last node are 0. */

const NOT_AVAILABLE = 0xffffffff;

/**
 * The value of a path. A path that is too long is truncated after the last node that fits.
 *
 * @param path node ids, 32 bits; null for a node without an id
 * @param valueBytes a multiple of 4
 */
export function pathValue(path: readonly (number | null)[], valueBytes: number): Uint8Array {
  const value = new Uint8Array(valueBytes);
  const view = new DataView(value.buffer);
  path.slice(0, valueBytes / 4).forEach((node, index) => {
    view.setUint32(index * 4, node ?? NOT_AVAILABLE);
  });
  return value;
}

/** The path in a value, without the zeros at its end; null for a node without an id. */
export function pathOfValue(value: Uint8Array): (number | null)[] {
  const view = new DataView(value.buffer, value.byteOffset, value.byteLength);
  const words = Array.from({ length: value.length >> 2 }, (_, index) => view.getUint32(index * 4));
  while (words.at(-1) === 0) words.pop();
  return words.map((node) => (node === NOT_AVAILABLE ? null : node));
}
