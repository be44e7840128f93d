/** A loop that goes on from what another one has kept. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  ControlLoop,
  ControllerMemoryError,
  ControllerMemoryFile,
  type LoopInput,
  type LoopMemory,
} from '@int/control';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ALL_ACT, flow, linkFailure, scan, TOPOLOGY } from './scenes.js';
import { Surroundings } from './surroundings.js';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'restart-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** As it comes back from a file. */
function throughFile(loop: LoopMemory): LoopMemory {
  const path = join(folder, 'memory.json');
  new ControllerMemoryFile(path).now({ loop, undone: [] });
  const { memory } = new ControllerMemoryFile(path);
  rmSync(path);
  return memory!.loop;
}

/** Ends the loop of a world and goes on with another, so much later. */
function restart(world: Surroundings, afterMs: number): void {
  const memory = throughFile(world.loop.memory);
  world.nowMs += afterMs;
  world.loop = new ControlLoop(ALL_ACT, TOPOLOGY);
  world.actions.push(...world.loop.restore(memory, world.nowMs));
}

const scanner = (k: number): ReturnType<typeof flow> =>
  flow({ source: `198.51.100.${k}`, mbps: 0.1, packets: 10, sourcePort: 4000 + k });
const incident = (from: number, k: number, state: 'open' | 'close' = 'open'): LoopInput => ({
  kind: 'incident',
  incident: scan(from, `198.51.100.${k}`, state),
});

describe('a loop that is restarted', () => {
  it('stays stopped, and knows by whom and why; an older memory may not know', () => {
    const world = new Surroundings(ALL_ACT);
    const atMs = world.nowMs;
    world.step({ kind: 'order', order: { kind: 'stop', by: 'dashboard: ann', reason: 'a drill' } });
    world.seconds(5);
    world.step({ kind: 'order', order: { kind: 'stop', by: 'terminal' } });
    restart(world, 2000);
    expect(world.loop.stopped).toEqual({ atMs, by: 'dashboard: ann', reason: 'a drill' });
    expect(world.actions.at(-1)).toMatchObject({
      note: {
        what: 'restored',
        reason: '0 proposals in force, 0 wait; the loop is stopped by dashboard: ann: a drill',
      },
    });
    const { stopped: _, ...older } = world.loop.memory;
    world.loop = new ControlLoop(ALL_ACT, TOPOLOGY);
    world.loop.restore(older, world.nowMs);
    expect(world.loop.stopped).toMatchObject({ by: 'unknown' });
    world.step({ kind: 'order', order: { kind: 'resume', by: 'ann' } });
    expect([world.loop.stopped, world.loop.isStopped, world.loop.memory.stopped]).toEqual([null, false, null]);
  });

  it('has what it had, with its owner and its time; renews what is still needed, and ends what is not', () => {
    const world = new Surroundings(ALL_ACT);
    world.measured([scanner(7)]);
    world.step(incident(world.nowMs, 7));
    for (let k = 0; k < 5; k++) world.measured([]);
    const [before] = world.loop.proposals;
    restart(world, 2000);
    const [after] = world.loop.proposals;
    expect(after).toEqual(before);
    expect(world.loop.intents).toEqual(before!.intents);
    expect(world.actions.at(-1)).toMatchObject({
      note: { what: 'restored', reason: '1 proposals in force, 0 wait' },
    });
    for (let k = 0; k < 80; k++) world.measured([], { dropped: [{ ...scanner(7), packets: 1 }] });
    expect(world.states()).toEqual(['block verified']);
    expect(world.loop.proposals[0]).toMatchObject({ id: before!.id, renewals: 1 });
    for (let k = 0; k < 100; k++) world.measured([]);
    expect(world.states()).toEqual(['block expired']);
    expect(world.loop.intents).toEqual([]);
  });

  it('looks for five seconds before it ends what was over meanwhile', () => {
    const world = new Surroundings(ALL_ACT);
    world.measured([scanner(7)]);
    world.step(incident(world.nowMs, 7));
    for (let k = 0; k < 5; k++) world.measured([]);
    restart(world, 3_600_000);
    for (let k = 0; k < 4; k++) world.measured([]);
    expect(world.states()).toEqual(['block verified']);
    for (let k = 0; k < 4; k++) world.measured([]);
    expect(world.states()).toEqual(['block expired']);
  });

  it('verifies what was installed, and rolls back what does not help', () => {
    for (const helps of [true, false]) {
      const world = new Surroundings(ALL_ACT);
      world.measured([scanner(7)]);
      world.step(incident(world.nowMs, 7));
      restart(world, 500);
      for (let k = 0; k < 6; k++) world.measured(helps ? [] : [scanner(7)]);
      expect(world.states()).toEqual([helps ? 'block verified' : 'block rolled-back']);
      // What did not help is not tried again after another restart either.
      restart(world, 500);
      world.step(incident(world.nowMs, 7));
      for (let k = 0; k < 6; k++) world.measured([scanner(7)]);
      expect(world.states()).toHaveLength(1);
    }
  });

  it('is still stopped, waits for the same approvals, and has used up the same limits', () => {
    const policy = { ...ALL_ACT, limits: { withinMs: 60_000, all: 1, kinds: {} } };
    const world = new Surroundings(policy);
    world.step(incident(1, 7));
    world.step(incident(2, 8));
    expect(world.states()).toEqual(['block installed', 'block approved']);
    world.step({ kind: 'order', order: { kind: 'stop', by: 'ann' } });
    const memory = throughFile(world.loop.memory);
    world.loop = new ControlLoop(policy, TOPOLOGY);
    world.loop.restore(memory, world.nowMs);
    expect(world.loop.isStopped).toBe(true);
    const before = world.actions.length;
    world.step({ kind: 'intents', intents: [], by: 'start' });
    world.seconds(5);
    expect(world.actions.slice(before).filter(({ kind }) => kind === 'apply')).toEqual([]);
    world.step({ kind: 'order', order: { kind: 'resume', by: 'ann' } });
    world.seconds(2);
    expect(world.states().sort()).toEqual(['block approved', 'block verified']);
    world.seconds(60);
    expect(world.loop.proposals.filter(({ state }) => state === 'approved')).toEqual([]);
  });

  it('makes the switches have what was on its way, and asks again for what was being rehearsed', () => {
    const world = new Surroundings(ALL_ACT);
    world.answers = false;
    const [asked] = world.step(incident(1, 7)).filter(({ kind }) => kind === 'rehearse');
    restart(world, 100);
    world.answers = true;
    world.step();
    expect(world.states()).toEqual(['block installed']);
    expect(asked).toBeDefined();

    const other = new Surroundings(ALL_ACT);
    other.error = null;
    other.step();
    other.answers = false;
    const actions = other.step(incident(1, 7));
    const { id } = other.loop.proposals[0]!;
    other.step({ kind: 'rehearsed', proposal: id, rehearsal: other.rehearsal, refused: null });
    expect(actions.length).toBeGreaterThan(0);
    expect(other.loop.proposals[0]!.pending).toBe('install');
    restart(other, 100);
    expect(other.loop.proposals[0]!.pending).toBe('install');
    expect(other.loop.intents).toHaveLength(1);
    other.step({ kind: 'applied', proposal: id, error: null });
    expect(other.states()).toEqual(['block installed']);
  });

  it('takes an incident that is found anew for the one that it has answered', () => {
    const world = new Surroundings(ALL_ACT);
    world.step(incident(1, 7));
    restart(world, 1000);
    world.step(incident(world.nowMs, 7));
    world.seconds(200);
    // It has expired; the incident that is open since is the same one, and is not answered twice.
    expect(world.states()).toEqual(['block expired']);
  });

  it('remembers links that have failed', () => {
    const world = new Surroundings(ALL_ACT);
    const flows = [flow({ mbps: 2 }), flow({ sourcePort: 1001, mbps: 3 })];
    for (let k = 0; k < 3; k++) world.measured(flows);
    world.step({ kind: 'event', event: linkFailure(world.nowMs) });
    restart(world, 1000);
    expect(world.loop.failedLinks).toEqual(new Set(['1:1', '101:1']));
    world.step({ kind: 'event', event: linkFailure(world.nowMs) });
    for (let k = 0; k < 5; k++) world.measured(flows.map((each) => ({ ...each, path: [1, 102, 2] })));
    expect(world.states()).toEqual(['avoid verified']);
  });

  it('is as one that was not, whenever it happens', () => {
    const act = fc.oneof(
      fc.record({ what: fc.constant('scan' as const), k: fc.integer({ min: 1, max: 4 }) }),
      fc.record({ what: fc.constant('dropped' as const), k: fc.integer({ min: 1, max: 4 }) }),
      fc.record({ what: fc.constant('seen' as const), k: fc.integer({ min: 1, max: 4 }) }),
      fc.record({ what: fc.constant('quiet' as const), k: fc.integer({ min: 1, max: 20 }) }),
    );
    fc.assert(
      fc.property(fc.array(act, { maxLength: 40 }), fc.integer({ min: 0, max: 40 }), (acts, at) => {
        const [one, other] = [new Surroundings(ALL_ACT), new Surroundings(ALL_ACT)];
        for (const [index, { what, k }] of acts.entries()) {
          if (index === at) {
            const before = other.loop.proposals.filter(({ state }) => state === 'installed' || state === 'verified');
            restart(other, 0);
            const after = new Map(other.loop.proposals.map((each) => [each.id, each]));
            for (const each of before) {
              expect(after.get(each.id)).toMatchObject({ state: each.state, predicted: each.predicted });
              expect(after.get(each.id)!.expiresMs).toBeGreaterThanOrEqual(each.expiresMs!);
            }
          }
          for (const world of [one, other]) {
            if (what === 'scan') world.step(incident(1, k));
            else if (what === 'dropped') world.measured([], { dropped: [{ ...scanner(k), packets: 5 }] });
            else if (what === 'seen') world.measured([scanner(k)]);
            else for (let second = 0; second < k; second++) world.measured([]);
          }
        }
        for (const world of [one, other]) {
          for (let k = 1; k <= 4; k++) world.step(incident(1, k, 'close'));
          for (let second = 0; second < 150; second++) world.measured([]);
        }
        const outcome = (world: Surroundings): string[] =>
          world.loop.proposals.map(({ subject, state }) => `${subject} ${state}`).sort();
        expect(other.loop.intents).toEqual(one.loop.intents);
        expect(outcome(other)).toEqual(outcome(one));
      }),
      { seed: 20261128, numRuns: 60 },
    );
  });
});

describe('the file', () => {
  const memory = { loop: new ControlLoop(ALL_ACT, TOPOLOGY).memory, undone: [] };

  it('that is damaged anywhere, or of another version, is an error and not empty', () => {
    const path = join(folder, 'damaged.json');
    new ControllerMemoryFile(path).now(memory);
    const text = readFileSync(path);
    const codeOf = (): string => {
      try {
        new ControllerMemoryFile(path);
        return 'none';
      } catch (error) {
        if (!ControllerMemoryError.is(error)) throw error;
        expect(error.message).toContain(path);
        return error.code;
      }
    };
    for (let at = 0; at < text.length - 1; at += 7) {
      const other = Buffer.from(text);
      other[at]! ^= 1;
      writeFileSync(path, other);
      expect(codeOf()).toBe('ERR_MEMORY_DAMAGED');
      writeFileSync(path, text.subarray(0, at));
      expect(codeOf()).toBe('ERR_MEMORY_DAMAGED');
    }
    writeFileSync(path, text);
    expect(codeOf()).toBe('none');
    expect(new ControllerMemoryFile(path).memory).toEqual(memory);
  });

  it('that cannot be written is told, and what there was is kept', () => {
    const file = new ControllerMemoryFile(join(folder, 'none', 'memory.json'));
    expect(file.memory).toBeNull();
    file.now(memory);
    expect(file.error).toMatchObject({ code: 'ENOENT' });
    const path = join(folder, 'later.json');
    const later = new ControllerMemoryFile(path);
    later.soon(() => memory);
    later.close();
    expect(later.error).toBeNull();
    expect(new ControllerMemoryFile(path).memory).toEqual(memory);
  });
});

describe('telemetry that is stale or lossy', () => {
  const notes = (world: Surroundings): string[] =>
    world.actions.flatMap((each) => (each.kind === 'note' ? [`${each.note.what}: ${each.note.reason}`] : []));

  it.each([
    [{ ageMs: 3500 }, 'the newest report is 3.5 s old'],
    [{ loss: 0.2 }, '20.0 % of the reports are lost'],
    [{ ageMs: Number.POSITIVE_INFINITY }, 'no report has come yet'],
  ])('ends acting: %o', (bad, reason) => {
    const world = new Surroundings({ ...ALL_ACT, autonomy: { block: 'act', path: 'act' } });
    const elephants = [flow({ mbps: 5 }), flow({ sourcePort: 1001, mbps: 4 })];
    for (let k = 0; k < 10; k++) world.measured(elephants, bad);
    world.step(incident(world.nowMs, 7));
    for (let k = 0; k < 10; k++) world.measured(elephants, bad);
    expect(world.states()).toEqual(['block proposed']);
    expect(notes(world)).toContain(`blind: nothing is done by itself: ${reason}`);
    expect(notes(world)).toContain('held: telemetry cannot be relied on');
    // One good window may be chance.
    world.measured(elephants);
    expect(world.states()).toEqual(['block proposed']);
    for (let k = 0; k < 5; k++) world.measured(elephants);
    expect(notes(world)).toContain('sighted: telemetry can be relied on again');
    expect(world.states()).toEqual(['block verified', 'path installed']);
  });

  it('does not keep a person from acting, and says nothing of an effect', () => {
    const world = new Surroundings({ ...ALL_ACT, autonomy: { block: 'propose' } });
    world.measured([scanner(7)]);
    world.step(incident(world.nowMs, 7));
    world.measured([], { loss: 0.5 });
    const { id } = world.loop.proposals[0]!;
    world.step({ kind: 'order', order: { kind: 'approve', proposal: id, by: 'ann' } });
    expect(world.states()).toEqual(['block installed']);
    for (let k = 0; k < 10; k++) world.measured([scanner(7)], { loss: 0.5 });
    expect(world.states()).toEqual(['block installed']);
    for (let k = 0; k < 5; k++) world.measured([]);
    expect(world.states()).toEqual(['block verified']);
  });

  it('is no sign that a block is not needed any more; but nothing stays for ever', () => {
    const world = new Surroundings(ALL_ACT);
    world.measured([scanner(7)]);
    world.step(incident(world.nowMs, 7));
    for (let k = 0; k < 5; k++) world.measured([]);
    for (let k = 0; k < 100; k++) world.measured([], { ageMs: 5000 });
    expect(world.states()).toEqual(['block verified']);
    for (let k = 0; k < 30; k++) world.measured([], { ageMs: 5000 });
    expect(world.states()).toEqual(['block expired']);
  });
});
