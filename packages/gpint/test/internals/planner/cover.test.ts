import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Cover } from '../../../src/planner/cover.js';
import { SEED } from '../../seed.js';

/** The paths as lists, each with its lower end first, read forwards; checks all that a cover keeps on the way. */
function lists(cover: Cover): number[][] {
  const out: number[][] = [];
  for (let i = 0; i < cover.count; i++) {
    const p = cover.list[i]!;
    const list: number[] = [];
    for (let x = cover.head[p]!; x >= 0; x = cover.next[x]!) {
      expect(cover.of[x]).toBe(p);
      expect(cover.prev[x]).toBe(list.at(-1) ?? -1);
      expect((cover.place[x]! - cover.place[cover.head[p]!]!) | 0).toBe(list.length);
      list.push(x);
    }
    expect(cover.tail[p]).toBe(list.at(-1));
    expect(cover.size[p]).toBe(list.length);
    out.push(list[0]! <= list.at(-1)! ? list : list.reverse());
  }
  return out.sort((a, b) => a[0]! - b[0]!);
}

function sorted(model: readonly (readonly number[])[]): number[][] {
  return model.map((list) => (list[0]! <= list.at(-1)! ? [...list] : list.toReversed())).sort((a, b) => a[0]! - b[0]!);
}

describe('Cover', () => {
  it('joins, cuts, turns and rotates paths as lists do', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 12 }),
        fc.array(fc.tuple(fc.nat(3), fc.nat(), fc.nat()), { maxLength: 60 }),
        (nodes, changes) => {
          const cover = new Cover(nodes);
          let model: number[][] = [];
          for (let v = 0; v < nodes; v++) {
            cover.add(v);
            model.push([v]);
          }
          for (const [kind, x, y] of changes) {
            const u = x % nodes;
            const v = y % nodes;
            const s = model.find((list) => list.includes(u))!;
            const t = model.find((list) => list.includes(v))!;
            const isEnd = (list: readonly number[], w: number): boolean => list[0] === w || list.at(-1) === w;
            if (kind === 0 && s !== t && isEnd(s, u) && isEnd(t, v)) {
              cover.join(u, v);
              const front = s.at(-1) === u ? s : s.toReversed();
              const back = t[0] === v ? t : t.toReversed();
              model = [...model.filter((list) => list !== s && list !== t), [...front, ...back]];
            } else if (kind === 1 && cover.next[u]! >= 0) {
              const w = cover.next[u]!;
              cover.cut(u);
              const at = Math.max(s.indexOf(u), s.indexOf(w));
              model = [...model.filter((list) => list !== s), s.slice(0, at), s.slice(at)];
            } else if (kind === 2 && s === t && isEnd(s, u)) {
              const list = s.at(-1) === u ? s : s.toReversed();
              const at = list.indexOf(v);
              if (at >= list.length - 2) continue;
              cover.rotate(u, v);
              model = [
                ...model.filter((other) => other !== s),
                [...list.slice(0, at + 1), ...list.slice(at + 1).reverse()],
              ];
            } else if (kind === 3) cover.reverse(cover.of[u]!);
            expect(lists(cover)).toEqual(sorted(model));
          }
        },
      ),
      { seed: SEED, numRuns: 300 },
    );
  });
});
