import { type CompileOptions, compile, type DesiredState, type Intent, planChanges } from '@int/control';
import { udpFrame } from '@int/netsim';
import type { TopologySpec } from '@int/network';
import { LocalSwitch } from '@int/p4runtime/internals';
import { describe, expect, it } from 'vitest';
import { addressOf, Fabric, intProgram, leafSpine, modelOf, numberOf, topologyOf } from './fabric.js';

const NOW = 1_000_000;
const terms = (id: string, priority = 100, fromMs = 0) => ({
  id,
  owner: 'test',
  priority,
  fromMs,
  ttlMs: null,
  reason: '',
});

const frame = (from: number, to: number, sourcePort = 5000, destinationPort = 80, bytes = 64): Uint8Array =>
  udpFrame(
    { source: numberOf(addressOf(from)), destination: numberOf(addressOf(to)), sourcePort, destinationPort },
    new Uint8Array(bytes),
  );

function fabricWith(intents: readonly Intent[], spec: TopologySpec, options: CompileOptions = {}): Fabric {
  const network = modelOf(spec);
  const { desired, conflicts, unplaced } = compile(network, intents, NOW, options);
  expect(conflicts).toEqual([]);
  expect(unplaced).toEqual([]);
  const fabric = new Fabric(network);
  fabric.install(desired);
  return fabric;
}

const entriesOf = (desired: DesiredState, table: string): number =>
  [...desired.values()].flat().filter(({ entity }) => entity.kind === 'table-entry' && entity.table === table).length;

describe('limit', () => {
  it('lets through its rate, and once its burst; the rest is dropped and counted', () => {
    const bitsPerSecond = 800_000;
    const limit: Intent = { ...terms('l'), kind: 'limit', match: { destination: addressOf(1) }, bitsPerSecond };
    const fabric = fabricWith([limit], leafSpine(2, 1, 2));
    // 100,000 bytes a second are allowed; 250,000 come, for four seconds.
    const packet = frame(0, 1, 5000, 80, 958);
    expect(packet).toHaveLength(1000);
    const [seconds, burst] = [4, 10_000];
    let bytes = 0;
    let sent = 0;
    for (; fabric.clock.us < seconds * 1e6; fabric.clock.us += 4000, sent++) {
      if (fabric.send('h0', packet).deliveredTo.length > 0) bytes += packet.length;
    }
    expect(bytes).toBeLessThanOrEqual((bitsPerSecond / 8) * seconds + burst);
    // The second meter, at the other leaf, has the same rate: what the first lets through, it does.
    expect(bytes).toBeGreaterThan(0.97 * (bitsPerSecond / 8) * seconds);
    const dropped = [1, 2].map((id) => {
      const counter = fabric.switches.get(id)!.machine.counter('IntIngress.access_drops');
      return Array.from({ length: 1024 }, (_, cell) => Number(counter.read(cell).packets)).reduce(
        (sum, each) => sum + each,
      );
    });
    expect(dropped[0]! + dropped[1]!).toBe(sent - bytes / packet.length);
    expect(fabric.send('h1', frame(1, 0)).deliveredTo).toEqual(['h0']);
  });
});

describe('watch', () => {
  it('takes one packet of so many of each flow, where flows pass several switches with hosts', () => {
    const watch: Intent = { ...terms('w'), kind: 'watch', match: {}, instructions: 0xe000, oneIn: 4 };
    const fabric = fabricWith(
      [watch],
      topologyOf(
        [1, 2, 3],
        [
          [1, 2],
          [2, 3],
        ],
        [1, 2, 3],
      ),
    );
    for (const port of [1, 2, 3]) {
      const counts = Array.from({ length: 12 }, () => fabric.send('h0', frame(0, 2, port)).reports.length);
      expect(counts).toEqual([1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0]);
    }
  });

  it('has no place without a way to the collector', () => {
    const network = { ...modelOf(leafSpine(2, 1, 2)), collector: { address: '192.0.2.1', port: 9 } };
    const watch: Intent = { ...terms('w'), kind: 'watch', match: {}, instructions: 0xe000, oneIn: 1 };
    const { desired, unplaced } = compile(network, [watch], NOW);
    expect(unplaced.map(({ intent, code }) => [intent, code])).toEqual([
      [null, 'NO_COLLECTOR'],
      ['w', 'NO_COLLECTOR'],
    ]);
    expect(entriesOf(desired, 'IntIngress.watch_ipv4')).toBe(0);
  });
});

describe('equal paths', () => {
  // 1 reaches 6 over 2 or 3, and from each over 4 or 5.
  const links = [
    [1, 2],
    [1, 3],
    [2, 4],
    [2, 5],
    [3, 4],
    [3, 5],
    [4, 6],
    [5, 6],
  ] as const;
  const spec = topologyOf([1, 2, 3, 4, 5, 6], links, [1, 6]);
  const used = (hashSeed: 'switch' | number): Record<string, number> => {
    const fabric = fabricWith([], spec, { hashSeed });
    const counts: Record<string, number> = {};
    for (let port = 0; port < 400; port++) {
      const path = fabric.send('h0', frame(0, 1, 1000 + port)).path.join('-');
      counts[path] = (counts[path] ?? 0) + 1;
    }
    return counts;
  };

  it('are used evenly if each switch has a seed of its own', () => {
    const counts = used('switch');
    expect(Object.keys(counts)).toHaveLength(4);
    for (const count of Object.values(counts)) expect(count).toBeGreaterThan(60);
  });

  it('are polarised by one seed for all', () => {
    expect(Object.keys(used(7)).sort()).toHaveLength(2);
  });

  it('are left when a port goes down, before a controller knows', () => {
    const fabric = fabricWith([], leafSpine(2, 2, 2));
    fabric.switches.get(1)!.setPort(1, false);
    for (let port = 1; port < 20; port++) expect(fabric.send('h0', frame(0, 1, port)).path).toEqual([1, 102, 2]);
  });

  it('are one path without spreading', () => {
    const fabric = fabricWith([], leafSpine(2, 3, 2), { spread: false });
    for (let port = 1; port < 20; port++) expect(fabric.send('h0', frame(0, 1, port)).path).toEqual([1, 101, 2]);
  });
});

describe('avoid', () => {
  const avoid: Intent = { ...terms('a'), kind: 'avoid', link: { switchId: 1, port: 1 } };

  it('lays routes over those of somebody else, only while it is there', () => {
    const network = modelOf(leafSpine(2, 2, 2));
    const before = compile(network, [], NOW, { routes: 'external' }).desired;
    expect(entriesOf(before, 'IntIngress.forward_ipv4') + entriesOf(before, 'IntIngress.steer_ipv4')).toBe(0);
    const { desired } = compile(network, [avoid], NOW, { routes: 'external' });
    const fabric = new Fabric(network);
    fabric.install(desired);
    for (const machine of fabric.switches.values())
      machine.machine.command('table_set_default IntIngress.forward_ipv4 IntIngress.forward 1');
    for (let port = 1; port < 20; port++) expect(fabric.send('h0', frame(0, 1, port)).path).toEqual([1, 102, 2]);
  });

  it('keeps the only way, and says so', () => {
    const network = modelOf(leafSpine(2, 1, 2));
    const { desired, unplaced } = compile(network, [avoid], NOW);
    const fabric = new Fabric(network);
    fabric.install(desired);
    expect(fabric.send('h0', frame(0, 1)).deliveredTo).toEqual(['h1']);
    expect(new Set(unplaced.map(({ intent, code }) => `${intent} ${code}`))).toEqual(new Set(['a NO_OTHER_PATH']));
    expect(unplaced.map(({ message }) => message).join()).toContain('h1');
  });

  it('names links that there are not', () => {
    const wrong: Intent = { ...avoid, link: { switchId: 1, port: 77 } };
    expect(compile(modelOf(leafSpine(2, 1, 2)), [wrong], NOW).unplaced).toMatchObject([
      { intent: 'a', code: 'NO_SUCH_LINK' },
    ]);
  });

  it('is behind the routes that it changes', () => {
    const { desired } = compile(modelOf(leafSpine(2, 2, 2)), [avoid], NOW);
    const behind = desired
      .get(1)!
      .filter(({ intents }) => intents.includes('a'))
      .map(({ entity }) => 'table' in entity && entity.table);
    expect(behind).toContain('IntIngress.forward_ipv4');
  });
});

describe('what has no place', () => {
  it('is a whole intent if a table is full, the least important one', () => {
    const { p4info } = intProgram();
    const small = {
      ...p4info,
      tables: p4info.tables.map((table) => (table.preamble?.alias === 'access_ipv4' ? { ...table, size: 3n } : table)),
    };
    const block = (id: string, priority: number, port: number): Intent => ({
      ...terms(id, priority),
      kind: 'block',
      match: { destinationPort: [port, port] },
      reportOneIn: 0,
    });
    // One entry is that which lets reports pass.
    const intents = [block('low', 1, 1), block('high', 3, 2), block('middle', 2, 3)];
    const { desired, unplaced } = compile(modelOf(leafSpine(2, 1, 2), { p4info: small }), intents, NOW);
    expect(unplaced.map(({ intent, code }) => [intent, code])).toEqual([['low', 'TABLE_FULL']]);
    expect([...desired.values()].flat().flatMap(({ intents: names }) => names)).not.toContain('low');
    expect(entriesOf(desired, 'IntIngress.access_ipv6')).toBe(4);
  });

  it('is a path that nobody can take', () => {
    const path = (via: readonly number[], destination = addressOf(1)): Intent => ({
      ...terms('p'),
      kind: 'path',
      match: { destination },
      via,
    });
    const codes = (intent: Intent, failed: readonly string[] = []): readonly string[] =>
      compile(modelOf(leafSpine(2, 2, 2), { failed }), [intent], NOW).unplaced.map(({ code }) => code);
    expect(codes(path([1, 77, 2]))).toEqual(['NO_SUCH_SWITCH']);
    expect(codes(path([1, 101, 2], '192.0.2.1'))).toEqual(['NO_HOST']);
    expect(codes(path([1, 101, 2]), ['101:1'])).toEqual(['NO_PATH']);
    expect(codes(path([1, 101, 2]))).toEqual([]);
    expect(codes(path([101, 1]))).toEqual([]);
  });

  it('is a host that no link leads to', () => {
    const network = modelOf(leafSpine(2, 1, 2), { failed: ['2:1'] });
    const { unplaced } = compile(network, [], NOW);
    expect(unplaced.map(({ switchId, code }) => [switchId, code])).toContainEqual([1, 'NO_PATH']);
  });
});

describe('IPv6', () => {
  const spec: TopologySpec = {
    ...leafSpine(2, 2, 2),
    hosts: {
      h0: { addresses: ['2001:db8:0::/48', '10.0.0.0/24'] },
      h1: { addresses: ['2001:db8:1::/48'] },
      collector: { addresses: ['10.255.0.9'] },
    },
  };
  /** UDP from host 0 to host 1. */
  function frame6(destinationPort: number): Uint8Array {
    const bytes = new Uint8Array(14 + 40 + 8 + 32);
    const view = new DataView(bytes.buffer);
    view.setUint16(12, 0x86dd);
    bytes[14] = 0x60;
    view.setUint16(18, 40);
    bytes.set([17, 64], 20);
    bytes.set([0x20, 0x01, 0x0d, 0xb8, 0, 0], 22);
    bytes.set([0x20, 0x01, 0x0d, 0xb8, 0, 1], 38);
    view.setUint16(54, 1234);
    view.setUint16(56, destinationPort);
    view.setUint16(58, 40);
    return bytes;
  }

  it('has the same intents', () => {
    const destination = '2001:db8:1::/64';
    const fabric = fabricWith(
      [
        { ...terms('w'), kind: 'watch', match: { source: '2001:db8::/48' }, instructions: 0xe000, oneIn: 1 },
        { ...terms('p'), kind: 'path', match: { destination }, via: [1, 102, 2] },
        { ...terms('b'), kind: 'block', match: { destinationPort: [9, 9] }, reportOneIn: 1 },
      ],
      spec,
    );
    for (let port = 10; port < 20; port++) {
      const trip = fabric.send('h0', frame6(port));
      expect(trip.path).toEqual([1, 102, 2]);
      expect(trip.frames).toEqual([frame6(port)]);
      expect(trip.reports).toHaveLength(1);
    }
    expect(fabric.send('h0', frame6(9))).toMatchObject({ deliveredTo: [], path: [1] });
  });
});

describe('reconciliation', () => {
  it('finds nothing to do in a network that has what was compiled', () => {
    const network = modelOf(leafSpine(2, 2, 4));
    const intents: Intent[] = [
      { ...terms('w'), kind: 'watch', match: {}, instructions: 0xe000, oneIn: 2 },
      { ...terms('l'), kind: 'limit', match: { source: '10.0.1.0/24' }, bitsPerSecond: 1e6 },
      { ...terms('p'), kind: 'path', match: { destination: addressOf(1) }, via: [1, 102, 2] },
    ];
    const { desired } = compile(network, intents, NOW);
    const local = new LocalSwitch(intProgram());
    const found = new Map(
      [...desired].map(([id, entities]) => [id, entities.map(({ entity }) => local.normal(entity))]),
    );
    const { switches } = network;
    expect(planChanges(desired, found, { switches }).plan.flat()).toEqual([]);
    // All goes again, and nothing else.
    const bare = compile(network, [], NOW).desired;
    const { plan, obstacles } = planChanges(bare, found, { switches });
    expect(obstacles).toEqual([]);
    const names = plan.flat().flatMap(({ type, before }) => (type === 'delete' ? [before!.kind] : []));
    expect(new Set(names)).toEqual(new Set(['table-entry']));
    expect(plan.flat()).toHaveLength(names.length);
  });
});

describe('a switch without a session', () => {
  it('is bypassed where that is possible', () => {
    const network = modelOf(leafSpine(2, 2, 2), { down: [101] });
    const fabric = new Fabric(network);
    fabric.install(compile(network, [], NOW).desired);
    for (let port = 1; port < 20; port++) expect(fabric.send('h0', frame(0, 1, port)).path).toEqual([1, 102, 2]);
  });
});

describe('conflicts', () => {
  const block: Intent = { ...terms('b', 5, 1), kind: 'block', match: { source: '10.0.0.0/24' }, reportOneIn: 0 };
  const limit = (over: Partial<Intent>): Intent =>
    ({ ...terms('l', 5, 2), kind: 'limit', match: { destinationPort: [1, 9] }, bitsPerSecond: 1e6, ...over }) as Intent;
  const conflictsOf = (...intents: Intent[]): readonly (readonly string[])[] =>
    compile(modelOf(leafSpine(2, 2, 2)), intents, NOW).conflicts.map(({ kept, refused }) => [kept, refused]);

  it('are told with both names, and the older one stays', () => {
    expect(conflictsOf(limit({}), block)).toEqual([['b', 'l']]);
    expect(conflictsOf(limit({ fromMs: 0 }), block)).toEqual([['l', 'b']]);
    const { desired } = compile(modelOf(leafSpine(2, 2, 2)), [limit({}), block], NOW);
    expect(new Set([...desired.values()].flat().flatMap(({ intents }) => intents))).toEqual(new Set(['b']));
  });

  it('are none for other priorities, flows, times, kinds or the same wish', () => {
    expect(conflictsOf(limit({ priority: 6 }), block)).toEqual([]);
    expect(conflictsOf(limit({ match: { source: '10.0.1.0/24' } } as Partial<Intent>), block)).toEqual([]);
    expect(conflictsOf(limit({ fromMs: NOW + 1 }), block)).toEqual([]);
    expect(conflictsOf(limit({ ttlMs: 10 }), block)).toEqual([]);
    expect(conflictsOf({ ...block, id: 'b2', fromMs: 3 }, block)).toEqual([]);
    const watch: Intent = { ...terms('w', 5), kind: 'watch', match: {}, instructions: 0x8000, oneIn: 1 };
    expect(conflictsOf(watch, block)).toEqual([]);
    expect(conflictsOf(watch, { ...watch, id: 'w2', oneIn: 2 })).toEqual([['w', 'w2']]);
  });

  it('are none between intents that agree: they share their entries', () => {
    const other: Intent = { ...block, id: 'b2', fromMs: 3, match: { source: '10.0.0.9/24' } };
    const { desired, unplaced } = compile(modelOf(leafSpine(2, 2, 2)), [block, other], NOW);
    expect(unplaced).toEqual([]);
    const behind = [...desired.values()].flat().map(({ intents }) => intents.join());
    expect(new Set(behind)).toEqual(new Set(['', 'b,b2']));
  });

  it('are a path over a link that is avoided with the same priority; a more important one decides', () => {
    const path: Intent = { ...terms('p', 5), kind: 'path', match: { destination: addressOf(1) }, via: [1, 101, 2] };
    const avoid = (priority: number): Intent => ({
      ...terms('a', priority),
      kind: 'avoid',
      link: { switchId: 1, port: 1 },
    });
    expect(conflictsOf(path, avoid(5))).toEqual([['a', 'p']]);
    expect(conflictsOf(path, avoid(4))).toEqual([]);
    const compiled = compile(modelOf(leafSpine(2, 2, 2)), [path, avoid(6)], NOW);
    expect(compiled.conflicts).toEqual([]);
    expect(compiled.unplaced.map(({ intent, code }) => [intent, code])).toEqual([['p', 'NO_PATH']]);
  });
});
