import { type Compiled, compile, type FlowMatch, type Intent } from '@int/control';
import { udpFrame } from '@int/netsim';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../../.ci/test/length.js';
import { addressOf, Fabric, modelOf, numberOf, topologyOf } from './fabric.js';

const SEED = Number(process.env.INT_SEED ?? 20_261_128);
const NOW = 1_000_000;
const PORTS = [1, 2, 3, 4];

interface World {
  readonly switches: readonly number[];
  readonly links: readonly (readonly [number, number])[];
  /** Switch of each host. */
  readonly hosts: readonly number[];
  /** Indexes of links. */
  readonly failed: readonly number[];
}

/** A connected graph, its links in two directions, with hosts; some links, not of the tree, have failed. */
const world: fc.Arbitrary<World> = fc
  .record({
    size: fc.integer({ min: 2, max: 6 }),
    tree: fc.array(fc.nat({ max: 1000 }), { minLength: 6, maxLength: 6 }),
    more: fc.array(fc.tuple(fc.nat({ max: 5 }), fc.nat({ max: 5 })), { maxLength: 7 }),
    hosts: fc.array(fc.nat({ max: 5 }), { minLength: 2, maxLength: 4 }),
    failed: fc.array(fc.nat({ max: 20 }), { maxLength: 2 }),
  })
  .map(({ size, tree, more, hosts, failed }) => {
    const id = (index: number): number => 11 + (index % size);
    const switches = Array.from({ length: size }, (_, k) => 11 + k);
    const grown = switches.slice(1).map((each, k) => [each, 11 + (tree[k]! % (k + 1))] as const);
    const extra = more.map(([a, b]) => [id(a), id(b)] as const).filter(([a, b]) => a !== b);
    return {
      switches,
      links: [...grown, ...extra],
      hosts: hosts.map(id),
      failed: [...new Set(failed.filter((k) => k < extra.length).map((k) => grown.length + k))],
    };
  });

const side = fc.option(
  fc
    .tuple(fc.nat({ max: 3 }), fc.constantFrom(8, 16, 22, 23, 24, 32))
    .map(([host, length]) => `${addressOf(host)}/${length}`),
  { nil: undefined, freq: 2 },
);
const ports = fc.option(
  fc
    .tuple(fc.constantFrom(...PORTS), fc.constantFrom(...PORTS))
    .map(([a, b]) => [Math.min(a, b), Math.max(a, b)] as const),
  { nil: undefined, freq: 1 },
);
const match: fc.Arbitrary<FlowMatch> = fc
  .record({
    source: side,
    destination: side,
    protocol: fc.constantFrom(undefined, 17, 17, 17, 6),
    sourcePort: ports,
    destinationPort: ports,
  })
  .map((each) => JSON.parse(JSON.stringify(each)) as FlowMatch);

type Draft = { readonly kind: string } & Record<string, unknown>;
const wish: fc.Arbitrary<Draft> = fc.oneof(
  fc.record({
    kind: fc.constant('watch'),
    match,
    instructions: fc.constantFrom(0x8000, 0xf000, 0xff80),
    oneIn: fc.constant(1),
  }),
  fc.record({ kind: fc.constant('block'), match, reportOneIn: fc.constantFrom(0, 1) }),
  fc.record({
    kind: fc.constant('path'),
    match: fc.oneof(fc.constant({}), match),
    walk: fc.array(fc.nat({ max: 5 }), { minLength: 1, maxLength: 4 }),
  }),
  fc.record({ kind: fc.constant('avoid'), link: fc.nat({ max: 12 }) }),
);

const terms = (index: number, priority: number) => ({
  id: `i${index}`,
  owner: 'test',
  priority,
  fromMs: index,
  ttlMs: null,
  reason: '',
});

/** Wishes as intents of this world. */
function intentsOf(
  { switches, links, hosts }: World,
  wishes: readonly { wish: Draft; priority: number }[],
): readonly Intent[] {
  const spec = topologyOf(switches, links, []);
  return wishes.flatMap(({ wish: each, priority }, index): Intent[] => {
    const base = terms(index, priority);
    if (each.kind === 'avoid') {
      const [a] = links[(each.link as number) % links.length]!;
      const which = links.slice(0, (each.link as number) % links.length).filter((link) => link.includes(a)).length;
      return [
        {
          ...base,
          kind: 'avoid',
          link: { switchId: a, port: Number(Object.keys(spec.switches![a]!.ports!)[which]) },
        } as Intent,
      ];
    }
    if (each.kind === 'path') {
      // Along links, without coming back.
      const via = [hosts[(each.walk as number[])[0]! % hosts.length]!];
      for (const turn of (each.walk as number[]).slice(1)) {
        const at = via.at(-1)!;
        const next = links
          .flatMap(([a, b]) => (a === at ? [b] : b === at ? [a] : []))
          .filter((id) => !via.includes(id));
        if (next.length > 0) via.push(next[turn % next.length]!);
      }
      return [{ ...base, kind: 'path', match: each.match as FlowMatch, via }];
    }
    return [{ ...base, ...each } as unknown as Intent];
  });
}

interface Packet {
  readonly from: number;
  readonly to: number;
  readonly sourcePort: number;
  readonly destinationPort: number;
}

function isIn(text: string | undefined, host: number): boolean {
  if (text === undefined) return true;
  const [address = '', length = '32'] = text.split('/');
  const mask = Number(length) === 0 ? 0 : (-1 << (32 - Number(length))) >>> 0;
  return (numberOf(address) & mask) === (numberOf(addressOf(host)) & mask);
}

const matches = (flow: FlowMatch, packet: Packet): boolean =>
  isIn(flow.source, packet.from) &&
  isIn(flow.destination, packet.to) &&
  (flow.protocol === undefined || flow.protocol === 17) &&
  [[flow.sourcePort, packet.sourcePort] as const, [flow.destinationPort, packet.destinationPort] as const].every(
    ([range, port]) => range === undefined || (range[0] <= port && port <= range[1]),
  );

/** The intent of a kind that decides about a packet. */
function deciding<K extends Intent['kind']>(
  held: readonly Intent[],
  kind: K,
  packet: Packet,
): (Intent & { kind: K }) | undefined {
  return held
    .filter(
      (each): each is Intent & { kind: K; match: FlowMatch } =>
        each.kind === kind && 'match' in each && matches(each.match, packet),
    )
    .sort((a, b) => b.priority - a.priority)[0];
}

/** Hops between switches by breadth-first search. */
function hops({ links }: World, from: number, to: number, without: ReadonlySet<number>): number | undefined {
  const distance = new Map([[from, 0]]);
  const queue = [from];
  for (let at = queue.shift(); at !== undefined; at = queue.shift()) {
    for (const [index, [a, b]] of links.entries()) {
      if (without.has(index)) continue;
      const next = a === at ? b : b === at ? a : at;
      if (!distance.has(next)) {
        distance.set(next, distance.get(at)! + 1);
        queue.push(next);
      }
    }
  }
  return distance.get(to);
}

const text = (compiled: Compiled): string =>
  JSON.stringify([[...compiled.desired], compiled.conflicts, compiled.unplaced], (_, each) =>
    typeof each === 'bigint' ? `${each}n` : each instanceof Uint8Array ? [...each] : each,
  );

const wishes = fc.array(fc.record({ wish, priority: fc.integer({ min: 1, max: 6 }) }), { maxLength: 8 });

describe('a network of int.p4 with random intents', () => {
  it('does what they say, and nothing else', () => {
    const seen = { packets: 0, blocked: 0, watched: 0, steered: 0, kept: 0, avoided: 0, unplaced: 0 };
    fc.assert(
      fc.property(world, wishes, (given, wanted) => {
        const spec = topologyOf(given.switches, given.links, given.hosts);
        const portOf = (index: number): string => {
          const [a] = given.links[index]!;
          const which = given.links.slice(0, index).filter((link) => link.includes(a)).length;
          return `${a}:${which + 1}`;
        };
        const intents = intentsOf(given, wanted);
        const failedPorts = given.failed.map(portOf);
        const network = modelOf(spec, { failed: failedPorts });
        const compiled = compile(network, intents, NOW);
        const refused = new Set(compiled.conflicts.map((each) => each.refused));
        const held = intents.filter(({ id }) => !refused.has(id));
        const partly = new Set(compiled.unplaced.map(({ intent }) => intent));
        expect(compiled.unplaced.filter(({ intent }) => intent === null)).toEqual([]);
        seen.unplaced += partly.size;
        const failed = new Set(given.failed);
        const avoided = new Set(
          [...given.links.keys()].filter((index) =>
            held.some((each) => each.kind === 'avoid' && `${each.link.switchId}:${each.link.port}` === portOf(index)),
          ),
        );
        const both = new Set([...failed, ...avoided]);
        const fabric = new Fabric(network);
        fabric.install(compiled.desired);

        for (const from of given.hosts.keys()) {
          for (const to of given.hosts.keys()) {
            if (from === to) continue;
            for (const sourcePort of [1, 3]) {
              const packet = { from, to, sourcePort, destinationPort: 1 + ((from + to + sourcePort) % 4) };
              const frame = udpFrame(
                { ...packet, source: numberOf(addressOf(from)), destination: numberOf(addressOf(to)) },
                new Uint8Array(40),
              );
              const trip = fabric.send(`h${from}`, frame);
              seen.packets++;
              expect(trip.isLooping).toBe(false);
              const block = deciding(held, 'block', packet);
              if (block !== undefined) {
                seen.blocked++;
                expect(trip.deliveredTo).toEqual([]);
                expect(trip.reports).toHaveLength(block.reportOneIn);
                continue;
              }
              expect(trip.deliveredTo).toEqual([`h${to}`]);
              expect(trip.frames).toEqual([frame]);
              expect(new Set(trip.path).size).toBe(trip.path.length);
              const watch = deciding(held, 'watch', packet);
              if (watch !== undefined) seen.watched++;
              expect(trip.reports).toHaveLength(watch === undefined ? 0 : 1);

              const paths = held.filter((each) => each.kind === 'path' && matches(each.match, packet));
              const [start, end] = [given.hosts[from]!, given.hosts[to]!];
              if (paths.length === 0) {
                const free = hops(given, start, end, both);
                expect(trip.path.length - 1).toBe(free ?? trip.path.length - 1);
                if (free !== undefined) {
                  if (avoided.size > 0) seen.avoided++;
                  for (const index of avoided) expect(trip.links).not.toContain(portOf(index));
                }
                seen.kept++;
                continue;
              }
              const path = deciding(held, 'path', packet)!;
              if (partly.has(path.id) || path.via[0] !== start) continue;
              seen.steered++;
              const length = Math.min(path.via.length, trip.path.length);
              expect(trip.path.slice(0, length)).toEqual(path.via.slice(0, length));
              expect(trip.path.at(-1)).toBe(end);
              if (!path.via.includes(end)) expect(trip.path.length).toBeGreaterThan(path.via.length);
            }
          }
        }
      }),
      { seed: SEED, numRuns: runs(640) },
    );
    // All of it was met.
    for (const count of Object.values(seen)) expect(count).toBeGreaterThan(0);
  }, 180_000);

  it('has the same tables whatever the order of the intents, and each time', () => {
    const shuffled = fc.tuple(world, wishes).chain(([given, wanted]) => {
      const intents = intentsOf(given, wanted);
      const all = { minLength: intents.length, maxLength: intents.length };
      return fc.tuple(fc.constant(given), fc.constant(intents), fc.shuffledSubarray([...intents], all));
    });
    fc.assert(
      fc.property(shuffled, ([given, intents, other]) => {
        const network = modelOf(topologyOf(given.switches, given.links, given.hosts));
        const first = text(compile(network, intents, NOW));
        expect(text(compile(network, other, NOW))).toBe(first);
        expect(text(compile(modelOf(topologyOf(given.switches, given.links, given.hosts)), intents, NOW))).toBe(first);
      }),
      { seed: SEED, numRuns: runs(800) },
    );
  });
});
