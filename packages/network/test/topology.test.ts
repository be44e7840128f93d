import { parseAddress } from '@int/codec';
import { isInPrefix, NetworkError, prefixOf, Topology, type TopologySpec } from '@int/network';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runs } from '../../../.ci/test/length.js';

const SEED = Number(process.env.INT_SEED ?? 20_261_128);
const bytesOf = (text: string): Uint8Array =>
  Uint8Array.from(
    parseAddress(text).words.flatMap((word) => [word >>> 24, (word >>> 16) & 255, (word >>> 8) & 255, word & 255]),
  );

const SPEC: TopologySpec = {
  switches: {
    1: {
      name: 'leaf-1',
      ports: { 1: { to: 'spine-1:3', speed: '10G' }, 2: { to: 'host h1' }, 3: { name: 'uplink' }, 4: { to: '101' } },
    },
    101: { name: 'spine-1', ports: { 3: { to: '1:1', speed: 400e6 } } },
    7: {},
  },
  hosts: { h1: { addresses: ['10.0.1.0/24', '2001:db8:1::/48'], level: 2 }, servers: { addresses: ['10.0.0.0/16'] } },
};

function problemsOf(spec: TopologySpec): string[] {
  try {
    new Topology(spec);
  } catch (error) {
    if (!NetworkError.is(error)) throw error;
    return error.problems.map(({ path, message }) => `${path.join('.')}: ${message}`);
  }
  return [];
}

describe('Topology', () => {
  const topology = new Topology(SPEC);

  test('names switches and ports; what nobody named stays a number', () => {
    expect([1, 101, 7, 8].map((id) => topology.switchText(id))).toEqual(['leaf-1', 'spine-1', '7', '8']);
    expect(['leaf-1', '7', '4000', 'nobody'].map((name) => topology.switchId(name))).toEqual([1, 7, 4000, null]);
    expect([1, 2, 3, 4, 5].map((port) => topology.portName(1, port))).toEqual([
      'to spine-1',
      'h1',
      'uplink',
      'to spine-1',
      null,
    ]);
    expect(topology.portName(8, 1)).toBeNull();
    expect(Topology.NONE.switchText(5)).toBe('5');
  });

  test('knows what is at the other end of a port, and its speed', () => {
    expect(topology.peer(1, 1)).toEqual({ kind: 'switch', switchId: 101, port: 3 });
    expect(topology.peer(101, 3)).toEqual({ kind: 'switch', switchId: 1, port: 1 });
    expect(topology.peer(1, 4)).toEqual({ kind: 'switch', switchId: 101, port: null });
    expect(topology.peer(1, 2)).toEqual({ kind: 'host', host: 'h1' });
    expect(topology.peer(1, 9)).toBeNull();
    expect(topology.switches.get(1)?.ports.get(1)?.speedBps).toBe(10e9);
    expect(topology.switches.get(101)?.ports.get(3)?.speedBps).toBe(400e6);
  });

  test('knows neighbours by ports and by links without ports, from both ends', () => {
    const drawn = new Topology({
      switches: { 1: { name: 'a', links: ['b', '30'] }, 2: { name: 'b' }, 3: { ports: { 4: { to: 'b:1' } } } },
    });
    expect([1, 2, 3, 30, 4].map((id) => drawn.neighbours(id))).toEqual([[2, 30], [1, 3], [2], [1], []]);
    expect(problemsOf({ switches: { 1: { links: ['b'] } } })).toEqual([
      'switches.1.links.0: "b" is no switch that is named here: write its name or its id',
    ]);
  });

  test('refuses names that a terminal would obey', () => {
    const problems = problemsOf({
      switches: { 1: { name: '\u001b[2J', ports: { 1: { name: 'a\nb' } } }, 2: { name: '' } },
      hosts: { 'h\u0007': { addresses: [] } },
    });
    expect(problems).toHaveLength(4);
  });

  test('finds the host of an address by its longest prefix', () => {
    expect(topology.hostOf(bytesOf('10.0.1.9'))?.name).toBe('h1');
    expect(topology.hostOf(bytesOf('10.0.2.9'))?.name).toBe('servers');
    expect(topology.hostOf(bytesOf('2001:db8:1::5'))).toMatchObject({ name: 'h1', level: 2 });
    expect(topology.hostOf(bytesOf('11.0.0.1'))).toBeNull();
  });

  test('names all that is wrong, each with its place', () => {
    const problems = problemsOf({
      switches: {
        one: {},
        2: {
          name: 'a',
          ports: { x: {}, 1: { to: 'b:c', speed: 'fast' }, 2: { to: 'host nobody' }, 3: { to: 'nowhere:1' } },
        },
        3: { name: 'a' },
        4: { name: '17' },
      },
      hosts: { h: { addresses: ['10.0.0.0/40'], level: -1 } },
    });
    expect(problems.map((text) => text.split(':')[0]).sort()).toEqual([
      'hosts.h.addresses.0',
      'hosts.h.level',
      'switches.2.ports.1.speed',
      'switches.2.ports.1.to',
      'switches.2.ports.2.to',
      'switches.2.ports.3.to',
      'switches.2.ports.x',
      'switches.3.name',
      'switches.4.name',
      'switches.one',
    ]);
  });
});

test('an address is in a prefix if its first bits are those of the prefix', () => {
  fc.assert(
    fc.property(fc.nat(0xffffffff), fc.nat(0xffffffff), fc.integer({ min: 0, max: 32 }), (a, b, length) => {
      const text = (word: number): string => [24, 16, 8, 0].map((shift) => (word >>> shift) & 255).join('.');
      const prefix = prefixOf(`${text(a)}/${length}`)!;
      const isSame = length === 0 || a >>> (32 - length) === b >>> (32 - length);
      expect(isInPrefix(prefix, bytesOf(text(b)), 0, 4)).toBe(isSame);
      expect(isInPrefix(prefix, bytesOf(text(a)), 0, 4)).toBe(true);
      expect(isInPrefix(prefix, new Uint8Array(16), 0, 16)).toBe(false);
    }),
    { seed: SEED, numRuns: runs(2000) },
  );
  for (const text of ['', '10.0.0', '10.0.0.0/', '10.0.0.0/-1', '10.0.0.0/8/8', '::/129'])
    expect(prefixOf(text)).toBeNull();
});
