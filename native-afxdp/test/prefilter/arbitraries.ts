import type { Flow, Hop } from '@int/codec';
import type { DetectorConfig, Match, MetricName, Prefix, RuleSet } from '@int/detect';
import fc from 'fast-check';
import type { Report } from './reports.js';
import { ANY, rule, ruleSet } from './rules.js';

const MAX32 = 0xffffffff;

/** Few switches: small ids, ids that share a cell with them, extreme ones. */
const SWITCHES = [0, 1, 2, 3, 8, 4096, 4097, 0x80000001, 0xfffff003, 0xfffffffe] as const;
/** Items of a hop and the largest value of each part. */
const ITEMS: readonly (readonly (readonly [field: MetricName, ones: number])[])[] = [
  [['hopLatency', MAX32]],
  [
    ['queueId', 0xff],
    ['queueOccupancy', 0xffffff],
  ],
  [
    ['l1IngressInterface', 0xffff],
    ['l1EgressInterface', 0xffff],
  ],
  [
    ['l2IngressInterface', MAX32],
    ['l2EgressInterface', MAX32],
  ],
  [['egressUtilization', MAX32]],
  [
    ['bufferId', 0xff],
    ['bufferOccupancy', 0xffffff],
  ],
  [['reserved9', MAX32]],
];
/** What rules watch; the first ones more often. */
const METRICS: readonly MetricName[] = [
  'hopLatency',
  'queueOccupancy',
  'l2EgressInterface',
  ...ITEMS.flat().map(([field]) => field),
  'nodeId',
];

const IPV4 = ['10.0.0.1', '10.0.0.2', '10.0.1.1', '10.255.255.255', '192.168.0.1', '255.255.255.255'] as const;
const IPV6 = ['2001:db8::1', '2001:db8::2', '2001:db8:1::1', 'fe80::ffff:ffff:ffff:ffff', '::'] as const;
const PORTS = [0, 1, 80, 443, 8080, 65535] as const;
const PROTOCOLS = [1, 6, 17, 58, 255] as const;

const MACS = [0x020000000001, 0x020000000002] as const;
const MAC_TEXTS = ['02:00:00:00:00:01', '02:00:00:00:00:02'] as const;

const flow: fc.Arbitrary<Flow> = fc
  .tuple(
    fc.oneof(
      fc.tuple(fc.constantFrom(...IPV4), fc.constantFrom(...IPV4)),
      fc.tuple(fc.constantFrom(...IPV6), fc.constantFrom(...IPV6)),
    ),
    fc.constantFrom(...PROTOCOLS),
    fc.constantFrom(...PORTS),
    fc.constantFrom(...PORTS),
  )
  .map(([[source, destination], protocol, sourcePort, destinationPort]) => {
    const hasPorts = protocol === 6 || protocol === 17;
    return {
      source,
      destination,
      protocol,
      sourcePort: hasPorts ? sourcePort : 0,
      destinationPort: hasPorts ? destinationPort : 0,
    };
  });

/** A value of a field of `ones`: mostly small and near to others, sometimes at the ends. */
function value(ones: number): fc.Arbitrary<number> {
  return fc.oneof(
    { weight: 5, arbitrary: fc.integer({ min: 0, max: 63 }) },
    { weight: 2, arbitrary: fc.constantFrom(1000, 1001, 1002).map((each) => Math.min(each, ones)) },
    { weight: 1, arbitrary: fc.integer({ min: ones - 2, max: ones }) },
    { weight: 1, arbitrary: fc.integer({ min: 0, max: ones }) },
  );
}

const nodeId = fc.oneof({ weight: 20, arbitrary: fc.constantFrom<(number | null)[]>(...SWITCHES) }, fc.constant(null));

/** A hop with these items, and a switch id if `named`. */
function hop(items: readonly number[], named: boolean): fc.Arbitrary<Hop> {
  const parts = items.map((index) => {
    const fields = ITEMS[index]!;
    const values = fc.tuple(...fields.map(([, ones]) => value(ones)));
    // Not available: the whole item is.
    return fc
      .oneof({ weight: 9, arbitrary: values }, fc.constant(fields.map(() => null)))
      .map((all) => Object.fromEntries(fields.map(([field], k) => [field, all[k] ?? null])));
  });
  return fc
    .tuple(named ? nodeId.map((id) => ({ nodeId: id })) : fc.constant({}), ...parts)
    .map((all) => Object.assign({}, ...all) as Hop);
}

/** Most hops of a random report; now and then there are more, up to 16. */
const FEW_HOPS = 6;

const report: fc.Arbitrary<Omit<Report, 'flow'>> = fc
  .record({
    items: fc.oneof(
      { weight: 3, arbitrary: fc.constant([0, 1, 3]) },
      { weight: 2, arbitrary: fc.subarray(ITEMS.map((_, index) => index)) },
    ),
    named: fc.integer({ min: 0, max: 9 }).map((n) => n > 0),
    many: fc.integer({ min: 0, max: 19 }).map((n) => n === 0),
    own: fc.option(fc.subarray([0, 1, 4, 5], { minLength: 1 }), { freq: 3 }),
    node: fc.constantFrom(...SWITCHES),
    ethernet: fc.record({ source: fc.constantFrom(...MAC_TEXTS), destination: fc.constantFrom(...MAC_TEXTS) }),
  })
  .chain(({ items, named, many, own, node, ethernet }) =>
    fc.record({
      hops: fc.array(hop(items, named || items.length === 0), { maxLength: many ? 16 : FEW_HOPS }),
      own: own === null ? fc.constant(null) : hop(own, false),
      nodeId: fc.constant(node),
      ethernet: fc.constant(ethernet),
    }),
  )
  .map(({ own, ...rest }) => (own === null ? rest : { ...rest, own }));

/** Reports of few flows, so that state builds up. */
export function reports(minLength: number, maxLength: number): fc.Arbitrary<Report[]> {
  return fc
    .tuple(
      fc.array(flow, { minLength: 1, maxLength: 8 }),
      fc.array(fc.tuple(report, fc.nat()), { minLength, maxLength, size: 'max' }),
    )
    .map(([flows, list]) => list.map(([each, pick]) => ({ ...each, flow: flows[pick % flows.length]! })));
}

/** Reports of a hop or two whose latencies are near to each other. */
export function calmReports(minLength: number, maxLength: number): fc.Arbitrary<Report[]> {
  const calm = (hops: readonly Hop[]): Hop[] =>
    hops.slice(0, 2).map((each) => (each.hopLatency == null ? each : { ...each, hopLatency: each.hopLatency % 64 }));
  return reports(minLength, maxLength).map((list) =>
    list.map(({ own: _, ...each }) => ({ ...each, hops: calm(each.hops) })),
  );
}

const threshold = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(0, 1, 5, 20, 50, 999) },
  { weight: 1, arbitrary: fc.constantFrom(0x7fffffff, 0x80000000, MAX32 - 1, MAX32) },
);
const metric = fc.constantFrom(...METRICS);
const scope = fc.constantFrom('hop', 'endToEnd');

/** A detector that the kernel has. */
export const detector: fc.Arbitrary<DetectorConfig> = fc.oneof(
  { weight: 1, arbitrary: fc.constant({ kind: 'noop' } as const) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('perHop'), metric, threshold }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('perFlow'), metric, threshold }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('movingAverage'),
      metric,
      threshold,
      weight: fc.integer({ min: 0, max: 15 }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('threshold'), metric, threshold, scope }) },
);

function words(text: string): number[] {
  if (text.includes('.')) return [text.split('.').reduce((sum, octet) => sum * 256 + Number(octet), 0)];
  const [head = '', tail = ''] = text.split('::');
  const groups = (part: string): number[] =>
    part === '' ? [] : part.split(':').map((each) => Number.parseInt(each, 16));
  const [front, back] = [groups(head), groups(tail)];
  const all = [...front, ...new Array<number>(8 - front.length - back.length).fill(0), ...back];
  return [0, 2, 4, 6].map((at) => all[at]! * 0x10000 + all[at + 1]!);
}

function prefix(addresses: readonly string[]): fc.Arbitrary<Prefix> {
  return fc
    .tuple(fc.constantFrom(...addresses), fc.constantFrom(0, 1, 8, 16, 24, 31, 32, 64, 127, 128))
    .map(([text, bits]) => {
      const all = words(text);
      const length = Math.min(bits, 32 * all.length);
      const kept = all.map((word, k) => {
        const ones = Math.min(32, Math.max(0, length - 32 * k));
        return ones === 0 ? 0 : (word & (MAX32 << (32 - ones))) >>> 0;
      });
      return { version: all.length === 1 ? 4 : 6, words: kept, length };
    });
}

const range = fc
  .tuple(fc.constantFrom(...PORTS), fc.constantFrom(...PORTS))
  .map(([a, b]) => ({ from: Math.min(a, b), to: Math.max(a, b) }));

const match: fc.Arbitrary<Match> = fc.constantFrom(IPV4, IPV6).chain((addresses) =>
  fc.record({
    protocol: fc.option(fc.constantFrom(...PROTOCOLS), { freq: 1 }),
    source: fc.option(prefix(addresses), { freq: 1 }),
    destination: fc.option(prefix(addresses), { freq: 1 }),
    sourcePort: fc.option(range, { freq: 1 }),
    destinationPort: fc.option(range, { freq: 1 }),
    sourceMac: fc.constant(null),
    destinationMac: fc.constant(null),
  }),
);

/** A detector that only user space has. */
const foreign: fc.Arbitrary<DetectorConfig> = fc.oneof(
  fc.constant({ kind: 'pathChange' } as const),
  fc.record({ kind: fc.constant('change'), metric, threshold, scope }),
  fc.record({ kind: fc.constant('movingAverage'), metric, threshold, alpha: fc.constantFrom(0.1, 0.5, 1) }),
  fc.record({
    kind: fc.constant('perHop'),
    metric,
    threshold,
    switchThresholds: fc.constant(new Map([[1, 5]])),
  }),
);

/** A detector with state of one metric, so that rules share it, and a threshold that {@link calmReports} cross now and then. */
const sharing: fc.Arbitrary<DetectorConfig> = fc.record({
  kind: fc.constantFrom('perHop', 'perFlow'),
  metric: fc.constant('hopLatency'),
  threshold: fc.constantFrom(20, 40),
});

/** Rules of all kinds, wide matches, and state that they share: what the plan has to keep apart. */
export const mixedRules: fc.Arbitrary<RuleSet> = fc
  .tuple(
    fc.array(
      fc.record({
        config: fc.oneof({ weight: 6, arbitrary: sharing }, { weight: 2, arbitrary: detector }, foreign),
        protocol: fc.constantFrom(1, 6, 17),
        sourceMac: fc.oneof({ weight: 3, arbitrary: fc.constant(null) }, fc.constantFrom(...MACS)),
        sample: fc.oneof({ weight: 3, arbitrary: fc.constant(null) }, fc.constant({ oneIn: 2 })),
      }),
      { minLength: 1, maxLength: 4 },
    ),
    sharing,
    fc.constantFrom('report', 'drop'),
  )
  .map(([some, last, otherwise]) =>
    ruleSet(
      [
        ...some.map(({ config, protocol, sourceMac, sample }, n) =>
          rule(`rule ${n}`, config, {
            priority: 10 - n,
            match: { ...ANY, protocol, sourceMac },
            sample,
          }),
        ),
        rule('rest', last),
      ],
      otherwise,
    ),
  );

/** Rules of the kernel's detectors, the lowest often one that matches everything. */
export const rules: fc.Arbitrary<RuleSet> = fc
  .tuple(
    fc.array(fc.tuple(detector, match), { maxLength: 5 }),
    fc.option(detector, { freq: 4 }),
    fc.constantFrom('report', 'drop'),
  )
  .map(([some, last, otherwise]) =>
    ruleSet(
      [
        ...some.map(([each, which], n) => rule(`rule ${n}`, each, { priority: 10 - n, match: which })),
        ...(last === null ? [] : [rule('rest', last)]),
      ],
      otherwise,
    ),
  );
