import { GpintError } from '../../errors.js';
import { GraphBuilder } from '../builder.js';
import type { Graph } from '../graph.js';

/** The methods of a graphology graph that are needed. Any object with these methods is accepted. */
export interface GraphologyLike {
  forEachNode(callback: (node: string) => void): void;
  forEachEdge(
    callback: (edge: string, attributes: Readonly<Record<string, unknown>>, source: string, target: string) => void,
  ): void;
}

/** Options for reading edges. */
export interface GraphologyOptions {
  /** Attribute of an edge that holds its weight, a positive number; edges may lack it. Default `weight`. */
  readonly weight?: string;
}

/**
 * Copies the nodes and edges of a graphology graph in its order. Directed edges become links, parallel edges become one
 * link with the smallest weight, and self loops are left out.
 *
 * @throws {@link GpintError} `ERR_GPINT_TOPOLOGY` for a weight that is not a positive, finite number
 */
export function fromGraphology(graph: GraphologyLike, options: GraphologyOptions = {}): Graph {
  const attribute = options.weight ?? 'weight';
  const builder = new GraphBuilder();
  graph.forEachNode((node) => {
    builder.addNode(node);
  });
  graph.forEachEdge((edge, attributes, source, target) => {
    const weight = attributes[attribute];
    if (weight === undefined || weight === null) {
      builder.addLink(source, target);
    } else if (typeof weight === 'number' && weight > 0 && weight < Number.POSITIVE_INFINITY) {
      builder.addLink(source, target, weight);
    } else {
      throw new GpintError(
        'ERR_GPINT_TOPOLOGY',
        `edge "${edge}": ${attribute} is ${String(weight)}, not a positive number`,
      );
    }
  });
  return builder.build();
}
