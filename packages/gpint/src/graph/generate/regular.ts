/** Graphs determined by their size. */
import { numberedNames } from '../csr.js';
import type { Graph } from '../graph.js';
import { LinkList } from '../link-list.js';
import { requireSize, requireTotal } from './size.js';

/**
 * A graph with a link from every leaf to every spine. Nodes are named leaf-1, ... and, after them, spine-1, ...
 *
 * @throws RangeError unless both are integers of 1 or more, with 4 million switches and 32 million links at most
 */
export function leafSpineGraph(leaves: number, spines: number): Graph {
  requireSize(leaves, 1, 'leaves');
  requireSize(spines, 1, 'spines');
  requireTotal(leaves + spines, leaves * spines);
  const links = new LinkList();
  for (let leaf = 0; leaf < leaves; leaf++) {
    for (let spine = 0; spine < spines; spine++) links.add(leaf, leaves + spine);
  }
  return links.assemble([...numberedNames(leaves, 'leaf-'), ...numberedNames(spines, 'spine-')]).graph;
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
  requireTotal(width * height, (width - 1) * height + width * (height - 1));
  const names: string[] = [];
  const links = new LinkList();
  for (let row = 0; row < height; row++) {
    for (let column = 0; column < width; column++) {
      const node = row * width + column;
      names.push(`r${row + 1}c${column + 1}`);
      if (column + 1 < width) links.add(node, node + 1);
      if (row + 1 < height) links.add(node, node + width);
    }
  }
  return links.assemble(names).graph;
}

/** `n` nodes s1 to s`n`, each linked with the next, the last with the first. @throws RangeError below 3 nodes */
export function ring(n: number): Graph {
  requireSize(n, 3, 'nodes');
  const links = new LinkList();
  for (let v = 0; v < n; v++) links.add(v, (v + 1) % n);
  return links.assemble(numberedNames(n)).graph;
}

/** A node `hub` (number 0) and `leaves` nodes leaf-1, ... linked with it alone. @throws RangeError below 1 leaf */
export function star(leaves: number): Graph {
  requireSize(leaves, 1, 'leaves');
  const links = new LinkList();
  for (let leaf = 1; leaf <= leaves; leaf++) links.add(0, leaf);
  return links.assemble(['hub', ...numberedNames(leaves, 'leaf-')]).graph;
}
