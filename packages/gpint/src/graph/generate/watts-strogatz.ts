import { Random } from '@int/random';
import { GpintError } from '../../errors.js';
import { components } from '../components.js';
import { assemble, numberedNames } from '../csr.js';
import type { Graph } from '../graph.js';
import { requireProbability, requireSize, requireTotal } from './size.js';

/** Largest degree: with it, the table of pairs takes 16 MB at most. */
const MOST_DEGREE = 1000;

/** Most graphs drawn to find a connected one. */
const MOST_ATTEMPTS = 100;

function draw(n: number, k: number, p: number, random: Random): Graph {
  const half = k / 2;
  // Each link belongs to its first node on the ring: `to[u * half + j]`. So a search of 2 * half entries tells whether
  // two nodes are linked, without a hash table.
  const to = new Uint32Array(n * half);
  const degree = new Uint32Array(n).fill(k);
  for (let u = 0; u < n; u++) {
    for (let j = 0; j < half; j++) to[u * half + j] = (u + j + 1) % n;
  }
  // In a dense ring most drawn nodes would be linked already, and each search would be long: use a table of all pairs.
  const isDense = 4 * k > n;
  const pairs = new Uint8Array(isDense ? n * n : 0);
  if (isDense) {
    for (let i = 0; i < to.length; i++) pairs[Math.floor(i / half) * n + to[i]!] = 1;
  }
  const linked = (a: number, b: number): boolean => {
    if (isDense) return pairs[a * n + b] === 1 || pairs[b * n + a] === 1;
    for (let j = 0; j < half; j++) {
      if (to[a * half + j] === b || to[b * half + j] === a) return true;
    }
    return false;
  };
  for (let j = 0; j < half; j++) {
    for (let u = 0; u < n; u++) {
      if (random.uniform() >= p || degree[u]! >= n - 1) continue;
      let w = 0;
      if (isDense) {
        let skip = random.integer(n - 1 - degree[u]!);
        while (w === u || linked(u, w) || skip-- > 0) w++;
      } else {
        do w = random.integer(n);
        while (w === u || linked(u, w));
      }
      const v = to[u * half + j]!;
      to[u * half + j] = w;
      if (isDense) {
        pairs[u * n + v] = 0;
        pairs[u * n + w] = 1;
      }
      degree[v] = degree[v]! - 1;
      degree[w] = degree[w]! + 1;
    }
  }
  const from = to.map((_, i) => Math.floor(i / half));
  return assemble(numberedNames(n), from.length, from, to).graph;
}

/**
 * A small-world graph (D. J. Watts, S. H. Strogatz, Nature 393, 1998): a ring of `n` nodes, each linked with its `k`
 * nearest. A share `p` of the links gets a new random far end. The graph stays simple and keeps n * k / 2 links. Nodes
 * are named s1 to s`n`.
 *
 * @param n 3 or more
 * @param k even, 2 to n - 1, 1000 at most
 * @param p 0 to 1
 * @param options.connected repeat the draw (with derived seeds, at most 100 times) until the graph is connected;
 *   default true
 * @throws RangeError for other numbers; {@link GpintError} `ERR_GPINT_TOPOLOGY` if no graph drawn was connected
 */
export function wattsStrogatz(
  n: number,
  k: number,
  p: number,
  seed: number | string,
  options: { readonly connected?: boolean } = {},
): Graph {
  requireSize(n, 3, 'nodes');
  if (!Number.isInteger(k) || k < 2 || k > Math.min(n - 1, MOST_DEGREE) || k % 2 !== 0) {
    throw new RangeError(`degree must be an even integer from 2 to ${Math.min(n - 1, MOST_DEGREE)}, not ${k}`);
  }
  requireTotal(n, (n * k) / 2);
  requireProbability(p);
  const random = new Random(seed);
  const connected = options.connected ?? true;
  for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
    const graph = draw(n, k, p, random.derive('watts-strogatz', attempt));
    if (!connected || components(graph).count === 1) return graph;
  }
  throw new GpintError(
    'ERR_GPINT_TOPOLOGY',
    `none of ${MOST_ATTEMPTS} graphs watts-strogatz:${n}:${k}:${p} with seed ${seed} is connected`,
  );
}
