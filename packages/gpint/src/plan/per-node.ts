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
  const visits = new Uint32Array(nodeCount);
  const starts = new Uint32Array(nodeCount + 1);
  for (let v = 0; v < nodeCount; v++) {
    visits[v] = v;
    starts[v + 1] = v + 1;
  }
  return measurePlan(graph, new Paths(visits, starts), 'per-node', true);
}
