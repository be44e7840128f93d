import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { emptyTrie, trieEach, trieGet, trieSet } from '../../../src/recovery/trie.js';
import { SEED } from '../../seed.js';

const key = fc.oneof(fc.nat(40), fc.nat(2000), fc.nat(2 ** 30 - 1));

describe('a persistent table', () => {
  it('holds what a Map holds, in order of keys, and so does every former version', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(key, fc.nat())), (entries) => {
        let trie = emptyTrie<number>();
        const map = new Map<number, number>();
        const versions: { trie: typeof trie; map: Map<number, number> }[] = [];
        for (const [at, value] of entries) {
          versions.push({ trie, map: new Map(map) });
          trie = trieSet(trie, at, value);
          map.set(at, value);
        }
        versions.push({ trie, map });
        for (const each of versions) {
          const found: [number, number][] = [];
          trieEach(each.trie, (value, at) => found.push([at, value]));
          expect(found).toEqual([...each.map].sort((a, b) => a[0] - b[0]));
          for (const [at] of entries) expect(trieGet(each.trie, at)).toBe(each.map.get(at) ?? null);
        }
      }),
      { seed: SEED, numRuns: 200 },
    );
  });

  it('survives JSON', () => {
    let trie = emptyTrie<{ value: number }>();
    for (const at of [3, 70, 5000]) trie = trieSet(trie, at, { value: at });
    const copy: typeof trie = JSON.parse(JSON.stringify(trie));
    expect(copy).toEqual(trie);
    expect(trieGet(copy, 5000)).toEqual({ value: 5000 });
    expect(trieGet(copy, 4999)).toBeNull();
    expect(trieGet(copy, 2 ** 29)).toBeNull();
  });

  it('shares what does not change with the former version', () => {
    let trie = emptyTrie<number>();
    for (let at = 0; at < 3000; at++) trie = trieSet(trie, at, at);
    const next = trieSet(trie, 2999, 0);
    const nodes = new Set<unknown>();
    const collect = (node: unknown): void => {
      if (!Array.isArray(node)) return;
      nodes.add(node);
      for (const each of node) collect(each);
    };
    collect(trie.root);
    const before = nodes.size;
    collect(next.root);
    expect(nodes.size - before).toBe(next.depth);
  });
});
