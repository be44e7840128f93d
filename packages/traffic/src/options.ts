/** Options of the traffic, their defaults and checks. */
import type { EpisodeOptions } from './queue.js';
import { parseTopology, type Topology } from './topology.js';
import { QUEUE_CAP_US, type Workload, type WorkloadName, workloadOf } from './workload.js';

/** INT modes: the packet carries the stack, the packet carries instructions, the packet carries nothing. */
export type TrafficMode = 'md' | 'mx' | 'xd';

/** Options of the fabric's hardware. */
export interface FabricOptions {
  /** Rate of every link in bit/s. Default 10e9. */
  readonly lineRateBps?: number;
  /** Delay of every link in nanoseconds, an integer. Default 500 (100 m of fibre). */
  readonly linkDelayNs?: number;
  /** Unit of queue and buffer occupancy in bytes. Default 80. */
  readonly cellBytes?: number;
  /** Longest queue in microseconds of line rate. Default 1000. */
  readonly queueCapUs?: number;
  /** Queue length in microseconds from which reports have the Q bit. Default 50. */
  readonly queueThresholdUs?: number;
  /** Number of uplinks of edge switches with episodes of overload. Default: one in eight, at least one. */
  readonly hotspots?: number;
  /** The episodes of a hotspot. Default: 2 times line rate for 3 ms on average, 40 ms apart on average. */
  readonly episodes?: EpisodeOptions;
}

/** Options of the traffic. */
export interface TrafficOptions {
  /** A fabric, or its description for `parseTopology`. */
  readonly topology: Topology | string;
  /** Number of monitored flows, 1 to 2^22. Default 256. */
  readonly flows?: number;
  /** Default `md`. */
  readonly mode?: TrafficMode;
  /** Version of the telemetry reports; `1.0` carries INT 1.0 (mode `md`), `2.0` INT 2.x. Default `2.0`. */
  readonly report?: '1.0' | '2.0';
  /** The burst model of the links. Default `web`. */
  readonly workload?: WorkloadName | Workload;
  /** Monitored packets per second of virtual time, on average (a Poisson process). Default 20,000. */
  readonly ratePps?: number;
  /** Seed of all randomness. The same options and seed give the same traffic. Default 1. */
  readonly seed?: number | string;
  /**
   * Instruction bitmap, bit 0 = 0x8000; bits 0 to 8 (report 1.0: 0 to 7), at least one. Default: node id, level-1
   * interfaces, hop latency, queue, both timestamps, utilisation, and with report 2.0 buffer: 0xfd80 or 0xfd00.
   */
  readonly instructions?: number;
  /** Exponent of the flows' popularity: 0 is uniform. Default 1.1. */
  readonly zipfExponent?: number;
  /** Share of TCP flows, 0 to 1; the rest is UDP. Default 0.7. */
  readonly tcpShare?: number;
  /** Wall-clock time at which virtual time starts, in nanoseconds since the epoch. Default 1700000000000000000. */
  readonly startNs?: bigint;
  /**
   * Sequence number of each node's first report, 0 to 2^32 - 1. A high value tests a collector at the wrap. Default 0.
   */
  readonly firstSequence?: number;
  readonly fabric?: FabricOptions;
}

/** {@link TrafficOptions} with all defaults, after all checks. */
export interface TrafficSettings extends Required<Omit<TrafficOptions, 'topology' | 'workload' | 'fabric'>> {
  readonly topology: Topology;
  readonly workload: Workload;
  readonly fabric: Required<FabricOptions>;
}

/** Bits that a report v1.0 can carry: ports, latency, queue, egress timestamp, utilisation. */
const REPORT_10_BITS = 0x7500;

function within(name: string, value: number, low: number, high: number): number {
  if (!(value >= low && value <= high)) throw new RangeError(`${name} must be from ${low} to ${high}, not ${value}`);
  return value;
}

function whole(name: string, value: number, low: number, high: number): number {
  if (!Number.isInteger(value)) throw new RangeError(`${name} must be an integer, not ${value}`);
  return within(name, value, low, high);
}

function oneOf<T extends string>(name: string, value: T, known: readonly T[]): T {
  if (!known.includes(value)) throw new RangeError(`${name} must be ${known.join(', ')}, not '${value}'`);
  return value;
}

/** Fills in defaults. @throws RangeError for a value out of range, TopologyError for a wrong topology text */
export function settingsOf(options: TrafficOptions): TrafficSettings {
  const topology = typeof options.topology === 'string' ? parseTopology(options.topology) : options.topology;
  const report = oneOf('report', options.report ?? '2.0', ['1.0', '2.0']);
  const mode = oneOf('mode', options.mode ?? 'md', ['md', 'mx', 'xd']);
  const allowed = report === '1.0' ? 0xff00 : 0xff80;
  const instructions = whole('instructions', options.instructions ?? allowed & 0xfd80, 1, 0xffff);
  if ((instructions & ~allowed) !== 0) {
    throw new RangeError(`instructions 0x${instructions.toString(16)} ask for bits beyond 0x${allowed.toString(16)}`);
  }
  if (report === '1.0' && mode === 'xd' && (instructions & REPORT_10_BITS) === 0) {
    throw new RangeError('a report 1.0 postcard needs at least one of instruction bits 1, 2, 3, 5, 7');
  }
  let uplinks = 0;
  for (let edge = 0; edge < topology.edgeCount; edge++) {
    uplinks += topology.switches[edge]!.ports - topology.hostsPerEdge;
  }
  const fabric = options.fabric ?? {};
  const episodes = fabric.episodes ?? { rate: 2, everyNs: 40e6, lengthNs: 3e6 };
  if (!(episodes.rate > 1 && Number.isFinite(episodes.rate))) {
    throw new RangeError(`episodes.rate must be above 1, not ${episodes.rate}`);
  }
  within('episodes.everyNs', episodes.everyNs, 1, Number.MAX_SAFE_INTEGER);
  within('episodes.lengthNs', episodes.lengthNs, 1, Number.MAX_SAFE_INTEGER);
  const lineRateBps = within('lineRateBps', fabric.lineRateBps ?? 10e9, 1e6, 1e13);
  const cellBytes = whole('cellBytes', fabric.cellBytes ?? 80, 1, 65535);
  const queueCapUs = within('queueCapUs', fabric.queueCapUs ?? QUEUE_CAP_US, 1, 1e6);
  // Queue occupancy has 24 bits, and an item of all ones would mean 'not available'.
  if ((queueCapUs * lineRateBps) / 8e6 / cellBytes >= 0xffffff) {
    throw new RangeError('queueCapUs at lineRateBps is more than 24 bits of cells: take larger cellBytes');
  }
  const startNs = options.startNs ?? 1_700_000_000_000_000_000n;
  if (startNs < 0n || startNs >= 1n << 63n) throw new RangeError(`startNs must be from 0 to 2^63 - 1, not ${startNs}`);
  return {
    topology,
    flows: options.flows ?? 256,
    mode,
    report,
    workload: workloadOf(options.workload ?? 'web'),
    ratePps: within('ratePps', options.ratePps ?? 20_000, 1e-3, 1e9),
    seed: options.seed ?? 1,
    instructions,
    zipfExponent: within('zipfExponent', options.zipfExponent ?? 1.1, 0, 100),
    tcpShare: within('tcpShare', options.tcpShare ?? 0.7, 0, 1),
    startNs,
    firstSequence: whole('firstSequence', options.firstSequence ?? 0, 0, 0xffffffff),
    fabric: {
      lineRateBps,
      linkDelayNs: whole('linkDelayNs', fabric.linkDelayNs ?? 500, 0, 1e9),
      cellBytes,
      queueCapUs,
      queueThresholdUs: within('queueThresholdUs', fabric.queueThresholdUs ?? 50, 0, 1e6),
      hotspots: whole('hotspots', fabric.hotspots ?? Math.max(1, Math.floor(uplinks / 8)), 0, uplinks),
      episodes,
    },
  };
}
