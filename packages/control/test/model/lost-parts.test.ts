/** A switch refuses its lost part of a path; another one, to which packets of the path come meanwhile, has lost its route. */
import { type Change, type DesiredEntity, type DesiredState, Reconciler } from '@int/control';
import { ownMetadata } from '@int/control/internals';
import { type Entity, match } from '@int/p4runtime';
import { Random } from '@int/random';
import { expect, it } from 'vitest';
import { P4INFO } from '../switch.js';
import { FakeConnection, FakeSwitch } from './fake-switch.js';
import { VirtualClock } from './virtual-clock.js';

const HOST = 200;

const send = (table: 'I.paths' | 'I.routes', stage: number, to: number): DesiredEntity => ({
  entity: {
    kind: 'table-entry',
    table,
    match:
      table === 'I.paths' ? { source: match.ternary(4n, 0xffff_ffffn) } : { destination: match.lpm(10n << 24n, 8) },
    action: { action: 'I.send', params: { port: BigInt(to) } },
    priority: table === 'I.paths' ? 1 : 0,
    metadata: ownMetadata(table),
  },
  intents: [table],
  stage,
});

// The path goes 1, 2, 4; the route of 2 goes by way of 3 and 1.
const DESIRED: DesiredState = new Map([
  [1, [send('I.paths', 2, 2), send('I.routes', 101, 4)]],
  [2, [send('I.paths', 1, 4), send('I.routes', 103, 3)]],
  [3, [send('I.routes', 102, 1)]],
  [4, [send('I.routes', 100, HOST)]],
]);

const portOf = (entity: Entity | undefined): number | undefined => {
  const action = entity?.kind === 'table-entry' ? entity.action : undefined;
  return action !== undefined && 'params' in action ? Number(action.params.port) : undefined;
};

class Refusing extends FakeSwitch {
  refuses = 0;

  override apply(change: Change): ReturnType<FakeSwitch['apply']> {
    const { after } = change;
    if (after?.kind === 'table-entry' && after.table === 'I.paths' && this.refuses-- > 0) {
      return { code: 'INTERNAL', message: 'a fault of the hardware' };
    }
    return super.apply(change);
  }
}

it.each([{ refuses: 0 }, { refuses: 3 }, { refuses: 9 }])(
  'packets do not circle, though it does so $refuses times',
  async ({ refuses }) => {
    const clock = new VirtualClock();
    const circles: string[] = [];
    const look = (what: string): void => {
      const passed: number[] = [];
      for (let at: number | undefined = 1; at !== undefined && at !== HOST; ) {
        if (passed.includes(at)) {
          circles.push(`${what}: ${[...passed, at]}`);
          return;
        }
        passed.push(at);
        const found: Entity[] = [...switches[at - 1]!.tables.values()];
        const of = (table: string): number | undefined =>
          portOf(found.find((each) => each.kind === 'table-entry' && each.table === table));
        at = of('I.paths') ?? of('I.routes');
      }
    };
    const setting = { p4info: P4INFO, rooms: {} };
    const switches: readonly Refusing[] = [1, 2, 3, 4].map(
      (id) => new Refusing(id, setting, clock, new Random(1), (_, what) => look(`${id}: ${what}`)),
    );
    const connections = switches.map((each) => new FakeConnection(each, 1));
    const reconciler = new Reconciler({
      connections,
      clock,
      leadsTo: (_, entity) => [portOf(entity) ?? HOST].filter((port) => port !== undefined && port !== HOST),
    });
    reconciler.want(DESIRED, { owner: 'test', reason: 'start' });
    for (const each of connections) each.connect();
    await clock.advance(1000);
    expect(reconciler.state.isSettled).toBe(true);
    const lose = (id: number, table: string): void => {
      const it = switches[id - 1]!;
      for (const key of [...it.tables.keys()]) if (key.startsWith(table)) it.lose(key);
    };
    lose(3, 'I.routes');
    lose(2, 'I.paths');
    switches[1]!.refuses = refuses;
    await clock.advance(200_000);
    expect(reconciler.state.isSettled).toBe(true);
    expect(switches[1]!.refuses).toBeLessThanOrEqual(0);
    await reconciler.close();
    expect(circles).toEqual([]);
  },
);
