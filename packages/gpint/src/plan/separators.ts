/**
 * Sets of nodes whose removal leaves many components, which make overlap unavoidable. Each is found in O(nodes +
 * links).
 */
import { byDegree } from '../graph/degrees.js';
import type { Graph } from '../graph/graph.js';

/** A set S of nodes, and the parts of the graph without it. */
export interface Separator {
  /** Description of the set's choice, for messages. */
  readonly name: string;
  readonly size: number;
  /** Nodes of the set that must be visited. */
  readonly requiredInside: number;
  /** Components of the graph without the set that contain a node to be visited. */
  readonly parts: number;
  /** Whether every entry point lies in the set. */
  readonly holdsEntries: boolean;
}

/** Counts the parts without a set. `inside`: 1 for each node of the set. */
export function separatorOf(
  graph: Graph,
  inside: Uint8Array,
  name: string,
  required: Uint8Array | null,
  entries: Uint8Array | null,
): Separator {
  const { nodeCount, first, neighbours } = graph;
  const seen = Uint8Array.from(inside);
  const queue = new Uint32Array(nodeCount);
  let size = 0;
  let requiredInside = 0;
  let parts = 0;
  let holdsEntries = entries !== null;
  for (let start = 0; start < nodeCount; start++) {
    if (inside[start] === 1) {
      size++;
      if (required === null || required[start] === 1) requiredInside++;
      continue;
    }
    if (entries !== null && entries[start] === 1) holdsEntries = false;
    if (seen[start] === 1) continue;
    seen[start] = 1;
    queue[0] = start;
    let tail = 1;
    let wanted = false;
    for (let head = 0; head < tail; head++) {
      const v = queue[head]!;
      if (required === null || required[v] === 1) wanted = true;
      const end = first[v + 1]!;
      for (let i = first[v]!; i < end; i++) {
        const u = neighbours[i]!;
        if (seen[u] === 1) continue;
        seen[u] = 1;
        queue[tail++] = u;
      }
    }
    if (wanted) parts++;
  }
  return { name, size, requiredInside, parts, holdsEntries };
}

/**
 * The nodes at which hanging paths meet. Leaves are cut off again and again: a path that hangs on one node grows by it
 * once all but one of its other neighbours are gone; a node on which two or more paths hang joins the set and is cut
 * off itself. In a tree no set has more components over its size: the paths then left are a smallest path partition.
 * `null` if the set is empty.
 */
export function hangingJoints(graph: Graph): Uint8Array | null {
  const { nodeCount, first, neighbours } = graph;
  const degree = new Uint32Array(nodeCount);
  const hanging = new Uint8Array(nodeCount);
  const gone = new Uint8Array(nodeCount);
  const inside = new Uint8Array(nodeCount);
  const queue = new Uint32Array(nodeCount);
  const queued = new Uint8Array(nodeCount);
  let tail = 0;
  let found = 0;
  for (let v = 0; v < nodeCount; v++) {
    degree[v] = first[v + 1]! - first[v]!;
    if (degree[v]! <= 1) {
      queue[tail++] = v;
      queued[v] = 1;
    }
  }
  // `degree` counts the neighbours that are not cut off yet, `hanging` the paths that hang on a node: two is enough.
  for (let head = 0; head < tail; head++) {
    const v = queue[head]!;
    const joint = hanging[v]! >= 2;
    gone[v] = 1;
    if (joint) {
      inside[v] = 1;
      found++;
    }
    for (let i = first[v]!; i < first[v + 1]!; i++) {
      const u = neighbours[i]!;
      if (gone[u] === 1) continue;
      degree[u] = degree[u]! - 1;
      if (!joint && hanging[u]! < 2) hanging[u] = hanging[u]! + 1;
      if (queued[u] === 0 && (degree[u]! <= 1 || hanging[u]! >= 2)) {
        queue[tail++] = u;
        queued[u] = 1;
      }
    }
  }
  return found === 0 ? null : inside;
}

/**
 * The smaller of two sides in each component: nodes at an even and at an odd distance from its first one. In a
 * bipartite graph, where this matters, no link is within a side; in others no set is better by itself. It ends with the
 * last node that is found, which in a dense graph is long before all links are looked at.
 */
export function smallerSides(graph: Graph): Uint8Array {
  const { nodeCount, first, neighbours } = graph;
  /** 0 unseen, 1 and 2 the sides. */
  const side = new Uint8Array(nodeCount);
  const inside = new Uint8Array(nodeCount);
  const queue = new Uint32Array(nodeCount);
  let found = 0;
  for (let start = 0; start < nodeCount; start++) {
    if (side[start] !== 0) continue;
    side[start] = 1;
    const begin = found;
    queue[found++] = start;
    for (let head = begin; head < found && found < nodeCount; head++) {
      const v = queue[head]!;
      const other = 3 - side[v]!;
      const end = first[v + 1]!;
      for (let i = first[v]!; i < end; i++) {
        const u = neighbours[i]!;
        if (side[u] !== 0) continue;
        side[u] = other;
        queue[found++] = u;
      }
    }
    let ones = 0;
    for (let at = begin; at < found; at++) {
      if (side[queue[at]!] === 1) ones++;
    }
    const smaller = 2 * ones <= found - begin ? 1 : 2;
    for (let at = begin; at < found; at++) {
      const v = queue[at]!;
      if (side[v] === smaller) inside[v] = 1;
    }
  }
  return inside;
}

/**
 * The neighbourhood of an independent set grown from the nodes of lowest degree, kept at the point where the set was
 * ahead of its neighbourhood the most. `null` if it never was.
 */
export function neighbourhood(graph: Graph): Uint8Array | null {
  const { nodeCount, first, neighbours } = graph;
  const { order } = byDegree(graph, null);
  /** Turn in which a node joined the neighbourhood, from 1. Nodes of the independent set have no neighbours in it. */
  const turn = new Uint32Array(nodeCount);
  let ahead = 0;
  let best = 0;
  let bestTurn = 0;
  for (let at = 0; at < nodeCount; at++) {
    const v = order[at]!;
    if (turn[v] !== 0) continue;
    ahead++;
    const end = first[v + 1]!;
    for (let i = first[v]!; i < end; i++) {
      const u = neighbours[i]!;
      if (turn[u] !== 0) continue;
      turn[u] = at + 1;
      ahead--;
    }
    if (ahead > best) {
      best = ahead;
      bestTurn = at + 1;
    }
  }
  if (bestTurn === 0) return null;
  const inside = new Uint8Array(nodeCount);
  for (let v = 0; v < nodeCount; v++) {
    if (turn[v] !== 0 && turn[v]! <= bestTurn) inside[v] = 1;
  }
  return inside;
}

/** Nodes whose removal leaves more than two components around them; `null` if there are none. */
export function cutNodes(graph: Graph): Uint8Array | null {
  const { nodeCount, first, neighbours } = graph;
  const order = new Uint32Array(nodeCount);
  const low = new Uint32Array(nodeCount);
  const parent = new Int32Array(nodeCount).fill(-1);
  const next = first.slice(0, nodeCount);
  /** Components that are cut off from the rest of the graph, above the node, when it goes. */
  const below = new Uint32Array(nodeCount);
  const inside = new Uint8Array(nodeCount);
  let clock = 0;
  let found = 0;
  for (let root = 0; root < nodeCount; root++) {
    if (order[root] !== 0) continue;
    order[root] = ++clock;
    low[root] = clock;
    for (let v = root; v >= 0; ) {
      if (next[v]! < first[v + 1]!) {
        const u = neighbours[next[v]!]!;
        next[v] = next[v]! + 1;
        if (order[u] === 0) {
          parent[u] = v;
          order[u] = ++clock;
          low[u] = clock;
          v = u;
        } else if (order[u]! < low[v]!) {
          // The link to the parent counts too: it cannot get below the parent's own number.
          low[v] = order[u]!;
        }
        continue;
      }
      const up = parent[v]!;
      if (below[v]! + (up >= 0 ? 1 : 0) > 2) {
        inside[v] = 1;
        found++;
      }
      if (up >= 0) {
        if (low[v]! < low[up]!) low[up] = low[v]!;
        if (low[v]! >= order[up]!) below[up] = below[up]! + 1;
      }
      v = up;
    }
  }
  return found === 0 ? null : inside;
}
