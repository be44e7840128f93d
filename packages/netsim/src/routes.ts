/** Shortest paths. */
import type { Random } from '@int/random';

/** Where there is no way, or no need of one. */
export const NO_ROUTE = 0xffff;

/**
 * For each node the neighbour to send to, on a shortest path (fewest links) to each target: breadth-first search from
 * every target.
 *
 * @param neighbours of each node, by number; both ways
 * @param targets nodes to be reached; may repeat
 * @param ties draws one of several shortest ways. Default: the neighbour listed first
 * @returns `[node][target index]`: position in the node's list of neighbours; 0xffff at the target itself and
 *   where there is no way
 * @throws RangeError for a target or neighbour that is no node
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

/** Links to a node from each; -1 where there is no way. */
function distancesFrom(neighbours: readonly (readonly number[])[], target: number): Int32Array {
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
