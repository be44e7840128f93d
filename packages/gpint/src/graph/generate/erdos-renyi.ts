import { Random } from '@int/random';
import { numberedNames } from '../csr.js';
import type { Graph } from '../graph.js';
import { LinkList } from '../link-list.js';
import { requireProbability, requireSize, requireTotal } from './size.js';

/**
 * A random graph: each pair of the `n` nodes s1 to s`n` is linked with probability `p`. Pairs without a link are
 * skipped and not drawn (V. Batagelj, U. Brandes, Physical Review E 71, 036113, 2005): O(n + links). The graph may be
 * disconnected.
 *
 * @param n 1 to 4 million
 * @param p 0 to 1, with an expected number of links of at most 32 million
 * @throws RangeError for other numbers
 */
export function erdosRenyi(n: number, p: number, seed: number | string): Graph {
  requireSize(n, 1, 'nodes');
  requireProbability(p);
  requireTotal(n, (n * (n - 1) * p) / 2);
  const links = new LinkList();
  if (p > 0) {
    const random = new Random(seed).derive('erdos-renyi');
    const scale = p < 1 ? 1 / Math.log1p(-p) : 0;
    // Pairs (a, b), b < a, in the order of a, then b.
    let a = 1;
    let b = -1;
    for (;;) {
      b += 1 + Math.floor(Math.log1p(-random.uniform()) * scale);
      while (b >= a && a < n) b -= a++;
      if (a >= n) break;
      links.add(b, a);
    }
  }
  return links.assemble(numberedNames(n)).graph;
}
