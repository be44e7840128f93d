/** Phase 1 of GPINT: paths grown from the nodes of lowest degree (reliable GPINT, section III-A, "initial partitioning"). */
import type { Random } from '@int/random';
import { byDegree } from '../graph/degrees.js';
import type { Graph } from '../graph/graph.js';
import { Cover } from './cover.js';

/** The nodes of `required` (`null`: all), in ascending order of degree, equal ones in random order. */
function shuffledByDegree(graph: Graph, required: Uint8Array | null, random: Random): Uint32Array {
  const { order, begin } = byDegree(graph, required);
  for (let d = 0; d + 1 < begin.length; d++) {
    const low = begin[d]!;
    for (let i = begin[d + 1]! - 1; i > low; i--) {
      const j = low + (random.uint32() % (i - low + 1));
      const v = order[i]!;
      order[i] = order[j]!;
      order[j] = v;
    }
  }
  return order;
}

/**
 * Notes at the neighbours of a node, from `begin` to `end`, that it is taken. Returns the neighbour with the fewest
 * free neighbours, among equals the first from `at` on; -1 if all are taken.
 */
function take(neighbours: Uint32Array, left: Int32Array, begin: number, end: number, at: number): number {
  let best = -1;
  let fewest = 0x7fff_ffff;
  let i = at;
  for (let j = begin; j < end; j++) {
    const u = neighbours[i]!;
    if (++i === end) i = begin;
    const its = left[u]!;
    if (its < 0) continue;
    left[u] = its - 1;
    if (its < fewest) {
      fewest = its;
      best = u;
    }
  }
  return best;
}

/** The neighbour from `begin` to `end` with the fewest free neighbours; -1 if all are taken. */
function fewestLeft(neighbours: Uint32Array, left: Int32Array, begin: number, end: number): number {
  let best = -1;
  for (let j = begin; j < end; j++) {
    const u = neighbours[j]!;
    if (left[u]! >= 0 && (best < 0 || left[u]! < left[best]!)) best = u;
  }
  return best;
}

/**
 * Grows paths over the nodes of `required` (`null`: all). Each begins with the free node of lowest degree. It grows to
 * its share of the nodes, n / `paths`, first at one end, then at the other, each time to the neighbour with the fewest
 * free neighbours. Nodes left after `paths` paths become further paths. O(nodes + links).
 */
export function grow(graph: Graph, required: Uint8Array | null, paths: number, random: Random): Cover {
  const { nodeCount, first, neighbours } = graph;
  const cover = new Cover(nodeCount);
  const order = shuffledByDegree(graph, required, random);
  /** Neighbours left of each node; -1 for nodes that are taken or not wanted. */
  const left = new Int32Array(nodeCount);
  for (let v = 0; v < nodeCount; v++) {
    left[v] = required === null || required[v] === 1 ? first[v + 1]! - first[v]! : -1;
  }
  const total = order.length;
  for (let i = 0; i < order.length; i++) {
    let v = order[i]!;
    if (left[v]! < 0) continue;
    const share = Math.max(
      1,
      Math.floor(((cover.count + 1) * total) / paths) - Math.floor((cover.count * total) / paths),
    );
    const path = cover.add(v);
    let size = 1;
    for (let turned = false; ; ) {
      left[v] = -1;
      const begin = first[v]!;
      const end = first[v + 1]!;
      let best = end > begin ? take(neighbours, left, begin, end, begin + (random.uint32() % (end - begin))) : -1;
      if (size >= share) break;
      if (best < 0 && !turned) {
        turned = true;
        cover.reverse(path);
        const head = cover.tail[path]!;
        best = fewestLeft(neighbours, left, first[head]!, first[head + 1]!);
      }
      if (best < 0) break;
      cover.append(path, best);
      size++;
      v = best;
    }
  }
  return cover;
}
