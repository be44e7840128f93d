/** Makes the probes for the paths of a plan. */
import { MAX_PROBE_BYTES, MAX_PROBE_SWITCHES, probeBytes } from '@int/codec/internals';
import { GpintError } from '../errors.js';
import type { Graph } from '../graph/graph.js';
import type { Paths } from '../plan/plan.js';
import type { SessionProbe } from '../recovery/model.js';

/** Counters requested from a switch: `count` of them from number `first` on, each 0 to 255. */
export interface MeasurementRange {
  readonly first: number;
  readonly count: number;
}

/** The same range for all switches, or one for each. */
export type Measurements = MeasurementRange | ((node: number) => MeasurementRange);

/** Port of switch `from` towards its neighbour `to`: 0 to 255, in the extended layout to 65535. */
export type PortOf = (from: number, to: number) => number;

export interface RouteOptions {
  /** Range of counters. Default: counters 0 to 7 of every switch. */
  readonly measurements?: Measurements;
  /**
   * Layout with 8-bit ports, switch ids and queue depths (`plain`) or 16-bit ones (`extended`). Default `auto`: plain
   * if every switch and every port of the graph fits.
   */
  readonly layout?: 'auto' | 'plain' | 'extended';
  /**
   * Port numbers. Default: the position of the neighbour among the neighbours of the switch, plus 1. Port 0 leads to
   * the monitor.
   */
  readonly portOf?: PortOf;
  /** Hops to reserve room for, between the monitor's entry switch and the start of the path. Default 0. */
  readonly reserveHops?: number;
}

/** A probe of a plan: a whole path, or a part of a path that is too long for one probe. */
export interface ProbeRoute extends SessionProbe {
  /** Largest UDP payload in bytes: after the last hop, without a prefix. */
  readonly bytes: number;
}

/** All probes of a plan, and the data for their packets. */
export interface ProbeRoutes {
  readonly graph: Graph;
  readonly extended: boolean;
  /** In the order of the paths, and along each path. */
  readonly probes: readonly ProbeRoute[];
  /** By node: number of the first requested counter. `count`: how many are requested. */
  readonly first: Uint8Array;
  readonly count: Uint8Array;
  readonly portOf: PortOf;
}

const DEFAULT_RANGE: MeasurementRange = /* @__PURE__ */ Object.freeze({ first: 0, count: 8 });

/**
 * Makes the probes for paths: one per path that stays within 2200 bytes and 255 switches on its whole way (reliable
 * GPINT, section V-A). A longer path is cut into as few parts as possible, of nearly equal length.
 *
 * @throws {@link GpintError} `ERR_GPINT_PROBE_LIMIT` if a single switch does not fit, or ids or ports do not fit the
 *   layout; `ERR_GPINT_UNKNOWN_NODE` for a visit to an unknown node
 * @throws RangeError for an empty path, for consecutive visits to switches that are not neighbours, and for an invalid
 *   range
 */
export function routesOf(graph: Graph, paths: Paths, options: RouteOptions = {}): ProbeRoutes {
  const portOf = options.portOf ?? ((from: number, to: number): number => graph.positionOf(from, to) + 1);
  const extended = chooseLayout(graph, options.layout ?? 'auto', portOf);
  const first = new Uint8Array(graph.nodeCount);
  const count = new Uint8Array(graph.nodeCount);
  const { measurements = DEFAULT_RANGE } = options;
  for (let node = 0; node < graph.nodeCount; node++) {
    const range = typeof measurements === 'function' ? measurements(node) : measurements;
    first[node] = requireByte('first', range.first);
    count[node] = requireByte('count', range.count);
  }
  const probes: ProbeRoute[] = [];
  for (let path = 0; path < paths.count; path++) {
    const visits = paths.path(path);
    checkPath(graph, visits, path);
    const counts = Array.from(visits, (node) => count[node]!);
    const starts = cut(counts, extended, options.reserveHops ?? 0);
    for (const [part, position] of starts.entries()) {
      const end = starts[part + 1] ?? visits.length;
      probes.push({
        path,
        position,
        switches: Array.from(visits.subarray(position, end)),
        bytes: probeBytes(counts.slice(position, end), extended),
      });
    }
  }
  return { graph, extended, probes, first, count, portOf };
}

function requireByte(name: string, value: number): number {
  if (!Number.isInteger(value) || value < 0 || value > 255) {
    throw new RangeError(`${name} of a measurement range must be an integer from 0 to 255, not ${value}`);
  }
  return value;
}

function chooseLayout(graph: Graph, layout: 'auto' | 'plain' | 'extended', portOf: PortOf): boolean {
  let port = 0;
  for (let node = 0; node < graph.nodeCount; node++) {
    for (let at = graph.first[node]!; at < graph.first[node + 1]!; at++) {
      const each = portOf(node, graph.neighbours[at]!);
      if (!Number.isInteger(each) || each < 0) {
        throw new RangeError(`${each} is no port (from node ${node} to ${graph.neighbours[at]})`);
      }
      port = Math.max(port, each);
    }
  }
  const plain = port <= 0xff && graph.nodeCount <= 0x100;
  if (layout === 'plain' && !plain) {
    throw new GpintError(
      'ERR_GPINT_PROBE_LIMIT',
      `the plain layout has no room for ${graph.nodeCount} switches, ports to ${port}`,
    );
  }
  const extended = layout === 'extended' || !plain;
  if (extended && (port > 0xffff || graph.nodeCount > 0x1_0000)) {
    throw new GpintError(
      'ERR_GPINT_PROBE_LIMIT',
      `no layout has room for ${graph.nodeCount} switches, ports to ${port}`,
    );
  }
  return extended;
}

function checkPath(graph: Graph, visits: Uint32Array, path: number): void {
  if (visits.length === 0) throw new RangeError(`path ${path} is empty`);
  for (const [at, node] of visits.entries()) {
    if (node >= graph.nodeCount)
      throw new GpintError('ERR_GPINT_UNKNOWN_NODE', `path ${path} visits ${node}, which is no node`);
    if (at > 0 && graph.positionOf(visits[at - 1]!, node) < 0) {
      throw new RangeError(`path ${path} goes from ${graph.names[visits[at - 1]!]} to ${graph.names[node]}: no link`);
    }
  }
}

/** Positions at which the parts of a path begin. */
function cut(counts: readonly number[], extended: boolean, reserveHops: number): number[] {
  const most = MAX_PROBE_SWITCHES - reserveHops;
  const fewest = parts(counts, extended, reserveHops, most);
  // The same number of parts, but of similar length if the measurements allow it.
  const even = parts(counts, extended, reserveHops, Math.ceil(counts.length / fewest.length));
  return even.length === fewest.length ? even : fewest;
}

function parts(counts: readonly number[], extended: boolean, reserveHops: number, mostHops: number): number[] {
  const starts: number[] = [];
  const dlvBytes = extended ? 6 : 4;
  const empty = probeBytes([], extended) + reserveHops * dlvBytes;
  let bytes = 0;
  let begin = 0;
  for (const [hop, count] of counts.entries()) {
    const more = dlvBytes + 4 * count;
    if (hop === 0 || bytes + more > MAX_PROBE_BYTES || hop - begin === mostHops) {
      if (mostHops < 1 || empty + more > MAX_PROBE_BYTES) {
        throw new GpintError(
          'ERR_GPINT_PROBE_LIMIT',
          `${reserveHops} hops to a switch and ${count} measurements of it do not fit into ${MAX_PROBE_BYTES} bytes`,
        );
      }
      starts.push(hop);
      bytes = empty;
      begin = hop;
    }
    bytes += more;
  }
  return starts;
}
