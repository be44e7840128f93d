/** Switches with intmon.p4: what the compiler has them do, on the real program. */
import { decodeFrame } from '@int/codec';
import {
  type Compiled,
  compile,
  type FlowMatch,
  type Intent,
  type NetworkModel,
  overheadOf,
  planChanges,
  readIntents,
  Twin,
} from '@int/control';
import { WATCH_FIELDS, type WatchField } from '@int/control/internals';
import { udpFrame } from '@int/netsim';
import type { TopologySpec } from '@int/network';
import type { TableEntry } from '@int/p4runtime';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../../.ci/test/length.js';
import { addressOf, Fabric, leafSpine, modelOf, numberOf, programNamed, type Trip, topologyOf } from './fabric.js';

const SEED = Number(process.env.INT_SEED ?? 20_261_129);
const NOW = 1_000_000;
const UDP = 17;
const local = programNamed('intmon');
const terms = (id: string, priority = 100) => ({ id, owner: 'test', priority, fromMs: 0, ttlMs: null, reason: '' });
const watch = (id: string, match: FlowMatch, more: object = {}, priority = 100): Intent => ({
  ...terms(id, priority),
  kind: 'watch',
  match: { protocol: UDP, ...match },
  instructions: 0xf000,
  oneIn: 1,
  ...more,
});
const named = (id: string, match: FlowMatch, fields: readonly WatchField[], more: object = {}): Intent =>
  readIntents([{ ...terms(id), kind: 'watch', match: { protocol: UDP, ...match }, fields, oneIn: 1, ...more }])[0]!;

const frame = (from: number, to: number, sourcePort = 5000, destinationPort = 80): Uint8Array =>
  udpFrame(
    { source: numberOf(addressOf(from)), destination: numberOf(addressOf(to)), sourcePort, destinationPort },
    new Uint8Array(84),
  );

function networkOf(spec: TopologySpec = leafSpine(2, 2, 4), others: Parameters<typeof modelOf>[1] = {}): NetworkModel {
  const ids = Object.keys(spec.switches!).map(Number);
  return modelOf(spec, { programs: Object.fromEntries(ids.map((id) => [id, 'intmon'])), ...others });
}

function fabricWith(intents: readonly Intent[], network = networkOf()): Fabric {
  const { desired, conflicts, unplaced } = compile(network, intents, NOW);
  expect(conflicts).toEqual([]);
  expect(unplaced).toEqual([]);
  const fabric = new Fabric(network);
  fabric.install(desired);
  return fabric;
}

const entries = ({ desired }: Compiled, switchId: number, table: string): TableEntry[] =>
  desired
    .get(switchId)!
    .flatMap(({ entity }) => (entity.kind === 'table-entry' && entity.table === table ? [entity] : []));

const hopsOf = ({ copies }: Trip) => copies.map((copy) => decodeFrame(copy, { profile: 'intmon' })[0]!.hops);

describe('routes of intmon.p4', () => {
  it('lead to every host over one of the shortest ways, the same for all packets to it', () => {
    const network = networkOf(leafSpine(3, 2, 12));
    const fabric = fabricWith([], network);
    const spines = new Set<number>();
    for (let to = 0; to < 12; to++) {
      const paths = new Set([1, 2, 3, 4].map((port) => fabric.send('h0', frame(0, to, port)).path.join()));
      expect(paths.size).toBe(1);
      const trip = fabric.send('h0', frame(0, to));
      expect(trip.deliveredTo).toEqual([`h${to}`]);
      expect(trip.path.length).toBe(to % 3 === 0 ? 1 : 3);
      if (trip.path.length === 3) spines.add(trip.path[1]!);
    }
    // One way for each destination, not for all.
    expect([...spines].sort()).toEqual([101, 102]);
  });

  it('change for no destination whose way is still there when a link fails', () => {
    const spec = leafSpine(2, 3, 24);
    const before = compile(networkOf(spec), [], NOW);
    const after = compile(networkOf(spec, { failed: ['1:1'] }), [], NOW);
    const portsOf = (compiled: Compiled) =>
      new Map(
        entries(compiled, 1, 'IntmonIngress.forward_ipv4').map(({ match, action }) => [
          JSON.stringify(match, (_, each) => (typeof each === 'bigint' ? `${each}` : each)),
          action !== undefined && 'params' in action ? Number(action.params.port) : null,
        ]),
      );
    const now = portsOf(after);
    let moved = 0;
    for (const [prefix, port] of portsOf(before)) {
      if (port === 1) moved++;
      else expect(now.get(prefix)).toBe(port);
      expect(now.get(prefix)).not.toBe(1);
    }
    expect(moved).toBeGreaterThan(0);
  });

  it('keep away from a link that is avoided', () => {
    const avoid: Intent = { ...terms('a'), kind: 'avoid', link: { switchId: 1, port: 1 } };
    const fabric = fabricWith([avoid], networkOf(leafSpine(2, 2, 8)));
    for (let to = 1; to < 8; to += 2) expect(fabric.send('h0', frame(0, to)).path).toEqual([1, 102, 2]);
  });
});

describe('watch rules of intmon.p4', () => {
  it('have exactly the fields that were named, and hosts get the packets as they were', () => {
    const all = Object.keys(WATCH_FIELDS) as WatchField[];
    const of: Readonly<Record<WatchField, string>> = {
      switchId: 'nodeId',
      ingressPort: 'l1IngressInterface',
      hopLatency: 'hopLatency',
      queueOccupancy: 'queueOccupancy',
      ingressTimestamp: 'ingressTimestamp',
      egressPort: 'l1EgressInterface',
      congestionStatus: 'queueCongestion',
      egressUtilization: 'egressUtilization',
    };
    for (const fields of [
      ...all.map((each) => [each]),
      ['switchId', 'egressPort', 'hopLatency'] as WatchField[],
      all,
    ]) {
      const fabric = fabricWith([named('w', { destinationPort: [80, 80] }, fields)]);
      const packet = frame(0, 1);
      const trip = fabric.send('h0', packet);
      expect(trip.frames).toEqual([packet]);
      const [hops] = hopsOf(trip);
      expect(hops).toHaveLength(3);
      for (const hop of hops!) expect(Object.keys(hop).sort()).toEqual(fields.map((each) => of[each]).sort());
      expect(fabric.send('h0', frame(0, 1, 5000, 81)).copies).toEqual([]);
    }
  });

  it('have of instructions what they mean for IntMon', () => {
    const [hops] = hopsOf(fabricWith([watch('w', {})]).send('h0', frame(0, 1)));
    const { hopLatency, queueOccupancy, ...rest } = hops![0]!;
    expect(rest).toEqual({ nodeId: 1, l1IngressInterface: 3, l1EgressInterface: expect.any(Number) });
    expect([hopLatency, queueOccupancy]).toEqual([expect.any(Number), expect.any(Number)]);
  });

  it('take one packet of n of each flow, wherever it enters', () => {
    const fabric = fabricWith([watch('w', {}, { oneIn: 4 })]);
    for (const [from, to] of [
      [0, 1],
      [1, 0],
      [2, 0],
    ] as const) {
      const seen = Array.from({ length: 12 }, () => hopsOf(fabric.send(`h${from}`, frame(from, to))));
      expect(seen.map((copies) => copies.length)).toEqual([1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0]);
      // Whoever is watched is so from the first switch on.
      for (const [hops] of seen) if (hops !== undefined) expect(hops[0]?.nodeId).toBe(1 + (from % 2));
    }
  });

  it('see what a rule of higher priority says, and ranges of ports to the last one', () => {
    const fabric = fabricWith([
      watch('wide', { destinationPort: [1000, 4999] }, { instructions: 0x8000 }),
      watch('narrow', { source: '10.0.0.1', destinationPort: [2000, 2010] }, { instructions: 0x2000 }, 200),
    ]);
    const keysAt = (port: number) =>
      hopsOf(fabric.send('h0', frame(0, 1, 7, port))).map((hops) => Object.keys(hops[0]!));
    for (const port of [1000, 1999, 2011, 4999]) expect(keysAt(port)).toEqual([['nodeId']]);
    for (const port of [2000, 2007, 2010]) expect(keysAt(port)).toEqual([['hopLatency']]);
    for (const port of [0, 999, 5000, 65_535]) expect(keysAt(port)).toEqual([]);
  });

  it('watch a protected destination, below what people watch', () => {
    const protect: Intent = { ...terms('p'), kind: 'protect', destination: '10.0.1.1', level: 3 };
    const person = watch('w', { destinationPort: [81, 81] }, { instructions: 0x8000 });
    const { unplaced, desired } = compile(networkOf(), [protect, person], NOW);
    expect(unplaced).toMatchObject([{ intent: 'p', code: 'PARTLY', message: expect.stringContaining('UDP alone') }]);
    const fabric = new Fabric(networkOf());
    fabric.install(desired);
    const keysAt = (port: number) => Object.keys(hopsOf(fabric.send('h0', frame(0, 1, 5, port)))[0]![0]!);
    expect(keysAt(80)).toHaveLength(7);
    expect(keysAt(81)).toEqual(['nodeId']);
  });

  it('cost what the formula says, byte by byte: B = P x (12 + 4 N F) x 8', () => {
    const fields = ['switchId', 'hopLatency', 'queueOccupancy'] as const;
    const fabric = fabricWith(
      [named('w', { destinationPort: [7, 7] }, fields)],
      networkOf(
        topologyOf(
          [1, 2, 3],
          [
            [1, 2],
            [2, 3],
          ],
          [1, 3],
        ),
      ),
    );
    const added = new Map<string, number>();
    let copied = 0;
    const pairs = 50;
    for (let i = 0; i < 2 * pairs; i++) {
      // Two equal flows; one of them is watched.
      const packet = frame(0, 1, 5, i % 2 === 0 ? 7 : 8);
      expect(packet.length).toBe(126);
      const { links, lengths, copies } = fabric.send('h0', packet);
      for (const [k, link] of links.entries()) added.set(link, (added.get(link) ?? 0) + 8 * (lengths[k]! - 126));
      for (const copy of copies) copied += 8 * (copy.length - 126);
    }
    const header = { kind: 'intmon', fields: 3 } as const;
    const links = ['1:1', '2:2', 'copies'];
    const { links: predicted } = overheadOf([{ name: 'w', packetsPerSecond: pairs, oneIn: 1, header, links }]);
    expect([added.get('1:1'), added.get('2:2'), copied]).toEqual(links.map((link) => predicted.get(link)));
    // The host gets none of it.
    expect(added.get('3:2')).toBe(0);
    expect(copied).toBe(pairs * (12 + 4 * 3 * 3) * 8);
  });
});

describe('the twin of intmon.p4', () => {
  it('says what a watch rule will put on each link, with its fields and its sampling', () => {
    const network = networkOf(
      topologyOf(
        [1, 2, 3],
        [
          [1, 2],
          [2, 3],
        ],
        [1, 3],
      ),
    );
    const before = compile(network, [], NOW).desired;
    const found = new Map([...before].map(([id, list]) => [id, list.map(({ entity }) => entity)]));
    const twin = new Twin({ intmon: local.program });
    const flow = { source: addressOf(0), destination: addressOf(1), protocol: UDP, sourcePort: 5, destinationPort: 7 };
    const minute = { flows: [{ ...flow, packets: 6000, bytes: 6000 * 126, path: [] }], seconds: 60 };
    for (const oneIn of [1, 10]) {
      const { desired } = compile(network, [named('w', {}, ['switchId', 'hopLatency'], { oneIn })], NOW);
      const { plan } = planChanges(desired, found, { switches: network.switches });
      const { isSafe, violations, loads } = twin.rehearse(network, before, plan, minute, {
        linkLoad: 0.8,
        mayDrop: [],
      });
      expect([isSafe, violations]).toEqual([true, []]);
      const header = { kind: 'intmon', fields: 2 } as const;
      const { links } = overheadOf([{ name: 'w', packetsPerSecond: 100, oneIn, header, links: ['1:1', '2:2'] }]);
      for (const [link, bps] of links) {
        expect(loads.get(link)!.afterBps - loads.get(link)!.beforeBps).toBeCloseTo(bps, 6);
      }
      expect(loads.get('3:2')).toMatchObject({ beforeBps: 100 * 126 * 8, afterBps: 100 * 126 * 8 });
    }
  });

  it('is not there for switches whose program it was not given', () => {
    const network = networkOf();
    const rehearse = () =>
      new Twin({ int: programNamed('int').program }).rehearse(
        network,
        new Map(),
        [],
        { flows: [], seconds: 60 },
        { linkLoad: 1, mayDrop: [] },
      );
    expect(rehearse).toThrow(RangeError);
  });
});

describe('what intmon.p4 cannot do', () => {
  const refusals = (intents: readonly Intent[], network = networkOf(), options = {}) =>
    compile(network, intents, NOW, options).unplaced.map(({ intent, code, message }) => [intent, code, message]);

  it.each([
    [{ ...terms('b'), kind: 'block', match: { source: '10.0.0.1' }, reportOneIn: 1 }, 'neither drops nor bounds'],
    [{ ...terms('l'), kind: 'limit', match: { source: '10.0.0.1' }, bitsPerSecond: 1e6 }, 'neither drops nor bounds'],
    [{ ...terms('p'), kind: 'path', match: { destination: '10.0.1.1' }, via: [1, 101, 2] }, 'by their routes alone'],
    [
      {
        ...terms('d'),
        kind: 'detect',
        match: {},
        metric: 'hopLatency',
        algorithm: 'threshold',
        scope: 'hop',
        target: 1,
      },
      'no detectors',
    ],
    [watch('t', { protocol: 6 }), 'UDP alone'],
    [watch('e', {}, { instructions: 0x8680 }), 'no egress timestamp, no level 2 interfaces, no buffer occupancy'],
    [watch('n', {}, { instructions: 0x0001 }), 'none of this'],
  ] as [Intent, string][])('is refused by name: %j', (intent, why) => {
    expect(refusals([intent])).toEqual([
      [intent.id, 'NOT_SUPPORTED', expect.stringMatching(new RegExp(`^switch \\d+ runs intmon\\.p4, .*${why}`))],
    ]);
    const without = compile(networkOf(), [], NOW).desired;
    expect(compile(networkOf(), [intent], NOW).desired).toEqual(without);
  });

  it('is to lay ways over the routes of somebody else', () => {
    const avoid: Intent = { ...terms('a'), kind: 'avoid', link: { switchId: 1, port: 1 } };
    const options = { routes: 'external' } as const;
    expect(refusals([avoid], networkOf(), options)).toEqual([['a', 'NOT_SUPPORTED', expect.any(String)]]);
  });

  it('is said of flows of other protocols, while those of UDP are watched', () => {
    expect(refusals([{ ...terms('w'), kind: 'watch', match: {}, instructions: 0x8000, oneIn: 1 }])).toEqual([
      ['w', 'PARTLY', expect.stringContaining('UDP alone')],
    ]);
  });

  it('is to be known by an id of more than 31 bits', () => {
    const spec = topologyOf([1, 0x8000_0000], [[1, 0x8000_0000]], [1, 0x8000_0000]);
    expect(refusals([watch('w', {})], networkOf(spec))).toContainEqual(['w', 'NO_ID', expect.any(String)]);
  });
});

describe('int.p4 and intmon.p4 in one network', () => {
  const spec = leafSpine(2, 1, 4);

  it('the edge decides what telemetry is; a spine of the other program passes it on, and is not in it', () => {
    const monitored = modelOf(spec, { programs: { 1: 'intmon', 2: 'intmon' } });
    const fabric = fabricWith([watch('w', {})], monitored);
    const packet = frame(0, 1);
    const trip = fabric.send('h0', packet);
    expect(trip.path).toEqual([1, 101, 2]);
    expect(trip.frames).toEqual([packet]);
    expect(hopsOf(trip)[0]!.map(({ nodeId }) => nodeId)).toEqual([1, 2]);

    const other = fabricWith([watch('w', {})], modelOf(spec, { programs: { 101: 'intmon' } }));
    const passed = other.send('h0', packet);
    expect(passed.frames).toEqual([packet]);
    expect(passed.reports).toHaveLength(1);
    const [report] = decodeFrame(passed.reports[0]!);
    expect(report!.hops.map(({ nodeId }) => nodeId)).toEqual([1, 2]);
  });

  it('a watch is refused by name whose INT would leave by a switch that does not read it', () => {
    const mixed = modelOf(spec, { programs: { 2: 'intmon' } });
    const { unplaced } = compile(
      mixed,
      [watch('w', {}), watch('x', { source: addressOf(0), destination: addressOf(2) }, {}, 7)],
      NOW,
    );
    expect(unplaced).toMatchObject([
      { intent: 'w', code: 'MIXED_PROGRAMS', message: expect.stringContaining('intmon.p4') },
    ]);
  });

  it('flows that stay among switches of one program are watched by it', () => {
    const mixed = modelOf(spec, { programs: { 2: 'intmon' } });
    const fabric = fabricWith(
      [
        watch('here', { source: addressOf(0), destination: addressOf(2) }),
        watch('there', { source: addressOf(1), destination: addressOf(3) }, {}, 101),
      ],
      mixed,
    );
    const [here, there] = [frame(0, 2), frame(1, 3)];
    const of = [fabric.send('h0', here), fabric.send('h1', there), fabric.send('h0', frame(0, 1))] as const;
    expect(of.map(({ reports, copies }) => [reports.length, copies.length])).toEqual([
      [1, 0],
      [0, 1],
      [0, 0],
    ]);
    expect([of[0].frames, of[1].frames, of[2].frames]).toEqual([[here], [there], [frame(0, 1)]]);
  });

  it('a path over both is refused, and blocks are placed where they can be', () => {
    const mixed = modelOf(leafSpine(2, 2, 4), { programs: { 101: 'intmon' } });
    const path = (id: string, via: readonly number[]): Intent => ({
      ...terms(id),
      kind: 'path',
      match: { source: addressOf(id === 'p' ? 0 : 2), destination: addressOf(1) },
      via,
    });
    const block: Intent = { ...terms('b'), kind: 'block', match: { source: addressOf(3) }, reportOneIn: 1 };
    const { unplaced } = compile(mixed, [path('p', [1, 101, 2]), path('q', [1, 102, 2]), block], NOW);
    expect(unplaced).toMatchObject([{ intent: 'p', switchId: 101, code: 'NOT_SUPPORTED' }]);
  });
});

describe('the tables of intmon.p4, whatever the intents', () => {
  const side = fc.option(
    fc.tuple(fc.nat({ max: 3 }), fc.constantFrom(16, 24, 32)).map(([host, length]) => `${addressOf(host)}/${length}`),
    { nil: undefined, freq: 1 },
  );
  const ports = fc.option(
    fc.tuple(fc.nat({ max: 40 }), fc.nat({ max: 40 })).map(([a, b]) => [Math.min(a, b), Math.max(a, b)] as const),
    { nil: undefined, freq: 1 },
  );
  const wishes = fc.array(
    fc.record({
      priority: fc.integer({ min: 1, max: 3 }),
      source: side,
      destination: side,
      sourcePort: ports,
      destinationPort: ports,
      fields: fc.uniqueArray(fc.constantFrom(...(Object.keys(WATCH_FIELDS) as WatchField[])), { minLength: 1 }),
      oneIn: fc.constantFrom(1, 1, 3),
    }),
    { minLength: 1, maxLength: 5 },
  );
  const intentsOf = (list: readonly { priority: number; fields: readonly WatchField[]; oneIn: number }[]) =>
    readIntents(
      list.map(({ priority, fields, oneIn, ...match }, index) =>
        JSON.parse(
          JSON.stringify({
            ...terms(`i${index}`, priority),
            kind: 'watch',
            match: { protocol: UDP, ...match },
            fields,
            oneIn,
          }),
        ),
      ),
    );
  const network = networkOf();

  it('depend on the intents alone, not on their order; each rule has a priority of its own', () => {
    fc.assert(
      fc.property(wishes, fc.nat(), (list, turn) => {
        const intents = intentsOf(list);
        const other = intents.map((_, index) => intents[(index + turn) % intents.length]!).reverse();
        const compiled = compile(network, intents, NOW);
        expect(compile(network, other, NOW)).toEqual(compiled);
        for (const switchId of network.switches.keys()) {
          for (const family of [4, 6]) {
            const rules = entries(compiled, switchId, `IntmonIngress.watch_ipv${family}`);
            expect(new Set(rules.map(({ priority }) => priority)).size).toBe(rules.length);
          }
        }
      }),
      { seed: SEED, numRuns: runs(60) },
    );
  });

  it('watch what the intents say, with the fields of the one that wins, and nothing else', () => {
    const packet = fc.record({
      from: fc.nat({ max: 3 }),
      to: fc.nat({ max: 3 }),
      sourcePort: fc.nat({ max: 41 }),
      destinationPort: fc.nat({ max: 41 }),
    });
    let watched = 0;
    fc.assert(
      fc.property(wishes, fc.array(packet, { minLength: 4, maxLength: 8 }), (list, packets) => {
        const intents = intentsOf(list.map((each) => ({ ...each, oneIn: 1 })));
        const { desired, conflicts } = compile(network, intents, NOW);
        const refused = new Set(conflicts.map((each) => each.refused));
        const fabric = new Fabric(network);
        fabric.install(desired);
        for (const each of packets.filter(({ from, to }) => from !== to)) {
          const matching = intents.filter((intent) => !refused.has(intent.id) && isMatched(intent, each));
          const [best] = matching.sort((a, b) => b.priority - a.priority);
          const bytes = frame(each.from, each.to, each.sourcePort, each.destinationPort);
          const trip = fabric.send(`h${each.from}`, bytes);
          expect(trip.frames).toEqual([bytes]);
          const instructions = trip.copies.map((copy) => {
            const [record] = decodeFrame(copy, { profile: 'intmon' });
            return record?.int?.mode === 'md' ? record.int.instructionBitmap >>> 8 : null;
          });
          if (best !== undefined) watched++;
          expect(instructions).toEqual(best?.kind === 'watch' ? [bitsOf(best.fields!)] : []);
        }
      }),
      { seed: SEED, numRuns: runs(25) },
    );
    expect(watched).toBeGreaterThan(runs(25));
  });

  it('are entities as a switch answers them', () => {
    const fabric = new Fabric(network);
    const { desired } = compile(network, intentsOf([{ priority: 1, fields: ['switchId'], oneIn: 3 }]), NOW);
    expect(local.p4info).toBe(network.switches.get(1)!.p4info);
    for (const { entity } of desired.get(1)!) expect(fabric.switches.get(1)!.normal(entity)).toEqual(entity);
  });
});

const bitsOf = (fields: readonly WatchField[]): number =>
  fields.reduce((sum, each) => sum | WATCH_FIELDS[each].intmon, 0);

function isMatched(
  intent: Intent,
  { from, to, ...packet }: { from: number; to: number; sourcePort: number; destinationPort: number },
): boolean {
  if (intent.kind !== 'watch') return false;
  const { source, destination, sourcePort = [0, 65_535], destinationPort = [0, 65_535] } = intent.match;
  const isIn = (text: string | undefined, host: number): boolean => {
    if (text === undefined) return true;
    const [address = '', length = '32'] = text.split('/');
    const mask = (-1 << (32 - Number(length))) >>> 0;
    return (numberOf(address) & mask) === (numberOf(addressOf(host)) & mask);
  };
  const has = ([low, high]: readonly [number, number], port: number): boolean => low <= port && port <= high;
  return (
    isIn(source, from) &&
    isIn(destination, to) &&
    has(sourcePort, packet.sourcePort) &&
    has(destinationPort, packet.destinationPort)
  );
}
