import { ADDRESSES, buildNetwork, shortestPathRoutes } from '@int/netsim';
import { Random } from '@int/random';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RouteTable } from '../../src/route-table.js';
import { NO_ROUTE } from '../../src/routes.js';
import { SEED } from '../seed.js';

/** Connected graphs: a random tree and some more links. */
const graph = fc
  .record({ count: fc.integer({ min: 1, max: 25 }), more: fc.nat(20), seed: fc.nat() })
  .map(({ count, more, seed }) => {
    const random = new Random(seed);
    const known = new Set<number>();
    const links: [number, number][] = [];
    const add = (a: number, b: number): void => {
      const key = Math.min(a, b) * count + Math.max(a, b);
      if (a === b || known.has(key)) return;
      known.add(key);
      links.push(random.integer(2) === 0 ? [a, b] : [b, a]);
    };
    for (let node = 1; node < count; node++) add(node, random.integer(node));
    for (let i = 0; i < more; i++) add(random.integer(count), random.integer(count));
    return { count, links, seed };
  });

describe('buildNetwork', () => {
  it('puts neighbours at ports in ascending order after the monitor, and hosts behind them', () => {
    const links: [number, number][] = [
      [3, 0],
      [0, 2],
      [1, 0],
      [2, 3],
    ];
    const net = buildNetwork({
      seed: 1,
      switches: 4,
      links,
      names: ['a', 'b', 'c', 'd'],
      hosts: { count: 2, attach: [0, 0] },
    });
    const ports = net.switchNodes[0]!.connectedPorts.map((port) => net.switchNodes[0]!.neighbour(port)!.name);
    expect(ports).toEqual(['monitor', 'b', 'c', 'd', 'host 0', 'host 1']);
    expect(net.neighbours[0]).toEqual([1, 2, 3]);
    expect([net.portOf(0, 3), net.portOf(3, 0), net.portOf(1, 2), net.portOf(9, 0)]).toEqual([3, 1, -1, -1]);
    expect(net.links.map((link) => [link.a.name, link.b.name])).toEqual([
      ['d', 'a'],
      ['a', 'c'],
      ['b', 'a'],
      ['c', 'd'],
    ]);
    expect(net.linkBetween(2, 0)).toBe(net.links[1]);
    expect(net.linkBetween(1, 2)).toBeUndefined();
  });

  it('gives every pair of hosts a way, in as many hops as the shortest path has links', () => {
    fc.assert(
      fc.property(graph, fc.constantFrom('lowest' as const, 'random' as const), ({ count, links, seed }, ties) => {
        const hosts = Math.min(count + 1, 8);
        const net = buildNetwork({
          seed,
          switches: count,
          links,
          ties,
          link: { delayNs: 1000 },
          hosts: { count: hosts },
        });
        for (let to = 0; to < hosts; to++) {
          const distances = distancesFrom(net.neighbours, to % count);
          for (let from = 0; from < hosts; from++) {
            if (from === to) continue;
            const before = net.network.nowNs;
            const got = net.hosts[to]!.received;
            net.hosts[from]!.send(
              { destination: ADDRESSES.host(to), sourcePort: 1, destinationPort: 2 },
              new Uint8Array(3),
            );
            expect(net.network.runWhile(() => net.hosts[to]!.received === got)).toBe(true);
            expect(net.network.nowNs - before).toBe(1000 * distances[from % count]!);
          }
        }
      }),
      { seed: SEED, numRuns: 60 },
    );
  });

  it('leads home from every switch to the nearest entry', () => {
    fc.assert(
      fc.property(graph, fc.nat(), ({ count, links, seed }, draw) => {
        const random = new Random(draw);
        const entries = random.shuffle(Array.from({ length: count }, (_, i) => i)).slice(0, 1 + random.integer(count));
        const net = buildNetwork({ seed, switches: count, links, monitor: { entries } });
        const distances = entries.map((entry) => distancesFrom(net.neighbours, entry));
        for (let start = 0; start < count; start++) {
          let at = start;
          let hops = 0;
          while (net.switches[at]!.monitorPort !== 0) {
            at = net.neighbours[at]![net.switches[at]!.monitorPort - 1]!;
            hops++;
          }
          expect(entries).toContain(at);
          expect(hops).toBe(Math.min(...distances.map((each) => each[start]!)));
        }
      }),
      { seed: SEED, numRuns: 60 },
    );
  });

  it('takes any names of switches, also those it would give to others', () => {
    const net = buildNetwork({
      seed: 1,
      switches: 2,
      links: [[0, 1]],
      names: ['monitor', 'host 0'],
      hosts: { count: 1 },
    });
    expect(net.network.nodes.map((node) => node.name)).toEqual(['monitor', 'host 0', "monitor'", "host 0'"]);
  });

  it('refuses links and numbers that make no network', () => {
    const build = (options: object) => () => buildNetwork({ seed: 1, switches: 3, links: [[0, 1]], ...options });
    for (const options of [
      { switches: 0 },
      { links: [[0, 3]] },
      { names: ['a'] },
      { hosts: { count: 2, attach: [0] } },
      { hosts: { count: 1, attach: [3] } },
      { monitor: { entries: [3] } },
    ]) {
      expect(build(options)).toThrow(RangeError);
    }
    for (const options of [
      { links: [[1, 1]] },
      {
        links: [
          [0, 1],
          [1, 0],
        ],
      },
      { monitor: { entries: [1, 1] } },
      { names: ['a', 'a', 'b'] },
    ]) {
      expect(build(options)).toThrow(TypeError);
    }
  });
});

describe('shortestPathRoutes', () => {
  it('says where there is no way, and takes each of several shortest ways when drawing', () => {
    const square = [[1, 3], [0, 2], [1, 3], [0, 2], []];
    const lowest = shortestPathRoutes(square, [2, 2, 4]);
    expect(Array.from(lowest[0]!)).toEqual([0, 0, NO_ROUTE]);
    expect(Array.from(lowest[2]!)).toEqual([NO_ROUTE, NO_ROUTE, NO_ROUTE]);
    expect(Array.from(lowest[4]!)).toEqual([NO_ROUTE, NO_ROUTE, NO_ROUTE]);
    const drawn = Array.from({ length: 200 }, (_, seed) => shortestPathRoutes(square, [2], new Random(seed))[0]![0]!);
    const first = drawn.filter((position) => position === 0).length;
    expect(new Set(drawn)).toEqual(new Set([0, 1]));
    expect(Math.abs(first - 100)).toBeLessThan(36);
    expect(() => shortestPathRoutes(square, [5])).toThrow(RangeError);
    expect(() => shortestPathRoutes([[7]], [0])).toThrow(RangeError);
  });
});

describe('a route table', () => {
  it('behaves like a map that numbers its keys and counts what is found', () => {
    const operation = fc.record({
      address: fc.oneof(fc.nat(40), fc.integer()),
      port: fc.nat(0xffff),
      lookup: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 300 }), (operations) => {
        const table = new RouteTable();
        const model = new Map<number, { port: number; entry: number; hits: number }>();
        for (const { address, port, lookup } of operations) {
          const known = model.get(address | 0);
          if (lookup) {
            expect(table.lookup(address >>> 0)).toBe(known?.port ?? -1);
            if (known !== undefined) known.hits++;
          } else {
            table.set(address, port);
            if (known === undefined) model.set(address | 0, { port, entry: model.size, hits: 0 });
            else known.port = port;
          }
        }
        expect(table.size).toBe(model.size);
        for (const [address, { entry, hits, port }] of model) {
          expect([table.entryOf(address), table.hits[entry], table.portOf(entry)]).toEqual([entry, hits, port]);
        }
        expect(() => table.set(1, 65_536)).toThrow(RangeError);
      }),
      { seed: SEED },
    );
  });
});

/** Links from a node to each. */
function distancesFrom(neighbours: readonly (readonly number[])[], from: number): number[] {
  const distances = new Array<number>(neighbours.length).fill(-1);
  let front = [from];
  for (let distance = 0; front.length > 0; distance++) {
    for (const node of front) distances[node] = distance;
    front = [...new Set(front.flatMap((node) => neighbours[node]!))].filter((other) => distances[other] === -1);
  }
  return distances;
}
