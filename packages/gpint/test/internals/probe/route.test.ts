import { gpintProbe } from '@int/codec';
import { gpintProbeExtended, MAX_PROBE_BYTES, probeBytes } from '@int/codec/internals';
import { fatTreeGraph, GpintError, GraphBuilder, grid, Paths, perNode, ring, star } from '@int/gpint';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { routesOf } from '../../../src/probe/route.js';
import { writeProbe } from '../../../src/probe/write.js';
import { SEED } from '../../seed.js';

function around(nodes: number, visits: number): Paths {
  return Paths.from([Array.from({ length: visits }, (_, i) => i % nodes)]);
}

describe('probes of a plan', () => {
  it('are one a path, with the path as its switches', () => {
    const graph = ring(6);
    const { probes, extended } = routesOf(graph, Paths.from([[0, 1, 2], [3], [5, 4]]));
    expect(extended).toBe(false);
    expect(probes).toEqual([
      { path: 0, position: 0, switches: [0, 1, 2], bytes: probeBytes([8, 8, 8], false) },
      { path: 1, position: 0, switches: [3], bytes: probeBytes([8], false) },
      { path: 2, position: 0, switches: [5, 4], bytes: probeBytes([8, 8], false) },
    ]);
  });

  it('are more where a path does not fit into one: contiguous, nearly equal, and as few as can be', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 900 }),
        fc.nat(255),
        fc.boolean(),
        fc.integer({ min: 0, max: 100 }),
        (visits, count, extended, reserveHops) => {
          const graph = ring(50);
          const layout = extended ? 'extended' : 'plain';
          const { probes } = routesOf(graph, around(50, visits), {
            measurements: { first: 0, count },
            layout,
            reserveHops,
          });
          const all = probes.flatMap(({ switches }) => switches);
          expect(all).toEqual(Array.from({ length: visits }, (_, i) => i % 50));
          let position = 0;
          for (const probe of probes) {
            const counts = [...new Array<number>(reserveHops).fill(0), ...probe.switches.map(() => count)];
            const fits = probeBytes(counts, extended) <= MAX_PROBE_BYTES && counts.length <= 255;
            const bytes = probeBytes(counts.slice(reserveHops), extended);
            expect([probe.position, fits, probe.bytes]).toEqual([position, true, bytes]);
            position += probe.switches.length;
          }
          const lengths = probes.map(({ switches }) => switches.length);
          const longest = Math.max(...lengths);
          expect(longest).toBe(Math.ceil(visits / probes.length));
          // One probe fewer would not do.
          if (probes.length > 1) {
            const longer = Math.ceil(visits / (probes.length - 1));
            const counts = [...new Array<number>(reserveHops).fill(0), ...new Array<number>(longer).fill(count)];
            expect(counts.length > 255 || probeBytes(counts, extended) > MAX_PROBE_BYTES).toBe(true);
          }
        },
      ),
      { seed: SEED, numRuns: 150 },
    );
  });

  it('carry the 195 visits of the longest Euler trail of the paper in a few parts', () => {
    const { probes } = routesOf(ring(100), around(100, 195), { measurements: { first: 0, count: 1 } });
    expect(probes).toHaveLength(1);
    expect(routesOf(ring(100), around(100, 195)).probes).toHaveLength(4);
  });

  it('take the extended layout where ids or ports need it', () => {
    const large = ring(257);
    expect(routesOf(large, perNode(large).paths).extended).toBe(true);
    const wide = star(255);
    expect(routesOf(wide, perNode(wide).paths).extended).toBe(false);
    const options = { portOf: (from: number, to: number) => wide.positionOf(from, to) + 2 };
    expect(routesOf(wide, perNode(wide).paths, options).extended).toBe(wide.degree(0) + 1 > 255);
    const small = ring(4);
    expect(routesOf(small, perNode(small).paths, { layout: 'extended' }).extended).toBe(true);
    expect(routesOf(small, perNode(small).paths, { portOf: () => 256 }).extended).toBe(true);
  });

  it('are refused where they cannot be', () => {
    const graph = grid(3, 3);
    const one = Paths.from([[0]]);
    const code = (action: () => unknown): string => {
      try {
        action();
      } catch (error) {
        if (GpintError.is(error)) return error.code;
        throw error;
      }
      return 'none';
    };
    const large = fatTreeGraph(18);
    expect(code(() => routesOf(large, one, { layout: 'plain' }))).toBe('ERR_GPINT_PROBE_LIMIT');
    expect(code(() => routesOf(graph, one, { portOf: () => 0x1_0000 }))).toBe('ERR_GPINT_PROBE_LIMIT');
    expect(code(() => routesOf(graph, one, { reserveHops: 255 }))).toBe('ERR_GPINT_PROBE_LIMIT');
    expect(
      code(() =>
        routesOf(graph, one, { layout: 'extended', reserveHops: 240, measurements: { first: 0, count: 255 } }),
      ),
    ).toBe('ERR_GPINT_PROBE_LIMIT');
    expect(code(() => routesOf(graph, Paths.from([[9]])))).toBe('ERR_GPINT_UNKNOWN_NODE');
    expect(() => routesOf(graph, Paths.from([[0, 8]]))).toThrow(RangeError);
    expect(() => routesOf(graph, Paths.from([[]]))).toThrow(RangeError);
    expect(() => routesOf(graph, one, { measurements: { first: 256, count: 0 } })).toThrow(RangeError);
    expect(() => routesOf(graph, one, { measurements: () => ({ first: 0, count: 1.5 }) })).toThrow(RangeError);
    expect(() => routesOf(graph, one, { portOf: () => -1 })).toThrow(RangeError);
  });
});

describe('the packet of a probe', () => {
  const graph = new GraphBuilder().addLink('a', 'b').addLink('b', 'c').addLink('a', 'c').addLink('c', 'd').build();

  it.each([false, true])('names the port to each next switch, 0 at the last (extended: %s)', (extended) => {
    const codec = extended ? gpintProbeExtended : gpintProbe;
    const routes = routesOf(graph, Paths.from([[3, 2, 0, 1]]), {
      layout: extended ? 'extended' : 'plain',
      measurements: (node) => ({ first: node, count: 10 + node }),
    });
    const dispatch = { probe: 0, start: 1, prefix: [1, 0], requestId: 0x7ffe };
    expect(codec.decode(writeProbe(routes, dispatch, true))).toEqual({
      requestId: 0x7ffe,
      type: 'port-packets',
      route: [
        { nextPort: 1, firstMeasurement: 0, measurementCount: 0 },
        { nextPort: 2, firstMeasurement: 0, measurementCount: 0 },
        { nextPort: 1, firstMeasurement: 2, measurementCount: 12 },
        { nextPort: 1, firstMeasurement: 0, measurementCount: 10 },
        { nextPort: 0, firstMeasurement: 1, measurementCount: 11 },
      ],
      switches: [],
      measurements: [],
    });
  });

  it('is what the codec writes', () => {
    fc.assert(
      fc.property(fc.nat(0x7fff), fc.nat(3), fc.boolean(), fc.boolean(), (requestId, start, extended, portPackets) => {
        const codec = extended ? gpintProbeExtended : gpintProbe;
        const routes = routesOf(graph, Paths.from([[3, 2, 0, 1]]), { layout: extended ? 'extended' : 'plain' });
        const bytes = writeProbe(routes, { probe: 0, start, prefix: [], requestId }, portPackets);
        const probe = codec.decode(bytes);
        expect(probe).toMatchObject({ requestId, type: portPackets ? 'port-packets' : 'rule-hits' });
        expect(probe.route).toHaveLength(4 - start);
        expect(codec.encode(probe)).toEqual(bytes);
      }),
      { seed: SEED, numRuns: 100 },
    );
  });
});
