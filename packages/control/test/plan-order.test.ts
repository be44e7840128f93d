/** The order of changes over several switches where paths are broken, were changed twice, or cannot be whole. */
import { type Change, type DesiredEntity, type DesiredState, type PlanOptions, planChanges } from '@int/control';
import { ownMetadata } from '@int/control/internals';
import { type Entity, match, type TableEntry } from '@int/p4runtime';
import { describe, expect, it } from 'vitest';
import { P4INFO } from './switch.js';

/** Ports are the ids of the switches behind them; 200 leads to the host. */
const HOST = 200;

function path(name: string, stage: number, to: number): DesiredEntity & { readonly entity: TableEntry } {
  return {
    entity: {
      kind: 'table-entry',
      table: 'I.paths',
      match: { source: match.ternary(4n, 0xffff_ffffn) },
      action: { action: 'I.send', params: { port: BigInt(to) } },
      priority: 1,
      metadata: ownMetadata(name, stage),
    },
    intents: [name],
    stage,
  };
}

function route(stage: number, to: number): DesiredEntity & { readonly entity: TableEntry } {
  return {
    entity: {
      kind: 'table-entry',
      table: 'I.routes',
      match: { destination: match.lpm(10n << 24n, 8) },
      action: { action: 'I.send', params: { port: BigInt(to) } },
      priority: 0,
      metadata: ownMetadata('route', stage),
    },
    intents: [],
    stage,
  };
}

const leadsTo = (_: number, entity: Entity): readonly number[] => {
  const action = entity.kind === 'table-entry' ? entity.action : undefined;
  const port = action !== undefined && 'params' in action ? Number(action.params.port) : HOST;
  return port === HOST ? [] : [port];
};

/** The steps of a plan: `<change> <table> at <switch>`. */
function stepsOf(
  desired: DesiredState,
  found: ReadonlyMap<number, readonly DesiredEntity[]>,
  options: Omit<PlanOptions, 'switches'> = {},
): { readonly steps: readonly string[]; readonly earlySteps: number } {
  const ids = new Set([...desired.keys(), ...found.keys()]);
  const switches = new Map([...ids].map((id) => [id, { p4info: P4INFO }]));
  const entities = new Map([...ids].map((id) => [id, (found.get(id) ?? []).map(({ entity }) => entity)]));
  const { plan, earlySteps } = planChanges(desired, entities, { switches, leadsTo, ...options });
  const text = ({ type, switchId, before, after }: Change): string =>
    `${type} ${((after ?? before) as TableEntry).table.slice(2)} at ${switchId}`;
  return { steps: plan.map((step) => step.map(text).sort().join(', ')), earlySteps };
}

describe('a path that was changed while it was being changed', () => {
  // 2 has the older form, by way of 1; 1 has the newer one, in which it is far from the host.
  const found = new Map([
    [1, [path('p', 5, HOST)]],
    [2, [path('p', 2, 1)]],
  ]);

  it('goes in the order in which packets pass', () => {
    expect(stepsOf(new Map(), found).steps).toEqual(['delete paths at 2', 'delete paths at 1']);
  });

  it('goes in the order of the stages where nobody knows that', () => {
    const { steps } = stepsOf(new Map(), found, { leadsTo: () => [] });
    expect(steps).toEqual(['delete paths at 1', 'delete paths at 2']);
  });

  it('has an order though it is a circle', () => {
    const circle = new Map([
      [1, [path('p', 5, 2)]],
      [2, [path('p', 2, 1)]],
    ]);
    expect(
      stepsOf(new Map(), circle)
        .steps.flatMap((step) => step.split(', '))
        .sort(),
    ).toEqual(['delete paths at 1', 'delete paths at 2']);
  });
});

describe('a path of which a switch has lost its part', () => {
  // It was 3, 2, 1; 1 has nothing any more.
  const found = new Map([
    [2, [path('p', 2, 1), route(102, HOST)]],
    [3, [path('p', 3, 2), route(101, HOST)]],
  ]);
  const routes = (): Map<number, DesiredEntity[]> =>
    new Map([
      [1, [route(103, 2)]],
      [2, [route(102, HOST)]],
      [3, [route(101, HOST)]],
    ]);

  it('goes before anything comes, if nobody wants it', () => {
    expect(stepsOf(routes(), found, { suspect: new Set(['p']) })).toEqual({
      steps: ['delete paths at 3', 'delete paths at 2', 'insert routes at 1'],
      earlySteps: 2,
    });
  });

  it('goes where it is not wanted when nobody sends there any more, and before anything below comes', () => {
    const desired = routes();
    desired.get(3)!.push(path('p', 3, HOST));
    expect(stepsOf(desired, found, { suspect: 'all' })).toEqual({
      steps: ['modify paths at 3', 'delete paths at 2', 'insert routes at 1'],
      earlySteps: 0,
    });
  });

  it('is whole before anything below comes', () => {
    const desired = routes();
    desired.get(1)!.push(path('p', 1, HOST));
    desired.get(2)!.push(path('p', 2, 1));
    desired.get(3)!.push(path('p', 3, 2));
    expect(stepsOf(desired, found, { suspect: new Set(['p']) }).steps).toEqual([
      'insert paths at 1',
      'insert routes at 1',
    ]);
    // The switch does not take it: what leads there goes, and does not come.
    expect(stepsOf(desired, found, { suspect: new Set(['p']), givenUp: new Set(['p']) })).toEqual({
      steps: ['delete paths at 3', 'delete paths at 2', 'insert paths at 1', 'insert routes at 1'],
      earlySteps: 2,
    });
  });

  it('is given up if the switch cannot have it at all', () => {
    const desired = routes();
    const { entity } = path('p', 1, HOST);
    const invalid = { ...entity, action: { action: 'I.nothing', params: {} } };
    desired.get(1)!.push({ entity: invalid, intents: ['p'], stage: 1 });
    desired.get(2)!.push(path('p', 2, 1));
    desired.get(3)!.push(path('p', 3, 2));
    expect(stepsOf(desired, found).steps).toEqual(['delete paths at 3', 'delete paths at 2', 'insert routes at 1']);
  });
});
