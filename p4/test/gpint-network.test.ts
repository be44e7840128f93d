import { gpintProbe } from '@int/codec';
import { gpintProbeExtended } from '@int/codec/internals';
import { ADDRESSES, type BuildOptions, type BuiltNetwork, buildNetwork } from '@int/netsim';
import { Random } from '@int/random';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  EVENTS,
  eventsOf,
  eventsOfModel,
  type P4Network,
  type Probed,
  p4Network,
  type Return,
  returnsOf,
} from './gpint-network.js';

const SEED = Number(process.env.INT_SEED ?? 20_261_121);
const RUNS = process.env.INT_LONG === '1' ? 300 : 5;
const US = 1000;
const MS = 1_000_000;
/** Of a pass back to the parser: small beside the delays of links. */
const PASS = 20 * US;

/** One SR entry: next port, first measurement, count. */
type Entry = readonly [number, number, number];

function probeOf(
  requestId: number,
  entries: readonly Entry[],
  isExtended: boolean,
  type: 'rule-hits' | 'port-packets',
): Uint8Array {
  return (isExtended ? gpintProbeExtended : gpintProbe).encode({
    requestId,
    type,
    route: entries.map(([nextPort, firstMeasurement, measurementCount]) => ({
      nextPort,
      firstMeasurement,
      measurementCount,
    })),
    switches: [],
    measurements: [],
  });
}

interface ProbePlan {
  readonly requestId: number;
  readonly type: 'rule-hits' | 'port-packets';
  /** Draws the walk. */
  readonly walk: number;
  readonly length: number;
  readonly first: number;
  readonly count: number;
  readonly gapNs: number;
}

interface Scenario {
  readonly switches: number;
  readonly chords: readonly (readonly [number, number])[];
  /** By link: directions that lose everything. */
  readonly lossy: readonly ('none' | 'ab' | 'ba' | 'both')[];
  readonly duplicating: boolean;
  readonly isExtended: boolean;
  readonly isInBand: boolean;
  readonly isRecovering: boolean;
  readonly probes: readonly ProbePlan[];
}

/** @param gap between probes, ns; @param most measurements asked of a switch */
const scenarios = (gap: fc.Arbitrary<number>, most: number): fc.Arbitrary<Scenario> =>
  fc.record({
    switches: fc.integer({ min: 2, max: 6 }),
    chords: fc.array(fc.tuple(fc.nat({ max: 5 }), fc.nat({ max: 5 })), { maxLength: 3 }),
    lossy: fc.array(
      fc.constantFrom('none' as const, 'none' as const, 'none' as const, 'ab' as const, 'ba' as const, 'both' as const),
      {
        minLength: 8,
        maxLength: 8,
      },
    ),
    // Of two probes that come at once, both are measured when both have been counted.
    duplicating: most === 0 ? fc.constantFrom(false, true) : fc.constant(false),
    isExtended: fc.boolean(),
    isInBand: fc.boolean(),
    isRecovering: fc.constantFrom(true, true, true, false),
    probes: fc.array(
      fc.record({
        requestId: fc.oneof(fc.nat({ max: 3 }), fc.nat({ max: 0x7fff })),
        type: fc.constantFrom('rule-hits' as const, 'port-packets' as const),
        walk: fc.nat(),
        length: fc.integer({ min: 1, max: 7 }),
        first: fc.oneof(fc.nat({ max: 3 }), fc.nat({ max: 255 })),
        count: fc.nat({ max: most }),
        gapNs: gap,
      }),
      { minLength: 1, maxLength: 6 },
    ),
  });

function optionsOf(scenario: Scenario): BuildOptions {
  const { switches, chords, lossy } = scenario;
  const pairs = new Map<string, [number, number]>();
  for (let i = 1; i < switches; i++) pairs.set(`${i - 1} ${i}`, [i - 1, i]);
  for (const [x, y] of chords) {
    const a = Math.min(x, y);
    const b = Math.max(x, y);
    if (a !== b && b < switches) pairs.set(`${a} ${b}`, [a, b]);
  }
  return {
    seed: 1,
    switches,
    links: [...pairs.values()],
    link: (index) => {
      const lost = lossy[index % lossy.length] ?? 'none';
      // Delays that differ, so that nothing that matters happens at one time in two places.
      return {
        delayNs: MS + index * 137_001,
        duplication: scenario.duplicating && index === 0 ? 1 : 0,
        aToB: { loss: lost === 'ab' || lost === 'both' ? 1 : 0 },
        bToA: { loss: lost === 'ba' || lost === 'both' ? 1 : 0 },
      };
    },
    gpint: { timeoutNs: 15 * MS, recovery: scenario.isRecovering },
    monitor: scenario.isInBand ? { entries: [0], link: { delayNs: 50_001 } } : {},
    hosts: { count: 2 },
    extended: scenario.isExtended,
  };
}

function entriesOf(built: BuiltNetwork, plan: ProbePlan, start: number): Entry[] {
  const random = new Random(plan.walk);
  const entries: Entry[] = [];
  for (let at = start, i = 1; i <= plan.length; i++) {
    const neighbours = built.neighbours[at] ?? [];
    const next = neighbours[random.integer(Math.max(1, neighbours.length))];
    const isEnd = i === plan.length || next === undefined;
    entries.push([isEnd ? 0 : built.portOf(at, next), plan.first, plan.count]);
    if (isEnd) break;
    at = next;
  }
  return entries;
}

/** Sends the probes of a scenario, and some traffic, and gives what comes home until all is still. */
function play(scenario: Scenario, net: Probed, built: BuiltNetwork): Return[] {
  const returns = returnsOf(net);
  let atNs = 0;
  for (const [index, plan] of scenario.probes.entries()) {
    atNs += plan.gapNs;
    const entry = scenario.isInBand ? 0 : plan.walk % scenario.switches;
    const payload = probeOf(plan.requestId, entriesOf(built, plan, entry), scenario.isExtended, plan.type);
    net.network.at(atNs, () => net.monitor.send(entry, payload));
    const datagram = { destination: ADDRESSES.host(1 - (index & 1)), sourcePort: 1, destinationPort: 9 };
    // Between probes, for the counters that they carry.
    net.network.at(atNs + 100 * MS, () => net.hosts[index & 1]?.send(datagram, new Uint8Array(8)));
  }
  net.network.run(atNs + 500 * MS);
  return returns;
}

const sorted = (returns: readonly Return[]): Return[] =>
  [...returns].sort((a, b) => (a.kind + a.bytes + a.port < b.kind + b.bytes + b.port ? -1 : 1) || a.timeNs - b.timeNs);

/** Queue depths are not the same: the input queue of a node there, the output queue of a port here. */
function withoutDepths(kind: Return['kind'], bytes: string, isExtended: boolean): string {
  if (kind === 'feedback') return bytes;
  const codec = isExtended ? gpintProbeExtended : gpintProbe;
  const { switches, ...rest } = codec.decode(Buffer.from(bytes, 'hex'), 0);
  const same = switches.map((each) => ({ ...each, queueDepth: 0 }));
  return Buffer.from(codec.encode({ ...rest, switches: same })).toString('hex');
}

function compare(scenario: Scenario): void {
  const options = optionsOf(scenario);
  const built = buildNetwork(options);
  const net = p4Network(options, PASS);
  const model = sorted(play(scenario, built, built));
  const machine = sorted(play(scenario, net, net.model));
  const plain = (returns: readonly Return[]): unknown =>
    returns.map(({ kind, bytes, port }) => ({ kind, port, bytes: withoutDepths(kind, bytes, scenario.isExtended) }));
  expect(plain(machine)).toEqual(plain(model));
  for (const [index, each] of net.switches.entries()) expect(eventsOf(each)).toEqual(eventsOfModel(built, index));
}

describe('a network of switches with gpint.p4', () => {
  // Networks of P4 switches, interpreted.
  it('brings home the same probes, feedback and notices, to the byte, where one probe at a time is on its way', () => {
    fc.assert(fc.property(scenarios(fc.constant(200 * MS), 20), compare), { seed: SEED, numRuns: RUNS });
  }, 180_000);

  // Networks of P4 switches, interpreted.
  it('does so with probes that overtake each other and share request ids', () => {
    fc.assert(fc.property(scenarios(fc.integer({ min: 1, max: 5 * MS }), 0), compare), { seed: SEED, numRuns: RUNS });
  }, 180_000);
});

const row = (count: number, more: Partial<BuildOptions> = {}): P4Network =>
  p4Network(
    {
      seed: 1,
      switches: count,
      links: Array.from({ length: count - 1 }, (_, i) => [i, i + 1]),
      link: { delayNs: MS },
      gpint: { timeoutNs: 10 * MS },
      ...more,
    },
    PASS,
  );

/** SR entries of a walk: the port towards the next switch, 0 at the end. */
const walk = ({ model }: P4Network, visits: readonly number[], count = 0): Entry[] =>
  visits.map((at, i) => [i + 1 < visits.length ? model.portOf(at, visits[i + 1] ?? 0) : 0, 0, count]);

const send = (net: P4Network, requestId: number, entries: readonly Entry[], entry = 0): void =>
  net.monitor.send(entry, probeOf(requestId, entries, false, 'port-packets'));

const summary = (returns: readonly Return[]): string[] =>
  returns.map(({ kind, bytes }) => `${kind} ${parseInt(bytes.slice(0, 4), 16) >> 1}`);

describe('a clone', () => {
  it('becomes a notice when its time is up, a few passes late', () => {
    const net = row(3);
    const returns = returnsOf(net);
    net.links[1]?.fail();
    send(net, 9, walk(net, [0, 1, 2], 1));
    net.network.run(1000 * MS);
    expect(summary(returns)).toEqual(['feedback 9', 'notice 9']);
    // 1 ms to switch 1, which waits 10 ms.
    const late = (returns[1]?.timeNs ?? 0) - 11 * MS;
    expect(late).toBeGreaterThan(0);
    expect(late).toBeLessThan(10 * PASS);
  });

  it('waits as long as its port asks for', () => {
    const net = row(3, { gpint: { timeoutNs: (port) => port * 7 * MS } });
    const returns = returnsOf(net);
    net.links[1]?.fail();
    send(net, 12, walk(net, [0, 1, 2]));
    net.network.run(1000 * MS);
    // Switch 1 is at port 2 of itself towards 2: it got the probe after 1 ms.
    expect(Math.floor((returns[1]?.timeNs ?? 0) / MS)).toBe(15);
  });

  it('is refused beyond the capacity, and where another request waits in its cell', () => {
    const net = row(2, { gpint: { timeoutNs: 10 * MS, cloneCapacity: 2 } });
    const returns = returnsOf(net);
    for (let i = 0; i < 3; i++) send(net, 30 + i, walk(net, [0, 1]));
    net.network.run(1000 * MS);
    expect(returns.filter(({ kind }) => kind === 'probe')).toHaveLength(3);
    const [first] = net.switches;
    if (first === undefined) throw new RangeError('no switch');
    expect(eventsOf(first)).toMatchObject({ probes: 3, clonesRefused: 1, feedbackMatched: 2, feedbackUnmatched: 1 });
    // 1024 ids on: the same cell.
    send(net, 5, walk(net, [0, 1]));
    send(net, 5 + 1024, walk(net, [0, 1]));
    net.network.run(2000 * MS);
    expect(eventsOf(first)).toMatchObject({ probes: 5, clonesRefused: 2, feedbackMatched: 3, feedbackUnmatched: 2 });
    expect(first.machine.register('clones_waiting').read(0)).toBe(0);
  });

  it('that is confirmed tells the round-trip time of its link', () => {
    const net = row(2);
    send(net, 1, walk(net, [0, 1]));
    net.network.run(100 * MS);
    const time = Number(net.switches[0]?.machine.register('round_trip_time').read(1));
    expect(time).toBeGreaterThanOrEqual(2000);
    expect(time).toBeLessThan(2000 + (10 * PASS) / US);
  });

  it('does not survive that its switch fails', () => {
    const net = row(3);
    const returns = returnsOf(net);
    net.links[1]?.fail();
    send(net, 14, walk(net, [0, 1, 2]));
    net.network.run(5 * MS);
    net.switchNodes[1]?.fail();
    net.switchNodes[1]?.repair();
    net.network.run(1000 * MS);
    expect(summary(returns)).toEqual(['feedback 14']);
  });
});

describe('a probe', () => {
  it('brings the depth that the queue of its port had last', () => {
    const net = row(2, { hosts: { count: 2 }, gpint: { recovery: false } });
    const [first] = net.switches;
    if (first === undefined) throw new RangeError('no switch');
    expect(first.machine.command('register_write queue_depth 1 300').status).toBe('done');
    const returns = returnsOf(net);
    send(net, 3, walk(net, [0, 1]));
    net.network.run(1000 * MS);
    // Request, no SR entries, two DLV headers: the first with switch 0 and a depth cut to 255.
    expect(returns[0]?.bytes.slice(0, 16)).toBe('00070000000200ff');
  });

  it('is forwarded by its address where the switch has no identity', () => {
    const net = row(1, { hosts: { count: 1 } });
    const [only] = net.switches;
    only?.machine.command('table_set_default GpintIngress.identity NoAction');
    const seen: string[] = [];
    net.monitor.onPayload = (payload) => void seen.push(Buffer.from(payload).toString('hex'));
    only?.machine.command('table_add GpintIngress.forward GpintIngress.route 10.0.0.1/32 => 0 5');
    send(net, 3, [[0, 0, 1]]);
    net.network.run(1000 * MS);
    // To the monitor's port, but not to its address.
    expect(seen).toEqual([]);
    expect(net.monitor.ignored).toBe(1);
    expect(only === undefined ? null : eventsOf(only)).toMatchObject({ forwarded: 1, probes: 0, completed: 0 });
    expect(EVENTS).toHaveLength(13);
  });
});
