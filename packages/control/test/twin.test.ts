import { type ChangePlan, type DesiredState, type Minute, type ObservedFlow, type Rehearsal, Twin } from '@int/control';
import { entry } from '@int/p4runtime/internals';
import { Random } from '@int/random';
import { describe, expect, it } from 'vitest';
import { Fabric, type FabricHost, program, reroute, route } from './fabric.js';

const twin = new Twin({ int: program });
const invariants = { linkLoad: 0.8, mayDrop: [] };
const fabric = new Fabric(2, 2, 2);
const via = (): number => 0;
const before = fabric.routes(via);
const minute: Minute = { flows: fabric.flows(new Random(1), 10, via), seconds: 60 };
const to21 = minute.flows.filter(({ destination }) => destination === '10.0.2.1');

function rehearse(
  plan: ChangePlan,
  { state = before as DesiredState, network = fabric.model(), flows = minute.flows } = {},
): Rehearsal {
  return twin.rehearse(network, state, plan, { ...minute, flows }, invariants);
}

const kinds = ({ violations }: Rehearsal): unknown[] =>
  violations.map(({ kind, step, where }) => ({ kind, step, where }));

describe('the twin', () => {
  it('says which flows a change moves, and that it is safe', () => {
    const result = rehearse([[reroute(before, 1, '10.0.2.1/32', 52)]]);
    expect(result).toMatchObject({ isSafe: true, violations: [], unplaced: 0, astray: 0, dropped: [] });
    expect(to21.length).toBeGreaterThan(0);
    expect(result.moved).toEqual(to21.map((flow) => ({ flow, from: [1, 101, 2], to: [1, 102, 2] })));
    const bits = 8 * to21.reduce((sum, { bytes }) => sum + bytes, 0);
    expect(result.loads.get('1:52')).toEqual({ beforeBps: 0, afterBps: expect.closeTo(bits / 60), capacityBps: 1e9 });
    expect(result.steps).toEqual([
      { changes: 1, walked: 10, delivered: 10, lost: 0, linkLoad: expect.closeTo(bits / 60 / 1e9) },
    ]);
    expect(result.tables.find(({ switchId, table }) => switchId === 1 && table === 'IntIngress.forward_ipv4')).toEqual({
      switchId: 1,
      table: 'IntIngress.forward_ipv4',
      before: 4,
      after: 4,
      size: 16384,
    });
  });

  it('sees a loop, though only between two steps', () => {
    // The spine sends back what the leaf still sends to it.
    const there = [reroute(before, 101, '10.0.2.0/24', 1)];
    const back = [{ ...there[0]!, before: there[0]!.after, after: there[0]!.before }];
    const result = rehearse([there, back]);
    expect(kinds(result)).toEqual([{ kind: 'loop', step: 0, where: 'leaf-1' }]);
    expect(result.violations[0]!.flows).toBe(
      minute.flows.filter(({ destination }) => destination.startsWith('10.0.2.')).length,
    );
    expect(result.isSafe).toBe(false);
    expect(result.moved).toEqual([]);
  });

  it('sees packets that find no route', () => {
    const result = rehearse([[{ ...reroute(before, 2, '10.0.2.1/32', 1), type: 'delete', after: null }]]);
    expect(kinds(result)).toEqual([{ kind: 'black-hole', step: 0, where: 'leaf-2' }]);
    expect(result.dropped.map(({ flow, intents, switchId }) => ({ flow, intents, switchId }))).toEqual(
      to21.map((flow) => ({ flow, intents: [], switchId: 2 })),
    );
  });

  it('sees packets that an entry drops which no intent means', () => {
    const change = reroute(before, 2, '10.0.2.1/32', 1);
    const after = entry('IntIngress.forward_ipv4', { destination_address: '10.0.2.1/32' }, 'IntIngress.drop', {
      reason: 9,
    });
    expect(kinds(rehearse([[{ ...change, after }]]))).toEqual([{ kind: 'drop', step: 0, where: 'leaf-2' }]);
  });

  it('sees ports that lead nowhere, and to another host', () => {
    expect(kinds(rehearse([[reroute(before, 2, '10.0.2.1/32', 99)]]))).toEqual([
      { kind: 'wrong-port', step: 0, where: 'leaf-2:99' },
    ]);
    expect(kinds(rehearse([[reroute(before, 2, '10.0.2.1/32', 2)]]))).toEqual([
      { kind: 'wrong-port', step: 0, where: 'leaf-2:2' },
    ]);
  });

  it('sees a link that has failed, at either end, and does not blame a change for what was lost before', () => {
    const change = [reroute(before, 1, '10.0.2.1/32', 52)];
    for (const link of ['1:52', '102:1']) {
      expect(kinds(rehearse([change], { network: fabric.model(new Set([link])) }))).toEqual([
        { kind: 'black-hole', step: 0, where: 'leaf-1:52' },
      ]);
    }
    const result = rehearse([change], { network: fabric.model(new Set(['1:51'])) });
    expect(result.violations).toEqual([]);
    // All others cross the link, in one direction or the other.
    expect(result.steps[0]!.delivered).toBe(to21.length);
  });

  it('sees a link with too much on it', () => {
    const slow = new Fabric(2, 2, 2, '1M');
    const heavy = (via: (leaf: number, host: FabricHost) => number): ObservedFlow[] =>
      slow.flows(new Random(3), 40, via, { packets: () => 375, bytes: () => 1000 });
    const apart = (_: number, { port }: FabricHost): number => port - 1;
    const state = slow.routes(apart);
    // 40 flows of 50 kbit/s: about 0.5 Mbit/s by each spine in each direction, and twice that by one.
    const changes = [reroute(state, 1, '10.0.2.2/32', 51)];
    const result = rehearse([changes], { state, network: slow.model(), flows: heavy(apart) });
    expect(kinds(result)).toEqual([
      { kind: 'overload', step: 0, where: 'leaf-1:51' },
      { kind: 'overload', step: 0, where: 'spine-1:2' },
    ]);
  });

  it('sees entries that the switch refuses', () => {
    const insert = (entity: ReturnType<typeof route>): ChangePlan => [
      [{ switchId: 1, type: 'insert', before: null, after: entity, intents: [] }],
    ];
    const refused = (plan: ChangePlan): string => {
      const { violations } = rehearse(plan);
      expect(violations.map(({ kind }) => kind)).toEqual(['refused-entry']);
      return violations[0]!.message;
    };
    expect(refused(insert(route('10.0.2.1/32', 51)))).toContain('ALREADY_EXISTS');
    expect(refused(insert(entry('IntIngress.nothing', {}, 'NoAction')))).toContain('nothing');
    expect(refused(insert(route('10.9.0.0/16', 5000)))).toContain('5000');
    expect(refused([[{ ...reroute(before, 1, '10.0.2.1/32', 51), switchId: 77 }]])).toContain('session');
  });

  it('counts flows that it cannot place, and those that went elsewhere than the tables say', () => {
    const [flow] = minute.flows as [ObservedFlow];
    const flows = [
      { ...flow, source: 'nonsense' },
      { ...flow, source: '10.77.0.1', path: [] },
      { ...flow, path: [flow.path[0]!, 102, flow.path[2]!] },
      // A forged source, whose packets come in by a known switch.
      { ...flow, source: '203.0.113.7' },
    ];
    expect(rehearse([], { flows })).toMatchObject({ unplaced: 2, astray: 1, isSafe: true });
    expect(() => twin.rehearse(fabric.model(), before, [], { flows, seconds: 0 }, invariants)).toThrow(RangeError);
  });
});
