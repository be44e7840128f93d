/** Rule look-ups: the classifier alone, the detector with its decisions cached, and a linear scan. */
import type { AcceleratorMemory, TelemetryBatch } from '@int/codec';
import { Classifier, Detector, EventBatch, type Match, type Prefix, type Rule } from '@int/detect';
import { Random } from '@int/random';
import { time } from './contenders.js';

const NO_RULE = -1;

/** How the 5-tuple of a packet becomes the match of a rule; shares in per cent. */
const KINDS: readonly (readonly [share: number, make: (flow: FlowWords, random: Random) => Partial<Match>])[] = [
  // One flow.
  [
    40,
    (flow) => ({
      protocol: flow.protocol,
      source: prefix(flow.source, 32),
      destination: prefix(flow.destination, 32),
      sourcePort: exact(flow.ports >>> 16),
      destinationPort: exact(flow.ports & 0xffff),
    }),
  ],
  // A pair of hosts.
  [15, (flow) => ({ source: prefix(flow.source, 32), destination: prefix(flow.destination, 32) })],
  // Subnets.
  [15, (flow, random) => ({ source: prefix(flow.source, 24 + random.integer(8)) })],
  [
    10,
    (flow, random) => ({
      source: prefix(flow.source, 20 + random.integer(9)),
      destination: prefix(flow.destination, 16 + random.integer(9)),
    }),
  ],
  // A service.
  [
    10,
    (flow) => ({
      protocol: flow.protocol,
      destination: prefix(flow.destination, 32),
      destinationPort: exact(flow.ports & 0xffff),
    }),
  ],
  // Port ranges.
  [
    10,
    (flow, random) => ({
      protocol: flow.protocol,
      destination: prefix(flow.destination, 28),
      sourcePort: around(flow.ports >>> 16, 1 << (4 + random.integer(6))),
    }),
  ],
];

interface FlowWords {
  readonly source: number;
  readonly destination: number;
  readonly ports: number;
  readonly protocol: number;
}

function prefix(address: number, length: number): Prefix {
  const mask = length === 0 ? 0 : (0xffffffff << (32 - length)) >>> 0;
  return { version: 4, words: [(address & mask) >>> 0], length };
}

function exact(port: number): { from: number; to: number } {
  return { from: port, to: port };
}

function around(port: number, width: number): { from: number; to: number } {
  const from = port & ~(width - 1);
  return { from, to: Math.min(0xffff, from + width - 1) };
}

/**
 * Rules made of the flows of a batch's reports, so that many reports match one: exact flows, host pairs, subnets,
 * services and port ranges. Priorities are distinct and in random order.
 */
function makeRules(count: number, batches: readonly TelemetryBatch[]): Rule[] {
  const random = new Random('rules').derive('mix', count);
  const priorities = random.shuffle(Array.from({ length: count }, (_, index) => index));
  return priorities.map((priority, index): Rule => {
    const batch = batches[random.integer(batches.length)]!;
    const row = random.integer(batch.reports);
    const flow: FlowWords = {
      source: batch.source0[row]!,
      destination: batch.destination0[row]!,
      ports: batch.ports[row]!,
      protocol: batch.protocol[row]!,
    };
    let pick = random.integer(100);
    const make = KINDS.find(([share]) => {
      pick -= share;
      return pick < 0;
    })![1];
    const match: Match = {
      protocol: null,
      source: null,
      destination: null,
      sourcePort: null,
      destinationPort: null,
      sourceMac: null,
      destinationMac: null,
      ...make(flow, random),
    };
    const detector = { kind: 'threshold', metric: 'hopLatency', threshold: 0xffffffff, scope: 'hop' } as const;
    return { name: `rule ${index}`, priority, match, detector, sample: null, adapt: null };
  });
}

/** A rule as a linear scan compares it: masks and ranges, numbers only. */
interface FlatRule {
  readonly slot: number;
  readonly protocol: number;
  readonly sourceMask: number;
  readonly source: number;
  readonly destinationMask: number;
  readonly destination: number;
  readonly sourceFrom: number;
  readonly sourceTo: number;
  readonly destinationFrom: number;
  readonly destinationTo: number;
}

/** Looks at the rules one by one, highest priority first. */
class LinearScan {
  readonly #rules: FlatRule[];

  constructor(rules: readonly Rule[]) {
    const mask = (of: Prefix | null): number => (of === null || of.length === 0 ? 0 : 0xffffffff << (32 - of.length));
    this.#rules = rules
      .map(({ match }, slot) => ({
        slot,
        priority: rules[slot]!.priority,
        protocol: match.protocol ?? -1,
        sourceMask: mask(match.source),
        source: (match.source?.words[0] ?? 0) | 0,
        destinationMask: mask(match.destination),
        destination: (match.destination?.words[0] ?? 0) | 0,
        sourceFrom: match.sourcePort?.from ?? 0,
        sourceTo: match.sourcePort?.to ?? 0xffff,
        destinationFrom: match.destinationPort?.from ?? 0,
        destinationTo: match.destinationPort?.to ?? 0xffff,
      }))
      .sort((a, b) => b.priority - a.priority);
  }

  lookup(batch: TelemetryBatch, row: number): number {
    const source = batch.source0[row]! | 0;
    const destination = batch.destination0[row]! | 0;
    const sourcePort = batch.ports[row]! >>> 16;
    const destinationPort = batch.ports[row]! & 0xffff;
    const protocol = batch.protocol[row]!;
    for (const rule of this.#rules) {
      if (
        (source & rule.sourceMask) === rule.source &&
        (destination & rule.destinationMask) === rule.destination &&
        (rule.protocol === -1 || rule.protocol === protocol) &&
        sourcePort >= rule.sourceFrom &&
        sourcePort <= rule.sourceTo &&
        destinationPort >= rule.destinationFrom &&
        destinationPort <= rule.destinationTo
      ) {
        return rule.slot;
      }
    }
    return NO_RULE;
  }
}

/** One way to decide which rule a report falls under; a pass returns nanoseconds per report. */
export interface RuleContender {
  readonly name: string;
  readonly pass: () => number;
}

export interface RuleRun {
  readonly contenders: readonly RuleContender[];
  /** Share of the reports that match some rule. */
  readonly matched: number;
  /** Hash tables that a look-up probes at most. */
  readonly probes: number;
}

/** Rules that all look at each report. */
const FEW_RULES = 10;

/** Look-ups that a linear scan over many rules is timed with. */
const SCANNED = 20_000_000;

/**
 * Makes the contenders, which must agree on the rule of every report.
 * @param batches in `memory`, for the accelerator
 */
export function ruleContenders(
  count: number,
  memory: AcceleratorMemory,
  batches: readonly TelemetryBatch[],
  turns: number,
): RuleRun {
  const rules = makeRules(count, batches);
  const classifier = new Classifier(count);
  rules.forEach(({ priority, match }, slot) => {
    classifier.insert(slot, priority, match);
  });
  const scan = new LinearScan(rules);
  const detector = new Detector({ rules, default: 'drop', adapt: null }, { memory });
  const single = Detector.of(rules[0]!.detector, { memory });
  // Every rule is compared with every report: so many rules at most.
  const all =
    count > FEW_RULES ? null : new Detector({ rules, default: 'drop', adapt: null, decide: 'all' }, { memory });
  const atSwitch = Detector.of(rules[0]!.detector, { memory });
  const nodeId = batches[0]!.hop.nodeId[0]!;
  const hops = { switches: [{ from: nodeId, to: nodeId }], queues: null, egressInterfaces: null };
  const first = atSwitch.rules()[0]!;
  atSwitch.replaceRule({ ...first, match: { ...first.match, hops } });
  const events = new EventBatch(batches[0]!.capacity.hops, memory.arena);
  const perRule = new Float64Array(count);
  let reports = 0;
  let matched = 0;
  for (const batch of batches) {
    for (let row = 0; row < batch.reports; row++) {
      const slot = classifier.lookup(batch, row, null, -1);
      if (slot !== scan.lookup(batch, row)) throw new Error(`${count} rules: the linear scan finds another rule`);
      reports++;
      if (slot === NO_RULE) continue;
      matched++;
      perRule[slot]!++;
    }
    detector.detect(batch, events);
  }
  const { byRule, unmatched } = detector.totals();
  const isSame = rules.every(({ name }, slot) => byRule.get(name)?.reports === perRule[slot]);
  if (!isSame || unmatched !== reports - matched) throw new Error(`${count} rules: the detector finds other rules`);

  let sink = 0;
  // A change of the rules makes the classifier forget the flows it remembers.
  const last = rules.length - 1;
  const forget = (): void => {
    classifier.remove(last);
    classifier.insert(last, rules[last]!.priority, rules[last]!.match);
  };
  const lookups = (
    lookup: (batch: TelemetryBatch, row: number) => number,
    times: number,
    rows: number,
    before?: () => void,
  ): number => {
    const nanoseconds = time(() => {
      for (let turn = 0; turn < times; turn++) {
        for (const batch of batches) {
          before?.();
          for (let row = 0; row < rows; row++) sink += lookup(batch, row);
        }
      }
    });
    if (sink === 0.5) throw new Error('unreachable');
    return nanoseconds / (times * batches.length * rows);
  };
  const detecting = (by: Detector): number =>
    time(() => {
      for (let turn = 0; turn < turns; turn++) for (const batch of batches) by.detect(batch, events);
    }) /
    (turns * reports);
  const size = batches[0]!.reports;
  const scanned = Math.max(8, Math.min(size, Math.floor(SCANNED / count / batches.length / 4)));
  return {
    matched: matched / reports,
    probes: classifier.shape().tables[0],
    contenders: [
      {
        name: 'classifier, new flows',
        pass: () => lookups((batch, row) => classifier.lookup(batch, row, null, -1), turns, size, forget),
      },
      {
        name: 'classifier, known flows',
        pass: () => lookups((batch, row) => classifier.lookup(batch, row, null, -1), turns, size),
      },
      { name: 'detector, known flows', pass: () => detecting(detector) },
      { name: 'detector, a single rule for all', pass: () => detecting(single) },
      { name: 'detector, a single rule for one switch', pass: () => detecting(atSwitch) },
      ...(all === null ? [] : [{ name: 'detector, decide: all', pass: () => detecting(all) }]),
      { name: 'linear scan', pass: () => lookups((batch, row) => scan.lookup(batch, row), 1, scanned) },
    ],
  };
}
