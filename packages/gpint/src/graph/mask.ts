import { GpintError } from '../errors.js';
import type { Graph } from './graph.js';

/** Number of a node given by name or number. @throws {@link GpintError} `ERR_GPINT_UNKNOWN_NODE` */
export function nodeNumber(graph: Graph, node: number | string): number {
  if (typeof node === 'string') return graph.nodeOf(node);
  if (Number.isInteger(node) && node >= 0 && node < graph.nodeCount) return node;
  throw new GpintError('ERR_GPINT_UNKNOWN_NODE', `there is no node ${node} among ${graph.nodeCount}`);
}

/**
 * A mask with 1 for each of the given nodes (names or numbers), 0 for the others. Planners take entry points and
 * required nodes in this form.
 *
 * @throws {@link GpintError} `ERR_GPINT_UNKNOWN_NODE`
 */
export function nodeMask(graph: Graph, nodes: readonly (number | string)[]): Uint8Array {
  const mask = new Uint8Array(graph.nodeCount);
  for (const node of nodes) mask[nodeNumber(graph, node)] = 1;
  return mask;
}

/** The nodes of a mask, ascending. */
export function maskedNodes(mask: Uint8Array): number[] {
  const nodes: number[] = [];
  for (let v = 0; v < mask.length; v++) if (mask[v] === 1) nodes.push(v);
  return nodes;
}
