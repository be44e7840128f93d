/** A long walk through all nodes, and its division among the paths: "route first, cluster second". */
import type { Graph } from '../graph/graph.js';
import type { Cover } from './cover.js';
import type { Hops } from './hops.js';

/** Nodes in an order, and what it costs to go from each to the next. */
interface Tour {
  readonly nodes: Int32Array;
  /** Cost of the path from the previous node to each node; Infinity if there is none or none is wanted. */
  readonly gaps: Float64Array;
}

/** Links between nodes that are neighbours, with weights their cost. */
function stepCost(graph: Graph, a: number, b: number): number {
  return graph.weights === null ? 1 : graph.cost(graph.linkBetween(a, b));
}

/** The paths of a cover one after the other, with nothing between them. */
export function looseTour(graph: Graph, cover: Cover): Tour {
  const nodes = new Int32Array(cover.nodes);
  const gaps = new Float64Array(cover.nodes);
  let at = 0;
  for (let i = 0; i < cover.count; i++) {
    let before = -1;
    for (let x = cover.head[cover.list[i]!]!; x >= 0; x = cover.next[x]!) {
      nodes[at] = x;
      gaps[at++] = before < 0 ? Number.POSITIVE_INFINITY : stepCost(graph, before, x);
      before = x;
    }
  }
  return { nodes, gaps };
}

/**
 * The paths of a cover in the order in which a depth-first search of the graph meets them, each begun with the end that is
 * nearer to the one before, over shortest ways: option (c) of the paper, where paths pass through nodes of others.
 */
export function joinedTour(graph: Graph, cover: Cover, hops: Hops): Tour {
  const { nodeCount, first, neighbours } = graph;
  const nodes = new Int32Array(cover.nodes);
  const gaps = new Float64Array(cover.nodes);
  const placed = new Uint8Array(nodeCount);
  const seen = new Uint8Array(nodeCount);
  const cursor = first.slice(0, nodeCount);
  const stack = new Int32Array(nodeCount);
  let at = 0;
  let before = -1;
  const place = (path: number): void => {
    placed[path] = 1;
    const head = cover.head[path]!;
    const tail = cover.tail[path]!;
    let gap = Number.POSITIVE_INFINITY;
    let forwards = true;
    if (before >= 0) {
      const toHead = hops.between(before, head);
      const toTail = head === tail ? toHead : hops.between(before, tail);
      forwards = toTail < 0 || toHead <= toTail;
      gap = forwards ? toHead : toTail;
      if (gap < 0) gap = Number.POSITIVE_INFINITY;
    }
    for (let x = forwards ? head : tail; x >= 0; x = forwards ? cover.next[x]! : cover.prev[x]!) {
      nodes[at] = x;
      gaps[at++] = gap === -1 ? stepCost(graph, before, x) : gap;
      gap = -1;
      before = x;
    }
  };
  for (let start = 0; start < nodeCount; start++) {
    if (seen[start] === 1) continue;
    let depth = 0;
    stack[depth++] = start;
    seen[start] = 1;
    while (depth > 0) {
      const v = stack[depth - 1]!;
      const path = cover.of[v]!;
      if (path >= 0 && placed[path] === 0) place(path);
      let child = -1;
      while (cursor[v]! < first[v + 1]! && child < 0) {
        const u = neighbours[cursor[v]!]!;
        cursor[v] = cursor[v]! + 1;
        if (seen[u] === 0) child = u;
      }
      if (child < 0) depth--;
      else {
        seen[child] = 1;
        stack[depth++] = child;
      }
    }
  }
  return { nodes, gaps };
}

/** The cost of a piece in addition to its gaps. */
export interface PieceCost {
  /** 1 where visits count, 0 where weights do. */
  readonly base: number;
  /** Cost to each node from the nearest entry point; `null`: walks start anywhere. By node of the graph. */
  readonly entry: Float64Array | null;
}

/** Ends of pieces of a tour: each as long as a cost of `most` allows. `null` if it takes more than `pieces`. */
function greedy(tour: Tour, pieces: number, most: number, { base, entry }: PieceCost): number[] | null {
  const { nodes, gaps } = tour;
  const ends: number[] = [];
  for (let begin = 0; begin < nodes.length; ) {
    if (ends.length === pieces) return null;
    const atBegin = entry === null ? 0 : entry[nodes[begin]!]!;
    let cost = base;
    let end = -1;
    for (let i = begin; i < nodes.length; i++) {
      if (i > begin) cost += gaps[i]!;
      if (cost > most) break;
      if (entry === null || cost + Math.min(atBegin, entry[nodes[i]!]!) <= most) end = i + 1;
    }
    if (end < 0) return null;
    ends.push(end);
    begin = end;
  }
  return ends;
}

/** Splits pieces in the middle, the dearest first, until there are `pieces`, or none of more than one node. */
function splitMore(tour: Tour, ends: readonly number[], pieces: number, most: number, cost: PieceCost): number[] {
  let all = ends.map((end, i) => ({ begin: i === 0 ? 0 : ends[i - 1]!, end }));
  while (all.length < pieces) {
    all.sort((a, b) => b.end - b.begin - (a.end - a.begin) || a.begin - b.begin);
    const longest = all[0]!.end - all[0]!.begin;
    const next: { begin: number; end: number }[] = [];
    let size = all.length;
    for (const piece of all) {
      const length = piece.end - piece.begin;
      const middle = piece.begin + (length >> 1);
      const starts = cost.entry === null ? 0 : Math.max(entryOf(tour, cost, piece.begin), entryOf(tour, cost, middle));
      if (size < pieces && length > 1 && length > longest / 2 && starts + cost.base <= most) {
        next.push({ begin: piece.begin, end: middle }, { begin: middle, end: piece.end });
        size++;
      } else next.push(piece);
    }
    if (next.length === all.length) break;
    all = next;
  }
  return all.sort((a, b) => a.begin - b.begin).map((piece) => piece.end);
}

function entryOf(tour: Tour, { entry }: PieceCost, at: number): number {
  return entry === null ? 0 : entry[tour.nodes[at]!]!;
}

/**
 * Divides a tour into at most `pieces` pieces, with the cheapest possible dearest piece in this order. Returns the
 * nodes of each; `null` if there are too many gaps that cannot be crossed.
 */
export function splitTour(tour: Tour, pieces: number, cost: PieceCost): number[][] | null {
  let high = cost.base;
  let dearestEntry = 0;
  for (let i = 0; i < tour.nodes.length; i++) {
    if (i > 0 && tour.gaps[i]! < Number.POSITIVE_INFINITY) high += tour.gaps[i]!;
    dearestEntry = Math.max(dearestEntry, entryOf(tour, cost, i));
  }
  high += dearestEntry;
  let best = greedy(tour, pieces, high, cost);
  if (best === null) return null;
  let low = 0;
  const whole = cost.base === 1;
  for (let round = 0; round < 48 && high - low > (whole ? 1 : high * 1e-6); round++) {
    const middle = whole ? Math.floor((low + high) / 2) : (low + high) / 2;
    const found = greedy(tour, pieces, middle, cost);
    if (found === null) low = middle;
    else {
      high = middle;
      best = found;
    }
  }
  const ends = splitMore(tour, best, pieces, high, cost);
  return ends.map((end, i) => Array.from(tour.nodes.subarray(i === 0 ? 0 : ends[i - 1]!, end)));
}
