import type { RandomWalkOptions } from './scan/random-walk.js';

/** How the detectors of {@link KnowledgePlane} are set up. All have defaults. */
export interface KnowledgeOptions {
  /** Prefixes of the own network. Default: the private ones of RFC 1918 and RFC 4193. */
  readonly inside?: readonly string[];
  /**
   * `one`: packets of one direction only are seen. Then no contact is known to fail, and scans are found by their fan-out
   * alone. Default `both`.
   */
  readonly directions?: 'both' | 'one';
  /** What share of packets is seen: 1 of so many. Rates are multiplied by it. Default 1. */
  readonly sampling?: number;
  /** Time until what is usual counts as known, in milliseconds. Default 60,000. */
  readonly learnMs?: number;
  /** Time until edges and destinations that have never been seen count as new, in milliseconds. Default 86,400,000: a day. */
  readonly learnEdgesMs?: number;
  /** Threshold of the cumulative sums, in deviations: see `thresholdFor`. Default 17: one false alarm a day of 1,000 metrics. */
  readonly threshold?: number;
  readonly randomWalk?: RandomWalkOptions;
  /** Destinations within a minute that make a superspreader. Default 1000. */
  readonly superspreader?: number;
  /** SYN packets a second below which no flood is reported. Default 50. */
  readonly leastSyns?: number;
  /** Packets a second below which no rate attack is reported. Default 200. */
  readonly leastPackets?: number;
  /** Bytes to a new destination within an hour below which no exfiltration is reported. Default 10,000,000. */
  readonly leastExfiltration?: number;
  /** Ports of administration: what lateral movement uses. Default 22, 135, 445, 3389, 5900, 5985, 5986. */
  readonly administration?: readonly number[];
  /** Rows of the tables; what does not fit is counted. */
  readonly capacity?: Partial<Capacity>;
}

/** Rows of the tables. */
export interface Capacity {
  /** Default 131,072. */
  readonly flows: number;
  /** Default 4096. */
  readonly sources: number;
  /** Default 2048. */
  readonly destinations: number;
  /** Pairs of an inside host and an outside one, for beacons and exfiltration. Default 4096. */
  readonly pairs: number;
  /** Switches, queues and links. Default 4096. */
  readonly metrics: number;
}

const INSIDE = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'];
const ADMINISTRATION = [22, 135, 445, 3389, 5900, 5985, 5986];

/** {@link KnowledgeOptions} with their defaults. */
export interface Settings extends Required<Omit<KnowledgeOptions, 'randomWalk' | 'capacity'>> {
  readonly randomWalk: RandomWalkOptions;
  readonly capacity: Capacity;
}

function checked(name: string, value: number, least: number, most: number): number {
  if (!(value >= least && value <= most)) throw new RangeError(`${name} must be ${least} to ${most}, not ${value}`);
  return value;
}

/** @throws RangeError for an option out of range */
export function settingsOf(options: KnowledgeOptions): Settings {
  const rows = { flows: 131_072, sources: 4096, destinations: 2048, pairs: 4096, metrics: 4096, ...options.capacity };
  for (const [name, value] of Object.entries(rows)) {
    if (!Number.isInteger(value)) throw new RangeError(`capacity.${name} must be a whole number, not ${value}`);
    checked(`capacity.${name}`, value, 16, 1 << 24);
  }
  return {
    inside: options.inside ?? INSIDE,
    directions: options.directions ?? 'both',
    sampling: checked('sampling', options.sampling ?? 1, 1, 1e6),
    learnMs: checked('learnMs', options.learnMs ?? 60_000, 1000, 1e9),
    learnEdgesMs: checked('learnEdgesMs', options.learnEdgesMs ?? 86_400_000, 0, 1e10),
    threshold: checked('threshold', options.threshold ?? 17, 1, 1000),
    randomWalk: options.randomWalk ?? {},
    superspreader: checked('superspreader', options.superspreader ?? 1000, 10, 1e9),
    leastSyns: checked('leastSyns', options.leastSyns ?? 50, 1, 1e9),
    leastPackets: checked('leastPackets', options.leastPackets ?? 200, 1, 1e9),
    leastExfiltration: checked('leastExfiltration', options.leastExfiltration ?? 10_000_000, 1, 1e15),
    administration: options.administration ?? ADMINISTRATION,
    capacity: rows,
  };
}
