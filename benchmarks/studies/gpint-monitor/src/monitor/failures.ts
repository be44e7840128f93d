/** What does not work in the network: the truth, which the monitor is not told. */
import { GpintError, type Graph, type Paths } from '@int/gpint';
import { Random } from '@int/random';
import { linksOf } from './network.js';

export interface Failures {
  /** By number. */
  readonly links: ReadonlySet<number>;
  readonly switches: ReadonlySet<number>;
}

/**
 * Reads `A-B` as a link, or `A` as a switch. Names may have hyphens in them: what counts is where the graph has names.
 *
 * @throws GpintError `ERR_GPINT_UNKNOWN_NODE`
 */
function failureOf(graph: Graph, text: string): { readonly link: number } | { readonly node: number } {
  const node = graph.names.indexOf(text);
  if (node >= 0) return { node };
  for (let at = text.indexOf('-'); at >= 0; at = text.indexOf('-', at + 1)) {
    const a = graph.names.indexOf(text.slice(0, at));
    const b = graph.names.indexOf(text.slice(at + 1));
    const link = a < 0 || b < 0 ? -1 : graph.linkBetween(a, b);
    if (link >= 0) return { link };
  }
  throw new GpintError('ERR_GPINT_UNKNOWN_NODE', `"${text}" is neither a switch nor a link A-B of the topology`);
}

/** Whether the switches that work are still in one piece. */
function isConnected(graph: Graph, failed: ReadonlySet<number>, switches: ReadonlySet<number>): boolean {
  const seen = new Uint8Array(graph.nodeCount);
  const start = [...graph.names.keys()].find((node) => !switches.has(node));
  if (start === undefined) return true;
  const stack = [start];
  seen[start] = 1;
  let count = 1;
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    for (let i = graph.first[node]!; i < graph.first[node + 1]!; i++) {
      const next = graph.neighbours[i]!;
      if (seen[next] === 1 || switches.has(next) || failed.has(graph.links[i]!)) continue;
      seen[next] = 1;
      count++;
      stack.push(next);
    }
  }
  return count === graph.nodeCount - switches.size;
}

/** Links that a path goes over, ascending. */
function linksOfPaths(graph: Graph, paths: Paths): number[] {
  const links = new Set<number>();
  for (let p = 0; p < paths.count; p++) {
    const path = paths.path(p);
    for (let i = 1; i < path.length; i++) links.add(graph.linkBetween(path[i - 1]!, path[i]!));
  }
  return [...links].sort((a, b) => a - b);
}

/**
 * Chooses what fails.
 *
 * @param named links `A-B` and switches `A`
 * @param count links drawn besides, of those that a path goes over and that leave the network in one piece; fewer, if
 *   there are not so many
 * @throws GpintError `ERR_GPINT_UNKNOWN_NODE`
 */
export function chooseFailures(
  graph: Graph,
  paths: Paths,
  named: readonly string[],
  count: number,
  seed: number,
): Failures {
  const links = new Set<number>();
  const switches = new Set<number>();
  for (const text of named) {
    const failure = failureOf(graph, text);
    if ('link' in failure) links.add(failure.link);
    else switches.add(failure.node);
  }
  let left = count;
  for (const link of new Random(seed).derive('failures').shuffle(linksOfPaths(graph, paths))) {
    if (left === 0) break;
    if (links.has(link)) continue;
    links.add(link);
    if (isConnected(graph, links, switches)) left--;
    else links.delete(link);
  }
  return { links, switches };
}

/** `A-B` for links by number. */
export function linkNames(graph: Graph, links: Iterable<number>): string[] {
  const ends = linksOf(graph);
  return Array.from(links, (link) => ends[link]!.map((node) => graph.names[node]!).join('-'));
}
