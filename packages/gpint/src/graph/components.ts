import { GpintError } from '../errors.js';
import type { Graph } from './graph.js';

/** The connected components of a graph, numbered by their lowest node. */
export interface Components {
  readonly count: number;
  /** Component of each node. */
  readonly of: Uint32Array;
  /** Number of nodes of each component. */
  readonly sizes: Uint32Array;
}

/** Finds the connected components. O(nodes + links). */
export function components(graph: Graph): Components {
  const { nodeCount, first, neighbours } = graph;
  const none = 0xffff_ffff;
  const of = new Uint32Array(nodeCount).fill(none);
  const queue = new Uint32Array(nodeCount);
  const sizes: number[] = [];
  for (let start = 0; start < nodeCount; start++) {
    if (of[start] !== none) continue;
    const component = sizes.length;
    let tail = 0;
    queue[tail++] = start;
    of[start] = component;
    for (let head = 0; head < tail; head++) {
      const v = queue[head]!;
      const end = first[v + 1]!;
      for (let i = first[v]!; i < end; i++) {
        const u = neighbours[i]!;
        if (of[u] !== none) continue;
        of[u] = component;
        queue[tail++] = u;
      }
    }
    sizes.push(tail);
  }
  return { count: sizes.length, of, sizes: Uint32Array.from(sizes) };
}

const NAMES_SHOWN = 5;
const COMPONENTS_SHOWN = 4;

/** At most `most` of the items, and the number of the others. */
function some(items: readonly string[], most: number, total = items.length): string {
  const shown = items.slice(0, most).join(', ');
  return total > most ? `${shown} and ${total - most} more` : shown;
}

/**
 * Checks that a graph has nodes and is connected.
 *
 * @throws {@link GpintError} `ERR_GPINT_EMPTY_GRAPH`; `ERR_GPINT_DISCONNECTED`, with the names of the nodes of each component
 */
export function requireConnected(graph: Graph): void {
  if (graph.nodeCount === 0) throw new GpintError('ERR_GPINT_EMPTY_GRAPH', 'the graph has no nodes');
  const { count, of } = components(graph);
  if (count === 1) return;
  const named: string[][] = Array.from({ length: count }, () => []);
  for (let v = 0; v < graph.nodeCount; v++) named[of[v]!]!.push(graph.names[v]!);
  named.sort((a, b) => b.length - a.length);
  const parts = named.slice(0, COMPONENTS_SHOWN).map((names) => `{${some(names, NAMES_SHOWN)}}`);
  throw new GpintError(
    'ERR_GPINT_DISCONNECTED',
    `the graph falls into ${count} components: ${some(parts, COMPONENTS_SHOWN, count)}`,
    { components: named },
  );
}
