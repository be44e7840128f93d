/** Graphs determined by their size. */
import { assemble, numberedNames } from '../csr.js';
import type { Graph } from '../graph.js';
import { requireSize, requireTotal } from './size.js';

/**
 * A graph with a link from every leaf to every spine. Nodes are named leaf-1, ... and, after them, spine-1, ...
 *
 * @throws RangeError unless both are integers of 1 or more, with 4 million switches and 32 million links at most
 */
export function leafSpineGraph(leaves: number, spines: number): Graph {
  requireSize(leaves, 1, 'leaves');
  requireSize(spines, 1, 'spines');
  const count = leaves * spines;
  requireTotal(leaves + spines, count);
  const from = new Uint32Array(count);
  const to = new Uint32Array(count);
  let at = 0;
  for (let leaf = 0; leaf < leaves; leaf++) {
    for (let spine = 0; spine < spines; spine++) {
      from[at] = leaf;
      to[at++] = leaves + spine;
    }
  }
  const names = [...numberedNames(leaves, 'leaf-'), ...numberedNames(spines, 'spine-')];
  return assemble(names, count, from, to).graph;
}

/**
 * A grid of `width` columns by `height` rows. Each node is linked with the ones beside, above and below. The node of
 * row r and column c has the number (r - 1) * width + c - 1 and the name r`r`c`c`.
 *
 * @throws RangeError unless both are integers of 1 or more, with 4 million nodes at most
 */
export function grid(width: number, height: number): Graph {
  requireSize(width, 1, 'width');
  requireSize(height, 1, 'height');
  const count = (width - 1) * height + width * (height - 1);
  requireTotal(width * height, count);
  const names: string[] = [];
  const from = new Uint32Array(count);
  const to = new Uint32Array(count);
  let at = 0;
  for (let row = 0; row < height; row++) {
    for (let column = 0; column < width; column++) {
      const node = row * width + column;
      names.push(`r${row + 1}c${column + 1}`);
      if (column + 1 < width) {
        from[at] = node;
        to[at++] = node + 1;
      }
      if (row + 1 < height) {
        from[at] = node;
        to[at++] = node + width;
      }
    }
  }
  return assemble(names, count, from, to).graph;
}

/** `n` nodes s1 to s`n`, each linked with the next, the last with the first. @throws RangeError below 3 nodes */
export function ring(n: number): Graph {
  requireSize(n, 3, 'nodes');
  const from = new Uint32Array(n);
  const to = new Uint32Array(n);
  for (let v = 0; v < n; v++) {
    from[v] = v;
    to[v] = v + 1 < n ? v + 1 : 0;
  }
  return assemble(numberedNames(n), n, from, to).graph;
}

/** A node `hub` (number 0) and `leaves` nodes leaf-1, ... linked with it alone. @throws RangeError below 1 leaf */
export function star(leaves: number): Graph {
  requireSize(leaves, 1, 'leaves');
  const to = new Uint32Array(leaves);
  for (let i = 0; i < leaves; i++) to[i] = i + 1;
  return assemble(['hub', ...numberedNames(leaves, 'leaf-')], leaves, new Uint32Array(leaves), to).graph;
}
