import { GpintError } from '../errors.js';
import type { Graph } from '../graph/graph.js';
import { measurePlan } from './measure.js';
import { Paths, type Plan } from './plan.js';

/**
 * A plan with one path per node, as an SNMP poller asks each device: the baseline with the most and the shortest
 * probes. Path v visits node v only.
 *
 * @throws {@link GpintError} `ERR_GPINT_EMPTY_GRAPH`
 */
export function perNode(graph: Graph): Plan {
  const { nodeCount } = graph;
  if (nodeCount === 0) throw new GpintError('ERR_GPINT_EMPTY_GRAPH', 'the graph has no nodes');
  const starts = Uint32Array.from({ length: nodeCount + 1 }, (_, v) => v);
  return measurePlan(graph, new Paths(starts.slice(0, nodeCount), starts), 'per-node', true);
}
