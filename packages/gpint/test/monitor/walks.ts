/** Paths that visit every node, without a planner: walks that stop where they find nothing new. */
import { type Graph, Paths } from '@int/gpint';
import { Random } from '@int/random';

/** Walks of `longest` visits at most. Now and then one passes through nodes that have been visited, as plans do. */
export function randomWalks(graph: Graph, longest: number, seed: number | string): Paths {
  const random = new Random(seed);
  const visited = new Uint8Array(graph.nodeCount);
  const paths: number[][] = [];
  for (const start of random.shuffle(Array.from(visited.keys()))) {
    if (visited[start] === 1) continue;
    const path = [start];
    visited[start] = 1;
    for (let node = start; path.length < longest; ) {
      const neighbours = Array.from(graph.neighbours.subarray(graph.first[node]!, graph.first[node + 1]!));
      const fresh = neighbours.filter((each) => visited[each] === 0);
      const choice = fresh.length > 0 ? fresh : random.uniform() < 0.3 ? neighbours : [];
      if (choice.length === 0) break;
      node = choice[random.integer(choice.length)]!;
      visited[node] = 1;
      path.push(node);
    }
    paths.push(path);
  }
  return Paths.from(paths);
}
