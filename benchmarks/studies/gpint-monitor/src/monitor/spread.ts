/** Makes room in a layout: no two nodes on top of each other, no node on a link of others. */
import type { Graph } from '@int/gpint';
import { linksOf } from './network.js';

const ROUNDS = 80;
/** Nodes up to which that is done: every round looks at all pairs, and at every node and link. */
const MOST_NODES = 250;

/**
 * Moves nodes apart that are nearer than a share of what each would have of the area, and away from links that pass too
 * close. In place; what leaves the area (`width` by 1) is put on its edge.
 */
export function spread(graph: Graph, x: Float64Array, y: Float64Array, width: number): void {
  const count = graph.nodeCount;
  if (count > MOST_NODES || count < 3) return;
  const room = Math.sqrt(width / count);
  const [apart, aside] = [0.5 * room, 0.26 * room];
  const links = linksOf(graph);
  for (let round = 0; round < ROUNDS; round++) {
    for (let a = 0; a < count; a++) {
      for (let b = a + 1; b < count; b++) {
        const [dx, dy] = [x[b]! - x[a]!, y[b]! - y[a]!];
        const distance = Math.hypot(dx, dy);
        if (distance >= apart) continue;
        // Two nodes in one place part sideways.
        const push = distance === 0 ? 0 : (0.5 * (apart - distance)) / distance;
        const [px, py] = distance === 0 ? [0.5 * apart, 0] : [push * dx, push * dy];
        x[a] = x[a]! - px;
        y[a] = y[a]! - py;
        x[b] = x[b]! + px;
        y[b] = y[b]! + py;
      }
    }
    for (const [a, b] of links) {
      const [lx, ly] = [x[b]! - x[a]!, y[b]! - y[a]!];
      const square = lx * lx + ly * ly;
      if (square === 0) continue;
      for (let v = 0; v < count; v++) {
        if (v === a || v === b) continue;
        const t = ((x[v]! - x[a]!) * lx + (y[v]! - y[a]!) * ly) / square;
        if (t <= 0 || t >= 1) continue;
        const [dx, dy] = [x[v]! - x[a]! - t * lx, y[v]! - y[a]! - t * ly];
        const distance = Math.hypot(dx, dy);
        if (distance >= aside) continue;
        const length = Math.sqrt(square);
        const step = 0.3 * (aside - distance);
        const [nx, ny] = distance < 1e-9 ? [-ly / length, lx / length] : [dx / distance, dy / distance];
        x[v] = x[v]! + step * nx;
        y[v] = y[v]! + step * ny;
      }
    }
    for (let v = 0; v < count; v++) {
      x[v] = Math.min(width, Math.max(0, x[v]!));
      y[v] = Math.min(1, Math.max(0, y[v]!));
    }
  }
}
