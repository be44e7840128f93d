import { type GpintProbe, gpintProbe } from '@int/codec';
import { gpintProbeExtended, ProbeParts, readProbeParts } from '@int/codec/internals';
import { Paths, ring } from '@int/gpint';
import { describe, expect, it } from 'vitest';
import { measurementOffsets, TelemetryStore } from '../../../src/monitor/telemetry.js';
import { routesOf } from '../../../src/probe/route.js';

const graph = ring(4);

describe.each([false, true])('what a session collected (extended: %s)', (extended) => {
  const routes = routesOf(graph, Paths.from([[0, 1, 2, 3]]), {
    layout: extended ? 'extended' : 'plain',
    measurements: (node) => ({ first: 0, count: node }),
  });
  const offsets = measurementOffsets(routes.count);

  function merge(store: TelemetryStore, visits: [number, number[]][], skip: number, sequence: number): void {
    const probe: GpintProbe = {
      requestId: 1,
      type: 'rule-hits',
      route: [],
      switches: visits.map(([switchId, values]) => ({
        switchId,
        queueDepth: 200 + switchId,
        measurementCount: values.length,
      })),
      measurements: visits.flatMap(([, values]) => values),
    };
    const payload = (extended ? gpintProbeExtended : gpintProbe).encode(probe);
    const parts = new ProbeParts();
    expect(readProbeParts(payload, 0, payload.length, extended, parts)).toBe(0);
    store.merge(payload, parts, skip, visits.length - skip, sequence, 77, routes);
  }

  it('is what the switches measured, without those that were only passed', () => {
    const store = new TelemetryStore(graph.names, offsets);
    merge(
      store,
      [
        [3, []],
        [1, [0xffff_ffff]],
        [2, [5, 6]],
      ],
      1,
      0,
    );
    expect(store.size).toBe(2);
    expect(store.has(3)).toBe(false);
    expect(store.get(1)).toEqual({
      node: 1,
      name: graph.names[1],
      queueDepth: 201,
      measurements: Uint32Array.of(0xffff_ffff),
      timeNs: 77,
    });
    expect(Array.from(store.get(2)!.measurements)).toEqual([5, 6]);
  });

  it('is that of the probe which left last, in whatever order they come home', () => {
    const store = new TelemetryStore(graph.names, offsets);
    merge(store, [[2, [1, 1]]], 0, 4);
    merge(store, [[2, [2, 2]]], 0, 3);
    expect(Array.from(store.get(2)!.measurements)).toEqual([1, 1]);
    merge(store, [[2, [3, 3]]], 0, 5);
    expect(Array.from(store.get(2)!.measurements)).toEqual([3, 3]);
    expect(store.size).toBe(1);
  });

  it('has room for what was asked for: more is left out, less leaves zeros', () => {
    const store = new TelemetryStore(graph.names, offsets);
    merge(
      store,
      [
        [1, [9, 8, 7]],
        [2, [6]],
        [3, [1, 2, 3]],
      ],
      0,
      0,
    );
    expect([...store].map(({ node, measurements }) => [node, ...measurements])).toEqual([
      [1, 9],
      [2, 6, 0],
      [3, 1, 2, 3],
    ]);
  });
});
