import { Paths } from '../plan/plan.js';
import type { Cover } from './cover.js';

/** Fewest nodes of the longest piece for which the paths of a cover can be cut into `pieces` pieces or fewer. */
function leastLongest(cover: Cover, pieces: number): number {
  const sizes = cover.sizes();
  let high = sizes.reduce((most, size) => Math.max(most, size), 1);
  let low = Math.ceil(cover.nodes / pieces);
  while (low < high) {
    const middle = (low + high) >>> 1;
    const count = sizes.reduce((sum, size) => sum + Math.ceil(size / middle), 0);
    if (count <= pieces) high = middle;
    else low = middle + 1;
  }
  return low;
}

/**
 * Cuts the paths of a cover into exactly `pieces` pieces, first with the shortest possible longest piece, then with the
 * longest possible shortest piece. The cover has at most `pieces` paths and at least `pieces` nodes.
 */
export function cutCover(cover: Cover, pieces: number): Paths {
  const longest = leastLongest(cover, pieces);
  const { count, list, size } = cover;
  const parts = new Uint32Array(count);
  let sum = 0;
  for (let i = 0; i < count; i++) {
    parts[i] = Math.ceil(size[list[i]!]! / longest);
    sum += parts[i]!;
  }
  // Allow shorter pieces until there are enough of them.
  const total = cover.nodes;
  for (let shortest = Math.floor(total / pieces); sum < pieces; shortest--) {
    for (let i = 0; i < count && sum < pieces; i++) {
      const most = Math.floor(size[list[i]!]! / shortest);
      if (most <= parts[i]!) continue;
      const more = Math.min(most - parts[i]!, pieces - sum);
      parts[i] = parts[i]! + more;
      sum += more;
    }
  }
  const visits = new Uint32Array(total);
  const starts = new Uint32Array(pieces + 1);
  let at = 0;
  let piece = 0;
  for (let i = 0; i < count; i++) {
    const p = list[i]!;
    const length = size[p]!;
    const begin = at;
    for (let x = cover.head[p]!; x >= 0; x = cover.next[x]!) visits[at++] = x;
    for (let j = 1; j <= parts[i]!; j++) starts[++piece] = begin + Math.floor((length * j) / parts[i]!);
  }
  return new Paths(visits, starts);
}
