import type { LoopInput } from '@int/control';
import { describe, expect, it } from 'vitest';
import { ALL_ACT, flow, linkFailure, SAFE, scan } from './scenes.js';
import { Surroundings } from './surroundings.js';

const incident = (from: number, source?: string): LoopInput => ({ kind: 'incident', incident: scan(from, source) });
const order = (kind: 'approve' | 'reject' | 'undo', proposal: string): LoopInput => ({
  kind: 'order',
  order: { kind, proposal, by: 'ann' },
});
const all = (kind: 'stop' | 'withdraw' | 'resume'): LoopInput => ({ kind: 'order', order: { kind, by: 'ann' } });

describe('a block', () => {
  const scanner = flow({ source: '198.51.100.7', mbps: 0.1, packets: 10 });

  it('is installed, verified when the traffic is gone, and expires', () => {
    const world = new Surroundings(ALL_ACT);
    world.measured([scanner]);
    world.step(incident(world.nowMs));
    expect(world.states()).toEqual(['block installed']);
    expect(world.loop.intents).toMatchObject([{ kind: 'block', match: { source: '198.51.100.7' }, reportOneIn: 100 }]);
    for (let k = 0; k < 5; k++) world.measured([]);
    expect(world.states()).toEqual(['block verified']);
    expect(world.loop.proposals[0]).toMatchObject({ predicted: { before: 100_000, after: 0 }, measured: { after: 0 } });
    world.seconds(60);
    expect(world.states()).toEqual(['block expired']);
    expect(world.loop.intents).toEqual([]);
  });

  it('is renewed while 1 of 100 dropped packets still comes', () => {
    const world = new Surroundings(ALL_ACT);
    world.measured([scanner]);
    world.step(incident(world.nowMs));
    for (let k = 0; k < 200; k++) world.measured([], { dropped: k % 5 === 0 ? [{ ...scanner, packets: 1 }] : [] });
    expect(world.states()).toEqual(['block verified']);
    expect(world.loop.proposals[0]!.renewals).toBe(3);
    for (let k = 0; k < 100; k++) world.measured([]);
    expect(world.states()).toEqual(['block expired']);
  });

  it('that does not help is rolled back, and not tried again at once', () => {
    const world = new Surroundings(ALL_ACT);
    world.measured([scanner]);
    world.step(incident(world.nowMs));
    for (let k = 0; k < 6; k++) world.measured([scanner]);
    expect(world.states()).toEqual(['block rolled-back']);
    expect(world.reason).toBe('it did not help: 0.100 Mbit/s before, 0.100 Mbit/s now, 0.000 Mbit/s predicted');
    for (let k = 0; k < 50; k++) world.measured([scanner]);
    expect(world.states()).toEqual(['block rolled-back']);
    for (let k = 0; k < 20; k++) world.measured([scanner]);
    expect(world.states()).toEqual(['block rolled-back', 'block rolled-back']);
  });

  it('waits for approval where the policy says propose, and cannot be approved where it says observe', () => {
    const world = new Surroundings({ ...ALL_ACT, autonomy: { block: 'propose' } });
    world.step(incident(1), {
      kind: 'incident',
      incident: { ...scan(2), id: 'w', suggest: { intent: 'watch', match: { source: '198.51.100.9' }, ttlMs: 1 } },
    });
    expect(world.states()).toEqual(['block proposed', 'watch proposed']);
    const [block, watch] = world.loop.proposals.map(({ id }) => id) as [string, string];
    expect(world.step(order('approve', watch))).toMatchObject([
      { kind: 'answer', error: 'the policy says observe for watch' },
    ]);
    world.step(order('approve', block));
    expect(world.states()).toEqual(['block installed', 'watch proposed']);
    expect(world.loop.proposals[0]!.history.map(({ state, by }) => `${state} by ${by}`)).toEqual([
      'proposed by loop',
      'approved by ann',
      'installed by loop',
    ]);
    world.step(order('undo', block));
    expect(world.states()).toContain('block withdrawn');
    expect(world.loop.intents).toEqual([]);
  });

  it('is refused if its rehearsal is not safe', () => {
    const world = new Surroundings(ALL_ACT);
    const violation = { kind: 'loop', step: 0, where: '1', flows: 2, message: '2 flows loop at leaf1' } as const;
    world.rehearsal = { ...SAFE, isSafe: false, violations: [violation] };
    world.step(incident(1));
    expect(world.states()).toEqual(['block refused']);
    expect(world.reason).toBe('the rehearsal found 2 flows loop at leaf1');
    const advised = new Surroundings({ ...ALL_ACT, rehearse: 'advised' });
    advised.rehearsal = world.rehearsal;
    advised.step(incident(1));
    expect(advised.loop.proposals[0]).toMatchObject({ state: 'installed', rehearsal: { isSafe: false } });
  });

  it('is refused if a switch refuses it', () => {
    const world = new Surroundings(ALL_ACT);
    world.error = 'leaf1: the table is full';
    world.step(incident(1));
    expect(world.states()).toEqual(['block refused']);
    expect(world.loop.intents).toEqual([]);
    // What may be there in part is taken away.
    expect(world.actions.filter(({ kind }) => kind === 'apply')).toHaveLength(2);
  });

  it('is at once for what is protected', () => {
    const world = new Surroundings({ ...ALL_ACT, autonomy: { block: 'propose' } });
    const terms = { id: 'shop', owner: 'ann', priority: 1, fromMs: 0, ttlMs: null, reason: 'it earns our money' };
    const given = { ...terms, kind: 'protect', destination: '10.0.2.0/24', level: 3 } as const;
    world.step({ kind: 'intents', intents: [given], by: 'ann' });
    const suggest = {
      intent: 'block',
      match: { source: '198.51.100.7', destination: '10.0.2.1' },
      ttlMs: 60_000,
    } as const;
    world.step({ kind: 'incident', incident: { ...scan(1), suggest } });
    expect(world.states()).toEqual(['block installed']);
  });
});

describe('a flood', () => {
  const flood = (k: number): ReturnType<typeof flow> =>
    flow({ source: `203.0.113.${k}`, packets: 1, mbps: 0.001, sourcePort: 5000 + k });
  const usual = flow({ source: '10.0.1.1' });
  const synFlood = (from: number): LoopInput => ({
    kind: 'incident',
    incident: {
      ...scan(from),
      ...{ id: 'f', kind: 'syn-flood', entity: 'host:10.0.2.1' },
      suggest: { intent: 'limit', match: { destination: '10.0.2.1', protocol: 'tcp' }, ttlMs: 60_000 },
    },
  });

  it('from a few prefixes is blocked there, and usual sources are not', () => {
    const world = new Surroundings(ALL_ACT);
    for (let k = 0; k < 3; k++) world.measured([usual]);
    world.step(synFlood(world.nowMs));
    expect(world.states()).toEqual([]);
    world.measured([usual, ...Array.from({ length: 200 }, (_, k) => flood(k))]);
    expect(world.states()).toEqual(['block installed']);
    expect(world.loop.intents).toMatchObject([
      { kind: 'block', match: { source: '203.0.113.0/24', destination: '10.0.2.1', protocol: 6 } },
    ]);
  });

  it('from everywhere is limited', () => {
    const world = new Surroundings(ALL_ACT);
    world.measured([usual]);
    const anywhere = Array.from({ length: 250 }, (_, k) =>
      flow({ source: `${k + 1}.7.${k}.9`, packets: 1, mbps: 0.01 }),
    );
    world.step(synFlood(world.nowMs));
    world.measured([usual, ...anywhere]);
    expect(world.loop.intents).toMatchObject([{ kind: 'limit', match: { destination: '10.0.2.1', protocol: 6 } }]);
  });
});

describe('a link that fails', () => {
  const flows = [flow({ mbps: 2 }), flow({ sourcePort: 1001, mbps: 3 })];

  it('is avoided until its time is over, and twice as long when it fails again', () => {
    const world = new Surroundings(ALL_ACT);
    for (let k = 0; k < 3; k++) world.measured(flows);
    world.measured([]);
    world.step(
      { kind: 'event', event: linkFailure(world.nowMs, 1, 101, 1500) },
      { kind: 'event', event: linkFailure(world.nowMs, 101, 1) },
    );
    expect(world.states()).toEqual(['avoid installed']);
    expect(world.loop.proposals[0]!.reason).toBe(
      'link failure: nothing crosses leaf1 to spine1 for 1.5 s, 3 flows did',
    );
    expect(world.loop.failedLinks).toEqual(new Set(['1:1', '101:1']));
    expect(world.loop.intents).toMatchObject([{ kind: 'avoid', link: { switchId: 1, port: 1 }, ttlMs: 60_000 }]);
    for (let k = 0; k < 5; k++) world.measured(flows.map((each) => ({ ...each, path: [1, 102, 2] })));
    expect(world.states()).toEqual(['avoid verified']);
    expect(world.loop.proposals[0]).toMatchObject({ predicted: { after: 5e6 }, measured: { after: 5e6 } });
    world.seconds(60);
    expect(world.states()).toEqual(['avoid expired']);
    for (let k = 0; k < 3; k++) world.measured(flows);
    world.step({ kind: 'event', event: linkFailure(world.nowMs) });
    expect(world.loop.intents).toMatchObject([{ kind: 'avoid', ttlMs: 120_000 }]);
  });
});

describe('a link that is silent', () => {
  it('has not failed if all that crossed it was seen for a moment', () => {
    const world = new Surroundings(ALL_ACT);
    for (let k = 0; k < 5; k++) world.measured([flow({ sourcePort: 2000 + k })]);
    world.step({ kind: 'event', event: linkFailure(world.nowMs) });
    expect(world.states()).toEqual([]);
    expect(world.actions.at(-1)).toMatchObject({ kind: 'note', note: { what: 'seen' } });
  });
});

describe('a link that is too hot', () => {
  const elephants = [flow({ mbps: 5 }), flow({ sourcePort: 1001, mbps: 4 })];
  const moved = [{ ...elephants[0]!, path: [1, 102, 2] }, elephants[1]!];

  it('loses a flow to another path, which stays while it would fill its old one', () => {
    const world = new Surroundings(ALL_ACT);
    for (let k = 0; k < 5; k++) world.measured(elephants);
    expect(world.states()).toEqual(['path installed']);
    const [intent] = world.loop.intents;
    expect(intent).toMatchObject({ kind: 'path', via: [1, 102, 2] });
    for (let k = 0; k < 5; k++) world.measured(moved);
    expect(world.states()).toEqual(['path verified']);
    for (let k = 0; k < 100; k++) world.measured(moved);
    expect(world.states()).toEqual(['path verified']);
    for (let k = 0; k < 130; k++)
      world.measured([
        { ...moved[0]!, bytes: 1000 },
        { ...moved[1]!, bytes: 62_500 },
      ]);
    expect(world.states()).toEqual(['path expired']);
  });

  it('is told nothing by stale telemetry', () => {
    const world = new Surroundings(ALL_ACT);
    for (let k = 0; k < 10; k++) world.measured(elephants, { ageMs: 5000 });
    expect(world.states()).toEqual([]);
  });
});

describe('the emergency stop', () => {
  it('stops all, withdraws nothing; the second step withdraws', () => {
    const world = new Surroundings(ALL_ACT);
    world.step(incident(1));
    world.step(all('stop'));
    const before = world.actions.length;
    world.step(incident(2, '198.51.100.8'));
    world.seconds(100);
    expect(world.actions.slice(before).filter(({ kind }) => kind === 'apply')).toEqual([]);
    expect(world.loop.intents).toHaveLength(1);
    expect(world.states()).toEqual(['block installed', 'block proposed']);
    world.step(all('withdraw'));
    expect(world.loop.intents).toEqual([]);
    expect(world.states()).toEqual(['block proposed', 'block withdrawn']);
    world.step(all('resume'));
    expect(world.states()).toContain('block installed');
  });
});
