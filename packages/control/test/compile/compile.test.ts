import { compile, type Intent } from '@int/control';
import { udpFrame } from '@int/netsim';
import { LocalSwitch } from '@int/p4runtime/internals';
import { describe, expect, it } from 'vitest';
import { addressOf, Fabric, intProgram, leafSpine, modelOf, numberOf } from './fabric.js';

const NOW = 1_000_000;
const terms = (id: string, priority = 100) => ({ id, owner: 'test', priority, fromMs: 0, ttlMs: null, reason: '' });

const frame = (from: number, to: number, sourcePort = 5000, destinationPort = 80): Uint8Array =>
  udpFrame(
    { source: numberOf(addressOf(from)), destination: numberOf(addressOf(to)), sourcePort, destinationPort },
    new Uint8Array(64),
  );

function fabricWith(intents: readonly Intent[], spec = leafSpine(3, 2, 6)): Fabric {
  const network = modelOf(spec);
  const { desired, conflicts, unplaced } = compile(network, intents, NOW);
  expect(conflicts).toEqual([]);
  expect(unplaced).toEqual([]);
  const fabric = new Fabric(network);
  fabric.install(desired);
  return fabric;
}

describe('compile', () => {
  it('routes flows to all hosts, each by one of the spines', () => {
    const fabric = fabricWith([]);
    const spines = new Set<number>();
    for (let port = 1; port < 40; port++) {
      const trip = fabric.send('h0', frame(0, 1, port));
      expect(trip.deliveredTo).toEqual(['h1']);
      expect(trip.path).toEqual([1, trip.path[1], 2]);
      spines.add(trip.path[1]!);
    }
    expect([...spines].sort()).toEqual([101, 102]);
    expect(fabric.send('h0', frame(0, 3)).path).toEqual([1]);
  });

  it('gives entities as a switch answers them', () => {
    const intents: Intent[] = [
      { ...terms('w'), kind: 'watch', match: { source: '10.0.0.0/24' }, instructions: 0xf000, oneIn: 8 },
      { ...terms('b'), kind: 'block', match: { protocol: 17, destinationPort: [53, 60] }, reportOneIn: 10 },
      { ...terms('l', 5), kind: 'limit', match: { source: '2001:db8::/32' }, bitsPerSecond: 1e6 },
      { ...terms('p'), kind: 'path', match: { destination: '10.0.1.0/24' }, via: [1, 102, 2] },
    ];
    const { desired } = compile(modelOf(leafSpine(2, 2, 4)), intents, NOW);
    const local = new LocalSwitch(intProgram());
    for (const { entity } of desired.get(1)!) expect(local.normal(entity)).toEqual(entity);
  });

  it('blocks where flows enter, and reports one of so many', () => {
    const block: Intent = {
      ...terms('b'),
      kind: 'block',
      match: { destination: '10.0.1.1', destinationPort: [80, 80] },
      reportOneIn: 4,
    };
    const fabric = fabricWith([block]);
    const trips = Array.from({ length: 8 }, (_, k) => fabric.send('h0', frame(0, 1, 1000 + k)));
    expect(trips.map(({ deliveredTo }) => deliveredTo)).toEqual(Array(8).fill([]));
    expect(trips.map(({ reports }) => reports.length)).toEqual([1, 0, 0, 0, 1, 0, 0, 0]);
    expect(fabric.send('h0', frame(0, 1, 1000, 81)).deliveredTo).toEqual(['h1']);
  });

  it('watches exactly the flows of a match, once each', () => {
    const watch: Intent = {
      ...terms('w'),
      kind: 'watch',
      match: { source: '10.0.0.1', protocol: 17 },
      instructions: 0xf000,
      oneIn: 1,
    };
    const fabric = fabricWith([watch]);
    const sent = frame(0, 1);
    const trip = fabric.send('h0', sent);
    expect(trip.reports).toHaveLength(1);
    expect(trip.frames).toEqual([sent]);
    expect(fabric.send('h1', frame(1, 0)).reports).toHaveLength(0);
  });

  it('sends flows over the switches of a path, and away from a link', () => {
    const via = (spine: number): Intent => ({
      ...terms('p'),
      kind: 'path',
      match: { source: '10.0.0.1', destination: '10.0.1.1' },
      via: [1, spine, 2],
    });
    for (const spine of [101, 102]) {
      const fabric = fabricWith([via(spine)]);
      for (let port = 1; port < 9; port++) expect(fabric.send('h0', frame(0, 1, port)).path).toEqual([1, spine, 2]);
    }
    const avoid: Intent = { ...terms('a'), kind: 'avoid', link: { switchId: 1, port: 1 } };
    const fabric = fabricWith([avoid]);
    for (let port = 1; port < 9; port++) {
      expect(fabric.send('h0', frame(0, 1, port)).path).toEqual([1, 102, 2]);
      expect(fabric.send('h1', frame(1, 0, port)).path).toEqual([2, 102, 1]);
      expect(fabric.send('h1', frame(1, 2, port)).deliveredTo).toEqual(['h2']);
    }
  });
});
