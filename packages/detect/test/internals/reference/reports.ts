/** Random reports and rule sets, biased towards what goes wrong: shared cells, loops, missing items, extreme values. */

import type { MetricName } from '@int/codec';
import { AGGREGATES, type Cnf, type Condition, OPERATORS } from '../../../src/expression/model.js';
import type { DetectorConfig, DetectorKind, Match, Prefix, Rule, RuleSet, Sample } from '../../../src/rules/model.js';
import { Random } from '../../reference/random.js';
import type { ReferenceFlow, ReferenceHop, ReferenceReport } from '../../reference/reference.js';

const MAX32 = 0xffffffff;

/** Few switches: small ids, ids that share a cell with them (modulo 4096), and extreme ones. */
const SWITCH_IDS: readonly number[] = [0, 1, 2, 3, 4096, 4097, 8193, 0x80000001, 0xfffff003, 0xfffffffe];

/** Items of a hop: the metrics that share one are present or missing together. */
const ITEMS: readonly (readonly (readonly [metric: MetricName, ones: number])[])[] = [
  [['hopLatency', MAX32]],
  [
    ['queueId', 0xff],
    ['queueOccupancy', 0xffffff],
  ],
  [['egressUtilization', MAX32]],
  [
    ['bufferId', 0xff],
    ['bufferOccupancy', 0xffffff],
  ],
  [
    ['congestionQueueId', 0xff],
    ['queueCongestion', 0xffffff],
  ],
  [
    ['l1IngressInterface', 0xffff],
    ['l1EgressInterface', 0xffff],
  ],
  [
    ['l2IngressInterface', MAX32],
    ['l2EgressInterface', MAX32],
  ],
  [['reserved9', MAX32]],
];

/** Metrics that reports of {@link ReportSource} carry, the most frequent first. */
const REPORT_METRICS: readonly MetricName[] = [
  'hopLatency',
  'queueOccupancy',
  'egressUtilization',
  'bufferOccupancy',
  'queueCongestion',
  'nodeId',
  'l1IngressInterface',
  'l2EgressInterface',
  'queueId',
  'reserved9',
];

const IPV4_ADDRESSES: readonly (readonly number[])[] = [
  [10, 0, 0, 1],
  [10, 0, 0, 2],
  [10, 0, 1, 1],
  [10, 255, 255, 255],
  [192, 168, 0, 1],
  [255, 255, 255, 255],
];
const IPV6_ADDRESSES: readonly (readonly number[])[] = [
  [0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1],
  [0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2],
  [0x20, 0x01, 0x0d, 0xb8, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1],
  [0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
];
const PORTS: readonly number[] = [0, 1, 80, 443, 5000, 65535];
const PROTOCOLS: readonly number[] = [1, 6, 17, 58, 255];
const MACS: readonly number[] = [0x020000000001, 0x020000000002, 0xffffffffffff];

/** A value of `ones` bits: mostly small and near to others, sometimes at the ends. */
function randomValue(random: Random, ones: number): number {
  const kind = random.below(10);
  if (kind < 5) return random.below(64);
  if (kind < 7) return Math.min(ones, 1000 + random.below(3));
  if (kind < 8) return ones - random.below(3);
  if (kind === 8) return Math.min(ones, 2 ** random.below(33));
  return Math.floor((random.word() / 0x1_0000_0000) * (ones + 1));
}

export interface ReportOptions {
  /** Most hops of a report. Default 6; now and then (1 in 200) a report has up to twice as many. */
  readonly hops?: number;
  /** Random flows besides the fixed few. Default 64. */
  readonly flows?: number;
  /** Reports without a known flow, as a fraction. Default 0.02. */
  readonly withoutFlow?: number;
  /** Whether the clock is sometimes set back. Default true. */
  readonly clockSteps?: boolean;
}

/** An endless stream of reports; the same seed gives the same stream. */
export class ReportSource {
  readonly #random: Random;
  readonly #flows: ReferenceFlow[] = [];
  readonly #hops: number;
  readonly #withoutFlow: number;
  readonly #clockSteps: boolean;
  #timeNs = 1_700_000_000_000_000_000n;

  constructor(seed: number, options: ReportOptions = {}) {
    this.#random = new Random(seed);
    this.#hops = options.hops ?? 6;
    this.#withoutFlow = options.withoutFlow ?? 0.02;
    this.#clockSteps = options.clockSteps ?? true;
    for (let n = options.flows ?? 64; n > 0; n--) this.#flows.push(randomFlow(this.#random));
  }

  next(): ReferenceReport {
    const random = this.#random;
    this.#timeNs += BigInt(random.chance(0.1) ? random.below(2_000_000) : random.below(2000));
    if (this.#clockSteps && random.chance(0.001)) this.#timeNs -= BigInt(random.below(3_000_000));
    // Half of the reports are of few flows, so that state builds up.
    const flow = random.chance(this.#withoutFlow)
      ? null
      : random.chance(0.5)
        ? this.#flows[random.below(Math.min(4, this.#flows.length))]!
        : random.pick(this.#flows);
    // Items that no hop of the report carries, as an instruction bitmap says it.
    const bitmap = random.chance(0.6) ? MAX32 : random.word();
    let count = random.below(this.#hops + 1);
    if (random.chance(0.005)) count = random.below(2 * this.#hops + 1);
    const hops: ReferenceHop[] = [];
    for (let h = 0; h < count; h++) hops.push(this.#hop(bitmap));
    // A loop: a switch that was passed before.
    if (count > 1 && random.chance(0.3)) {
      hops[random.below(count)] = { ...this.#hop(bitmap), nodeId: hops[random.below(count)]!.nodeId ?? null };
    }
    const nodeId = random.chance(0.5) ? random.pick(SWITCH_IDS) : null;
    const hasOwnHop = nodeId !== null && random.chance(0.5);
    if (hasOwnHop) hops.push({ ...this.#hop(random.word()), nodeId });
    const hasEthernet = random.chance(0.8);
    return {
      flow,
      sourceMac: hasEthernet ? random.pick(MACS) : null,
      destinationMac: hasEthernet ? random.pick(MACS) : null,
      hops,
      hasOwnHop,
      nodeId,
      timeNs: this.#timeNs,
    };
  }

  take(count: number): ReferenceReport[] {
    return Array.from({ length: count }, () => this.next());
  }

  #hop(bitmap: number): ReferenceHop {
    const random = this.#random;
    const hop: { [M in MetricName]?: number | null } = {};
    if ((bitmap & 1) !== 0) hop.nodeId = random.chance(0.05) ? null : random.pick(SWITCH_IDS);
    ITEMS.forEach((item, index) => {
      if ((bitmap & (2 << index)) === 0) return;
      const fate = random.below(20);
      for (const [metric, ones] of item) {
        // Not available, as no value and as all ones; halves that are all ones by themselves are values.
        hop[metric] = fate === 0 ? null : fate === 1 ? ones : randomValue(random, ones);
      }
    });
    return hop;
  }
}

function randomFlow(random: Random): ReferenceFlow {
  const addresses = random.chance(0.6) ? IPV4_ADDRESSES : IPV6_ADDRESSES;
  const protocol = random.pick(PROTOCOLS);
  const hasPorts = protocol === 6 || protocol === 17;
  return {
    source: random.pick(addresses),
    destination: random.pick(addresses),
    protocol,
    sourcePort: hasPorts ? random.pick(PORTS) : 0,
    destinationPort: hasPorts ? random.pick(PORTS) : 0,
  };
}

/* ---- Rules ---- */

function wordsOf(bytes: readonly number[]): number[] {
  const words: number[] = [];
  for (let at = 0; at < bytes.length; at += 4) {
    words.push(((bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!) >>> 0);
  }
  return words;
}

function randomPrefix(random: Random, addresses: readonly (readonly number[])[]): Prefix {
  const words = wordsOf(random.pick(addresses));
  const bits = words.length * 32;
  const length = random.chance(0.4) ? bits : random.pick([0, 1, 7, 8, 16, 24, 31, 32, 33, 48, 64, 127]) % (bits + 1);
  const masked = words.map((word, k) => {
    const kept = Math.max(0, Math.min(32, length - 32 * k));
    return kept === 0 ? 0 : (word & (MAX32 << (32 - kept))) >>> 0;
  });
  return { version: bits === 32 ? 4 : 6, words: masked, length };
}

function randomMatch(random: Random): Match {
  const any: Match = {
    protocol: null,
    source: null,
    destination: null,
    sourcePort: null,
    destinationPort: null,
    sourceMac: null,
    destinationMac: null,
  };
  if (random.chance(0.2)) return any;
  const addresses = random.chance(0.6) ? IPV4_ADDRESSES : IPV6_ADDRESSES;
  const ports = (): Match['sourcePort'] => {
    const from = random.pick(PORTS);
    return { from, to: random.chance(0.5) ? from : Math.max(from, random.pick(PORTS)) };
  };
  return {
    protocol: random.chance(0.3) ? random.pick(PROTOCOLS) : null,
    source: random.chance(0.4) ? randomPrefix(random, addresses) : null,
    destination: random.chance(0.4) ? randomPrefix(random, addresses) : null,
    sourcePort: random.chance(0.2) ? ports() : null,
    destinationPort: random.chance(0.2) ? ports() : null,
    sourceMac: random.chance(0.1) ? random.pick(MACS) : null,
    destinationMac: random.chance(0.1) ? random.pick(MACS) : null,
  };
}

const THRESHOLDS: readonly number[] = [0, 1, 2, 5, 20, 50, 1000, 1001, 0x7fffffff, 0x80000000, MAX32 - 2, MAX32];

/** A threshold that is crossed now and then, or an extreme one. */
export function randomThreshold(random: Random): number {
  return random.chance(0.8) ? random.pick(THRESHOLDS) : random.word();
}

function randomCondition(random: Random, metrics: readonly MetricName[] = REPORT_METRICS): Condition {
  const aggregate = random.pick(AGGREGATES);
  const operator = random.pick(OPERATORS);
  // Equality holds now and then only where few values occur.
  const isEquality = operator === '==' || operator === '!=';
  const constant = isEquality ? random.below(64) : aggregate === 'count' ? random.below(200) : randomThreshold(random);
  // Few metrics, so that a report carries them.
  return { aggregate, metric: aggregate === 'count' ? null : random.pick(metrics.slice(0, 4)), operator, constant };
}

export function randomCnf(random: Random, metrics: readonly MetricName[] = REPORT_METRICS): Cnf {
  const clauses = random.chance(0.1) ? 8 : 1 + random.below(3);
  return Array.from({ length: clauses }, () => {
    const conditions = clauses > 2 || random.chance(0.3) ? 2 + random.below(3) : 1;
    return Array.from({ length: conditions }, () => randomCondition(random, metrics));
  });
}

function randomSwitchThresholds(random: Random): { switchThresholds?: ReadonlyMap<number, number> } {
  if (!random.chance(0.2)) return {};
  return { switchThresholds: new Map([1, 2, 4097].map((id) => [id, randomThreshold(random)])) };
}

export interface RuleOptions {
  readonly kinds?: readonly DetectorKind[];
  readonly metrics?: readonly MetricName[];
  /** Most rules. Default 8. */
  readonly rules?: number;
  /** Leaves out what only hosts run: float averages, thresholds of single switches. Default false. */
  readonly dataPlane?: boolean;
}

const ALL_KINDS: readonly DetectorKind[] = [
  'noop',
  'perHop',
  'perFlow',
  'movingAverage',
  'threshold',
  'change',
  'pathChange',
  'complex',
];

export function randomDetector(random: Random, options: RuleOptions = {}): DetectorConfig {
  const metrics = options.metrics ?? REPORT_METRICS;
  const kind = random.pick(options.kinds ?? ALL_KINDS);
  // Rules share state if they name the same metric: half of them name the first.
  const metric = random.chance(0.5) ? metrics[0]! : random.pick(metrics);
  const threshold = randomThreshold(random);
  const switches = options.dataPlane ? {} : randomSwitchThresholds(random);
  switch (kind) {
    case 'noop':
    case 'pathChange':
      return { kind };
    case 'perHop':
      return { kind, metric, threshold, ...switches };
    case 'perFlow':
      return { kind, metric, threshold };
    case 'movingAverage':
      return options.dataPlane || random.chance(0.7)
        ? { kind, metric, threshold, weight: random.below(16) }
        : { kind, metric, threshold, alpha: random.pick([1, 0.5, 0.125, 0.001, 0.3]) };
    case 'threshold':
    case 'change':
      return random.chance(0.5)
        ? { kind, metric, threshold, scope: 'hop', ...switches }
        : { kind, metric, threshold, scope: 'endToEnd' };
    case 'complex':
      return { kind, expression: randomCnf(random, metrics) };
    default:
      throw new Error(`${kind} looks at time`);
  }
}

function randomSample(random: Random): Sample | null {
  if (!random.chance(0.25)) return null;
  if (random.chance(0.5)) return { oneIn: random.pick([1, 2, 3, 10, 1000, MAX32]) };
  return { everyNs: 1000 * random.pick([1, 10, 1000, 5000, 1_000_000]) };
}

/** A rule set whose priorities are all different, in random order. */
export function randomRules(random: Random, options: RuleOptions = {}): RuleSet {
  const count = 1 + random.below(options.rules ?? 8);
  const rules: Rule[] = [];
  const priorities = new Set<number>();
  while (priorities.size < count) {
    priorities.add(random.chance(0.1) ? random.word() | 0 : random.below(2000) - 1000);
  }
  for (const priority of priorities) {
    rules.push({
      name: `rule-${rules.length}`,
      priority,
      match: randomMatch(random),
      detector: randomDetector(random, options),
      sample: randomSample(random),
      adapt: null,
    });
  }
  return { rules, default: random.chance(0.5) ? 'report' : 'drop', adapt: null };
}
