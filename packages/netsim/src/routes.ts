/** Shortest paths. */
import type { Random } from '@int/random';

/** Marks a target without a path, or the target itself. */
export const NO_ROUTE = 0xffff;

/**
 * Computes each node's next neighbour on a shortest path (fewest links) to each target, by breadth-first search from
 * every target.
 *
 * @param neighbours numbers of the neighbours of each node; symmetric
 * @param targets target nodes; may repeat
 * @param ties random numbers to choose among shortest paths. Default: the first neighbour of the list
 * @returns `[node][target index]`: position in the node's list of neighbours; 0xffff at the target itself and without a
 *   path
 * @throws RangeError for a target or neighbour that is not a node
 */
export function shortestPathRoutes(
  neighbours: readonly (readonly number[])[],
  targets: readonly number[],
  ties?: Random,
): Uint16Array[] {
  const count = neighbours.length;
  const routes = neighbours.map(() => new Uint16Array(targets.length).fill(NO_ROUTE));
  const done = new Map<number, number>();
  for (const [index, target] of targets.entries()) {
    if (neighbours[target] === undefined) throw new RangeError(`target ${target} is none of ${count} nodes`);
    const same = done.get(target);
    if (same !== undefined) {
      for (const row of routes) row[index] = row[same]!;
      continue;
    }
    done.set(target, index);
    const distances = distancesFrom(neighbours, target);
    for (const [node, list] of neighbours.entries()) {
      const distance = distances[node]!;
      if (distance <= 0) continue;
      let ways = 0;
      for (const [position, other] of list.entries()) {
        if (distances[other] !== distance - 1) continue;
        ways++;
        if (ways === 1 || (ties !== undefined && ties.integer(ways) === 0)) routes[node]![index] = position;
        if (ties === undefined) break;
      }
    }
  }
  return routes;
}

/** Number of links from each node to the target; -1 without a path. */
export function distancesFrom(neighbours: readonly (readonly number[])[], target: number): Int32Array {
  const distances = new Int32Array(neighbours.length).fill(-1);
  const queue = new Uint32Array(neighbours.length);
  distances[target] = 0;
  queue[0] = target;
  for (let head = 0, tail = 1; head < tail; head++) {
    const node = queue[head]!;
    for (const other of neighbours[node]!) {
      if (neighbours[other] === undefined) throw new RangeError(`neighbour ${other} of ${node} is no node`);
      if (distances[other] !== -1) continue;
      distances[other] = distances[node]! + 1;
      queue[tail++] = other;
    }
  }
  return distances;
}
