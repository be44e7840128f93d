import { fatTree, leafSpine, parseTopology, type Topology, TopologyError } from '@int/traffic';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../.ci/test/length.js';
import { SEED } from './seed.js';
import { binomialBound } from './statistics.js';

const texts = fc.oneof(
  fc.tuple(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 6 })).map(([l, s]) => `leaf-spine:${l}x${s}`),
  fc
    .tuple(fc.integer({ min: 1, max: 6 }), fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 600 }))
    .map(([l, s, h]) => `leaf-spine:${l}x${s}x${h}`),
  fc.integer({ min: 1, max: 5 }).map((half) => `fat-tree:${2 * half}`),
);

/** Follows a path link by link, from host to host. */
function checkPath(topology: Topology, source: number, destination: number, hash: number): void {
  const path = topology.path(source, destination, hash);
  const first = topology.host(source);
  let at = { switchIndex: first.switchIndex, port: first.port };
  for (const [h, hop] of path.entries()) {
    expect({ switchIndex: hop.switchIndex, port: hop.ingressPort }).toEqual(at);
    const peer = topology.peer(hop.switchIndex, hop.egressPort);
    if (h === path.length - 1) {
      expect(peer).toEqual({ kind: 'host', host: destination });
    } else {
      expect(peer.kind).toBe('switch');
      if (peer.kind === 'switch') at = { switchIndex: peer.switchIndex, port: peer.port };
    }
  }
  expect(path.length).toBeLessThanOrEqual(topology.maxHops);
  expect(new Set(path.map((hop) => hop.switchIndex)).size).toBe(path.length);
}

describe('topologies', () => {
  it('have every link at both ends, and no port without one', () => {
    fc.assert(
      fc.property(texts, (text) => {
        const topology = parseTopology(text);
        const hosts = new Set<number>();
        for (const [index, one] of topology.switches.entries()) {
          expect(one.id).toBe(index + 1);
          for (let port = 1; port <= one.ports; port++) {
            const peer = topology.peer(index, port);
            if (peer.kind === 'host') {
              hosts.add(peer.host);
              expect(topology.host(peer.host)).toMatchObject({ switchIndex: index, port });
            } else {
              expect(topology.peer(peer.switchIndex, peer.port)).toEqual({ kind: 'switch', switchIndex: index, port });
            }
          }
          expect(() => topology.peer(index, one.ports + 1)).toThrow(RangeError);
        }
        expect(hosts.size).toBe(topology.hostCount);
      }),
      { seed: SEED, numRuns: 40 },
    );
  });

  it('route every flow over links there are, without a loop, from its host to its host', () => {
    fc.assert(
      fc.property(texts, fc.nat(), fc.nat(), fc.integer({ min: 0, max: 0xffffffff }), (text, a, b, hash) => {
        const topology = parseTopology(text);
        const source = a % topology.hostCount;
        const destination = b % topology.hostCount;
        if (source === destination) expect(() => topology.path(source, destination, hash)).toThrow(RangeError);
        else checkPath(topology, source, destination, hash);
      }),
      { seed: SEED, numRuns: runs(500) },
    );
  });

  it('give every host an address, a name and a MAC address of its own', () => {
    for (const text of ['leaf-spine:5x2', 'leaf-spine:3x2x600', 'fat-tree:8']) {
      const topology = parseTopology(text);
      const hosts = Array.from({ length: topology.hostCount }, (_, n) => topology.host(n));
      for (const key of ['address', 'name', 'mac', 'addressWord'] as const) {
        expect(new Set(hosts.map((host) => host[key])).size).toBe(topology.hostCount);
      }
      for (const host of hosts) {
        const parts = host.address.split('.').map(Number);
        expect(parts[0]).toBe(10);
        expect(parts[3]).toBeGreaterThan(0);
        expect(parts[3]).toBeLessThan(255);
        expect(parts.reduce((word, part) => word * 256 + part, 0)).toBe(host.addressWord);
      }
      const switches = [...topology.switches.map((one) => one.address), ...hosts.map((host) => host.address)];
      expect(new Set(switches).size).toBe(switches.length);
    }
  });

  it('number a leaf-spine fabric as documented', () => {
    const topology = parseTopology('leaf-spine:4x2');
    expect(topology.switches.map((one) => one.name)).toEqual(['leaf1', 'leaf2', 'leaf3', 'leaf4', 'spine1', 'spine2']);
    expect(topology.switches.map((one) => one.ports)).toEqual([10, 10, 10, 10, 4, 4]);
    expect(topology.host(9)).toEqual({
      index: 9,
      name: 'h2-0-2',
      address: '10.2.0.2',
      addressWord: 0x0a020002,
      mac: '02:00:0a:02:00:02',
      switchIndex: 1,
      port: 2,
    });
    expect(topology.uplinks(0)).toEqual([9, 10]);
    expect(topology.peer(0, 10)).toEqual({ kind: 'switch', switchIndex: 5, port: 1 });
    expect(parseTopology('leaf-spine:32x8').switches).toHaveLength(40);
  });

  it('number a fat-tree as documented: (k/2)^2 cores, k^3/4 hosts, five hops between pods', () => {
    const topology = parseTopology('fat-tree:4');
    expect(topology.switches).toHaveLength(20);
    expect(topology.switches.filter((one) => one.tier === 'core')).toHaveLength(4);
    expect(topology.hostCount).toBe(16);
    expect(topology.host(0).address).toBe('10.0.0.2');
    expect(topology.host(15).address).toBe('10.3.1.3');
    expect(topology.path(0, 1, 5)).toHaveLength(1);
    expect(topology.path(0, 2, 5)).toHaveLength(3);
    expect(topology.path(0, 15, 5)).toHaveLength(5);
    expect(fatTree({ k: 88 }).switches).toHaveLength(9680);
  });

  it('use every equal-cost path, each as often', () => {
    const count = (topology: Topology, source: number, destination: number, paths: number): void => {
      const seen = new Map<string, number>();
      const n = 8000;
      for (let i = 0; i < n; i++) {
        const hash = Math.imul(i + 1, 0x9e3779b9) >>> 0;
        const key = topology
          .path(source, destination, hash)
          .map((hop) => hop.switchIndex)
          .join();
        seen.set(key, (seen.get(key) ?? 0) + 1);
      }
      expect(seen.size).toBe(paths);
      for (const times of seen.values()) expect(Math.abs(times - n / paths)).toBeLessThan(binomialBound(n, 1 / paths));
    };
    count(leafSpine({ leaves: 4, spines: 3 }), 0, 31, 3);
    count(fatTree({ k: 8 }), 0, 127, 16);
    count(fatTree({ k: 8 }), 0, 8, 4);
  });
});

describe('parseTopology', () => {
  it.each([
    ['', 'ERR_TOPOLOGY_UNKNOWN', 0],
    ['ring:5', 'ERR_TOPOLOGY_UNKNOWN', 0],
    ['leaf-spine', 'ERR_TOPOLOGY_SIZE', 10],
    ['leaf-spine:', 'ERR_TOPOLOGY_SIZE', 11],
    ['leaf-spine:4', 'ERR_TOPOLOGY_SIZE', 11],
    ['leaf-spine:4x', 'ERR_TOPOLOGY_SIZE', 11],
    ['leaf-spine:-4x2', 'ERR_TOPOLOGY_SIZE', 11],
    ['leaf-spine:4x2x', 'ERR_TOPOLOGY_SIZE', 11],
    ['leaf-spine:4x2 ', 'ERR_TOPOLOGY_SIZE', 11],
    ['leaf-spine:0x2', 'ERR_TOPOLOGY_RANGE', 11],
    ['leaf-spine:255x2', 'ERR_TOPOLOGY_RANGE', 11],
    ['leaf-spine:4x2x99999999999999999999', 'ERR_TOPOLOGY_RANGE', 11],
    ['fat-tree', 'ERR_TOPOLOGY_SIZE', 8],
    ['fat-tree:4x2', 'ERR_TOPOLOGY_SIZE', 9],
    ['fat-tree:5', 'ERR_TOPOLOGY_RANGE', 9],
    ['fat-tree:0', 'ERR_TOPOLOGY_RANGE', 9],
    ['fat-tree:130', 'ERR_TOPOLOGY_RANGE', 9],
  ])("refuses '%s' with %s at %i", (text, code, offset) => {
    let thrown: unknown;
    try {
      parseTopology(text);
    } catch (error) {
      thrown = error;
    }
    expect(TopologyError.is(thrown)).toBe(true);
    expect(thrown).toMatchObject({ name: 'TopologyError', code, offset });
    expect(String(thrown)).toContain(text);
  });

  it('throws nothing but TopologyError, whatever the text', () => {
    const near = fc.stringMatching(/^(leaf-spine|fat-tree)?:?[0-9x]{0,3}$/);
    fc.assert(
      fc.property(fc.oneof(fc.string(), near), (text) => {
        try {
          expect(parseTopology(text).name).toBe(parseTopology(text).name);
        } catch (error) {
          expect(TopologyError.is(error)).toBe(true);
        }
      }),
      { seed: SEED },
    );
    expect(TopologyError.is(new Error('other'))).toBe(false);
  });

  it('names what it built so that it reads it again', () => {
    for (const text of ['leaf-spine:4x2', 'leaf-spine:4x2x3', 'fat-tree:6'])
      expect(parseTopology(text).name).toBe(text);
    expect(parseTopology('leaf-spine:4x2x8').name).toBe('leaf-spine:4x2');
    expect(() => leafSpine({ leaves: 2.5, spines: 1 })).toThrow(RangeError);
    expect(() => fatTree({ k: 3 })).toThrow(RangeError);
  });
});
