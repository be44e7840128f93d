/** A persistent table: setting an entry copies the few nodes above it and shares the rest with the earlier version. */
import type { Trie, TrieNode } from './model.js';

const BITS = 5;
const WIDTH = 1 << BITS;

const EMPTY: Trie<never> = /* @__PURE__ */ Object.freeze({ depth: 1, root: null });

/** A table without entries. */
export function emptyTrie<T>(): Trie<T> {
  return EMPTY;
}

/** Entry with a key (0 to 2^30 - 1); `null` if there is none. */
export function trieGet<T>(trie: Trie<T>, key: number): T | null {
  let shift = trie.depth * BITS;
  if (key >>> shift !== 0) return null;
  let node: TrieNode<T> | T = trie.root;
  while (shift > 0 && node !== null) {
    shift -= BITS;
    node = (node as readonly (TrieNode<T> | T | null)[])[(key >>> shift) & (WIDTH - 1)] ?? null;
  }
  return node as T | null;
}

/** The table with one entry set. */
export function trieSet<T>(trie: Trie<T>, key: number, value: T): Trie<T> {
  let { depth, root } = trie;
  while (key >>> (depth * BITS) !== 0) {
    if (root !== null) root = [root];
    depth++;
  }
  return { depth, root: setBelow(root, (depth - 1) * BITS, key, value) };
}

function setBelow<T>(node: TrieNode<T>, shift: number, key: number, value: T): TrieNode<T> {
  const copy: (TrieNode<T> | T | null)[] = node === null ? [] : node.slice();
  const slot = (key >>> shift) & (WIDTH - 1);
  // Avoid holes, which are slow and lost in JSON.
  while (copy.length < slot) copy.push(null);
  copy[slot] = shift === 0 ? value : setBelow((copy[slot] ?? null) as TrieNode<T>, shift - BITS, key, value);
  return copy;
}

/** Calls back for every entry, in ascending order of keys. */
export function trieEach<T>(trie: Trie<T>, visit: (value: T, key: number) => void): void {
  eachBelow(trie.root, (trie.depth - 1) * BITS, 0, visit);
}

function eachBelow<T>(node: TrieNode<T>, shift: number, base: number, visit: (value: T, key: number) => void): void {
  if (node === null) return;
  for (let slot = 0; slot < node.length; slot++) {
    const item = node[slot];
    if (item === null || item === undefined) continue;
    const key = base + slot * 2 ** shift;
    if (shift === 0) visit(item as T, key);
    else eachBelow(item as TrieNode<T>, shift - BITS, key, visit);
  }
}
