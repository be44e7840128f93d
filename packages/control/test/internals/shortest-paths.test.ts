import { Topology } from '@int/network';
import type { p4config } from '@int/p4runtime';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../../.ci/test/length.js';
import { type Edge, NetworkGraph } from '../../src/model/network-graph.js';
import { WaysTo } from '../../src/model/shortest-paths.js';

const SEED = Number(process.env.INT_SEED ?? 20_261_128);
const p4info = {} as p4config.P4Info;

function graphOf(
  size: number,
  links: readonly (readonly [number, number])[],
  failed: readonly string[] = [],
  isTold: (link: number) => 'both' | 'first' = () => 'both',
): NetworkGraph {
  const ports = Array.from({ length: size }, (): Record<string, { to: string }> => ({}));
  const counts = Array.from({ length: size }, () => 0);
  for (const [index, [a, b]] of links.entries()) {
    const [portA, portB] = [++counts[a]!, ++counts[b]!];
    ports[a]![portA] = { to: `${b}:${portB}` };
    if (isTold(index) === 'both') ports[b]![portB] = { to: `${a}:${portA}` };
  }
  const switches = Object.fromEntries(ports.map((each, id) => [id, { ports: each }]));
  const topology = new Topology({ switches });
  return new NetworkGraph({
    topology,
    switches: new Map(ports.map((_, id) => [id, { id, program: 'int', p4info, isUp: true }])),
    failedLinks: new Set(failed),
    collector: null,
  });
}

const graph = fc.integer({ min: 1, max: 7 }).chain((size) =>
  fc.tuple(
    fc.constant(size),
    fc.array(
      fc.tuple(fc.nat({ max: size - 1 }), fc.nat({ max: size - 1 })).filter(([a, b]) => a !== b),
      { maxLength: size < 2 ? 0 : 12 },
    ),
    fc.array(fc.tuple(fc.nat({ max: 6 }), fc.integer({ min: 1, max: 5 })), { maxLength: 3 }),
    fc.array(fc.nat({ max: size - 1 }), { minLength: 1, maxLength: 2 }),
    fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 12, maxLength: 12 }),
  ),
);

/** Cheapest costs by relaxing every link as often as there are switches. */
function costsByRelaxing(
  size: number,
  edges: readonly Edge[],
  targets: readonly number[],
  cost: (edge: Edge) => number,
): readonly number[] {
  const costs = Array.from({ length: size }, (_, id) => (targets.includes(id) ? 0 : Number.POSITIVE_INFINITY));
  for (let round = 0; round < size; round++) {
    for (const edge of edges) costs[edge.from] = Math.min(costs[edge.from]!, cost(edge) + costs[edge.to]!);
  }
  return costs;
}

describe('WaysTo', () => {
  it('finds the cheapest ways, and all of their first links', () => {
    fc.assert(
      fc.property(graph, ([size, links, failed, targets, weights]) => {
        const network = graphOf(
          size,
          links,
          failed.map(([id, port]) => `${id}:${port}`),
        );
        const edges = network.switchIds.flatMap((id) => network.edges(id));
        const cost = ({ from, to, port, toPort }: Edge): number => weights[(from + to + port + (toPort ?? 0)) % 12]!;
        const ways = new WaysTo(network, targets, cost);
        const costs = costsByRelaxing(size, edges, targets, cost);
        for (const id of network.switchIds) {
          const best = costs[id]!;
          expect(ways.distance(id)).toBe(best === Number.POSITIVE_INFINITY ? undefined : best);
          const first = edges.filter(
            (edge) =>
              edge.from === id && best > 0 && best < Number.POSITIVE_INFINITY && cost(edge) + costs[edge.to]! === best,
          );
          expect(ways.nextHops(id)).toEqual(first);
          const path = ways.path(id);
          expect(path === null).toBe(best === Number.POSITIVE_INFINITY);
          if (path === null) continue;
          expect(path[0]).toBe(id);
          expect(targets).toContain(path.at(-1));
          const all = ways.paths(id, 1000);
          expect(all).toContainEqual(path);
          expect(new Set(all.map((each) => each.join())).size).toBe(all.length);
          expect(ways.paths(id, 1)).toHaveLength(1);
        }
      }),
      { seed: SEED, numRuns: runs(8000) },
    );
  });
});

describe('NetworkGraph', () => {
  it('has both directions of a link that one end names, and none of one that failed, whichever end says so', () => {
    for (const told of ['both', 'first'] as const) {
      const whole = graphOf(
        3,
        [
          [0, 1],
          [1, 2],
        ],
        [],
        () => told,
      );
      expect(whole.switchIds.map((id) => whole.edges(id).map(({ to }) => to))).toEqual([[1], [0, 2], [1]]);
      expect(whole.edge(1, 2)).toEqual({ from: 1, port: 2, to: 2, toPort: 1 });
      for (const end of ['1:2', '2:1']) {
        const broken = graphOf(
          3,
          [
            [0, 1],
            [1, 2],
          ],
          [end],
          () => told,
        );
        expect(broken.switchIds.map((id) => broken.edges(id).map(({ to }) => to))).toEqual([[1], [0], []]);
        expect([broken.areAdjacent(1, 2), broken.areAdjacent(0, 2)]).toEqual([true, false]);
      }
    }
  });

  it('knows where hosts are attached, and where their link has failed', () => {
    const topology = new Topology({
      switches: {
        1: { ports: { 4: { to: 'host a' }, 2: { to: 'host b' } } },
        2: { ports: { 1: { to: 'host a' }, 9: { to: '77:1' } } },
      },
      hosts: { a: { addresses: ['10.0.0.1'] }, b: { addresses: ['10.0.0.2'] }, c: { addresses: [] } },
    });
    const network = new NetworkGraph({
      topology,
      switches: new Map([1, 2].map((id) => [id, { id, program: 'int', p4info, isUp: true }])),
      failedLinks: new Set(['2:1']),
      collector: null,
    });
    expect(network.hosts.map(({ name }) => name)).toEqual(['a', 'b', 'c']);
    expect(network.attachments('a')).toEqual([{ switchId: 1, port: 4 }]);
    expect(network.attachments('c')).toEqual([]);
    expect(network.hostPorts(1)).toEqual([
      { port: 2, host: 'b' },
      { port: 4, host: 'a' },
    ]);
    expect(network.edgeSwitches).toEqual([1, 2]);
    // A switch that nobody can program is none of the network.
    expect(network.edges(2)).toEqual([]);
  });
});
