import {
  type DesiredEntity,
  type DesiredState,
  type P4RuntimeConnection,
  Reconciler,
  type WrittenChanges,
} from '@int/control';
import { ownMark, ownMetadata } from '@int/control/internals';
import { type Entity, P4RuntimeClient } from '@int/p4runtime';
import { entry } from '@int/p4runtime/internals';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { inTime, until } from '../../../.ci/test/until.js';
import { TestSwitch } from './switch.js';

let one: TestSwitch;
let two: TestSwitch;
let open: { close(): Promise<void> }[];
beforeEach(() => {
  open = [];
  one = new TestSwitch(1);
  two = new TestSwitch(2);
});
afterEach(async () => {
  for (const each of open) await each.close();
  await one.close();
  await two.close();
});

const opened = <T extends { close(): Promise<void> }>(it: T): T => {
  open.unshift(it);
  return it;
};

function reconciler(connections: readonly P4RuntimeConnection[]): { it: Reconciler; written: WrittenChanges[] } {
  const written: WrittenChanges[] = [];
  const it = opened(
    new Reconciler({
      connections,
      graceMs: 1,
      retry: { firstMs: 1, maxMs: 20 },
      onWritten: (each) => written.push(each),
    }),
  );
  return { it, written };
}

const route = (destination: string, port: number, stage: number): DesiredEntity => ({
  entity: entry('routes', { destination }, 'send', { port }, { metadata: ownMetadata(`to ${destination}`) }),
  intents: [],
  stage,
});

const all = async (client: P4RuntimeClient): Promise<Entity[]> => {
  const found: Entity[] = [];
  for await (const entity of client.read(
    entry('routes'),
    entry('paths'),
    entry('access', {}, undefined, {}, { meter: { cir: 0n, cburst: 0n, pir: 0n, pburst: 0n } }),
    entry('reports', {}, undefined, {}, { isDefault: true }),
    entry('ways'),
    { kind: 'group', profile: 'members', id: 0, members: [] },
    { kind: 'member', profile: 'members', id: 0 },
    { kind: 'clone-session', id: 0, replicas: [] },
  )) {
    found.push(entity);
  }
  return found;
};

const CAUSE = { owner: 'test', reason: 'to see' };

describe('a reconciler over P4Runtime', () => {
  it('makes switches have every kind of entity, takes it away again, and leaves what is of others', async () => {
    const connections = [opened(one.connection()), opened(two.connection())];
    const foreign = entry('routes', { destination: '10.9.0.0/16' }, 'send', { port: 9 });
    const other = opened(new P4RuntimeClient({ target: one.server.transport(), electionId: 0 }));
    const { it: reconciles, written } = reconciler(connections);
    await connections[0]!.client.connect();
    await connections[0]!.client.insert(
      foreign,
      { kind: 'clone-session', id: 7, replicas: [{ port: 1 }] },
      { kind: 'member', profile: 'members', id: 1, action: { action: 'send', params: { port: 1 } } },
    );
    const before = await all(other);
    const desired: DesiredState = new Map([
      [
        1,
        [
          route('10.1.0.0/16', 3, 1),
          {
            entity: entry('ways', { group: 4 }, { group: 2000 }, {}, { metadata: ownMetadata('group') }),
            intents: ['group'],
            stage: 0,
          },
          {
            entity: entry(
              'access',
              { source: '10.0.0.7' },
              'limit',
              {},
              {
                priority: 3,
                meter: { cir: 1000n, cburst: 100n, pir: 1000n, pburst: 100n },
              },
            ),
            intents: ['slow'],
            stage: 2,
          },
          {
            entity: entry('reports', {}, 'report', { session: 2001 }, { isDefault: true }),
            intents: [],
            stage: 2,
          },
          {
            entity: { kind: 'group', profile: 'members', id: 2000, maxSize: 4, members: [{ id: 2000, weight: 1 }] },
            intents: ['group'],
            stage: 0,
          },
          {
            entity: { kind: 'member', profile: 'members', id: 2000, action: { action: 'send', params: { port: 2 } } },
            intents: ['group'],
            stage: 0,
          },
          { entity: { kind: 'clone-session', id: 2001, replicas: [{ port: 5, instance: 1 }] }, intents: [], stage: 0 },
        ],
      ],
      [2, [route('10.1.0.0/16', 4, 2)]],
    ]);
    reconciles.want(desired, CAUSE);
    await inTime('the desired state', reconciles.settled(), { found: () => reconciles.state });
    expect(reconciles.state).toMatchObject({ isSettled: true, refusals: [], obstacles: [], waiting: [] });
    expect(written.flatMap(({ results }) => results.map(({ result }) => result))).toEqual(new Array(8).fill('done'));
    expect(await all(other)).toHaveLength(before.length + 6);
    const limit = (await all(other)).find((each) => each.kind === 'table-entry' && each.table === 'I.access');
    expect(limit).toMatchObject({ meter: { cir: 1000n } });
    expect(ownMark(limit?.kind === 'table-entry' ? limit.metadata : undefined)).toEqual({ name: 'slow', stage: 2 });

    // Once more: nothing is written.
    written.length = 0;
    reconciles.want(new Map(desired), CAUSE);
    await inTime('the same again', reconciles.settled());
    expect(written).toEqual([]);

    // Another controller of the same kind finds it all in place.
    reconciles.want(new Map(), CAUSE);
    await inTime('nothing', reconciles.settled(), { found: () => reconciles.state });
    expect(await all(other)).toEqual(before);
  });

  it('tells by name what a switch refuses, and tries again ever later', async () => {
    const { it: reconciles, written } = reconciler([opened(one.connection())]);
    // Two members of a group that does not exist: the entry is refused, its neighbour is not.
    const wrong: DesiredEntity = {
      entity: entry('ways', { group: 1 }, { group: 2999 }, {}, { metadata: ownMetadata('lost') }),
      intents: ['lost'],
      stage: 0,
    };
    reconciles.want(new Map([[1, [wrong, route('10.0.0.0/8', 1, 0)]]]), CAUSE);
    const attempts = (): number =>
      written.flatMap(({ results }) => results).filter(({ result }) => result === 'refused').length;
    await until('three attempts', () => attempts() >= 3);
    expect(reconciles.state.isSettled).toBe(false);
    expect(reconciles.state.refusals).toMatchObject([
      { switchId: 1, change: { intents: ['lost'] }, message: expect.stringMatching(/group/i) },
    ]);
    expect(reconciles.state.waiting).toEqual(['lost']);
    reconciles.want(new Map([[1, [route('10.0.0.0/8', 1, 0)]]]), CAUSE);
    await inTime('what can be had', reconciles.settled());
    expect(reconciles.state.refusals).toEqual([]);
  });

  it('does not touch the place of another, and says so', async () => {
    const connection = opened(one.connection());
    await connection.client.connect();
    await connection.client.insert(entry('routes', { destination: '10.0.0.0/8' }, 'send', { port: 8 }));
    const { it: reconciles, written } = reconciler([connection]);
    reconciles.want(
      new Map([
        [
          1,
          [
            route('10.0.0.0/8', 1, 0),
            { entity: { kind: 'clone-session', id: 5, replicas: [] }, intents: ['mirror'], stage: 0 },
            { entity: entry('nowhere'), intents: ['lost'], stage: 0 },
            route('10.1.0.0/16', 1, 0),
            route('10.1.0.0/16', 2, 0),
          ],
        ],
      ]),
      CAUSE,
    );
    await inTime(
      'the rest',
      (async () => {
        while (written.length === 0 || reconciles.state.obstacles.length === 0)
          await new Promise((resolve) => setTimeout(resolve, 1));
      })(),
    );
    expect(reconciles.state.obstacles.map(({ kind, intents }) => [kind, intents])).toEqual([
      ['held-by-another', []],
      ['not-own', ['mirror']],
      ['invalid', ['lost']],
      ['twice', []],
    ]);
    expect(written).toMatchObject([{ results: [{ result: 'done', change: { type: 'insert' } }] }]);
  });
});
