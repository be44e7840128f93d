import type { Graph } from '../graph.js';
import { LinkList } from '../link-list.js';

/** Largest `k`. Much larger trees would not fit into memory. */
const LARGEST = 256;

/**
 * The switches of a fat tree of `k`-port switches (M. Al-Fares, A. Loukissas, A. Vahdat, SIGCOMM 2008): k pods of k / 2
 * edge and k / 2 aggregation switches, all linked within a pod, and (k / 2)² core switches, each linked with one
 * aggregation switch of every pod. 5k² / 4 switches and k³ / 2 links; without hosts. Nodes are in the order edge,
 * aggregation, core. Their names are edge-p0-1 (pod 0, switch 1), agg-p0-1, core-1.
 *
 * @param k even, 2 to 256; else a RangeError
 */
export function fatTreeGraph(k: number): Graph {
  if (!Number.isInteger(k) || k < 2 || k > LARGEST || k % 2 !== 0) {
    throw new RangeError(`ports must be an even integer from 2 to ${LARGEST}, not ${k}`);
  }
  const half = k / 2;
  const perLayer = k * half;
  const names: string[] = [];
  for (const layer of ['edge', 'agg']) {
    for (let pod = 0; pod < k; pod++) {
      for (let i = 1; i <= half; i++) names.push(`${layer}-p${pod}-${i}`);
    }
  }
  for (let i = 1; i <= half * half; i++) names.push(`core-${i}`);
  const links = new LinkList();
  for (let edge = 0; edge < perLayer; edge++) {
    const pod = Math.floor(edge / half);
    for (let j = 0; j < half; j++) links.add(edge, perLayer + pod * half + j);
  }
  for (let aggregation = 0; aggregation < perLayer; aggregation++) {
    const group = aggregation % half;
    for (let j = 0; j < half; j++) links.add(perLayer + aggregation, 2 * perLayer + group * half + j);
  }
  return links.assemble(names).graph;
}
