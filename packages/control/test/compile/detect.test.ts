import { compile, type DesiredState, type DetectIntent, type Intent, type NetworkModel } from '@int/control';
import { describe, expect, it } from 'vitest';
import { addressOf, leafSpine, modelOf } from './fabric.js';

const NOW = 1_000_000;
const detect = (id: string, more: Partial<DetectIntent> = {}): DetectIntent => ({
  ...{ id, owner: 'test', priority: 100, fromMs: 0, ttlMs: null, reason: '' },
  ...{ kind: 'detect', match: { destination: addressOf(1) }, switches: null },
  ...{ metric: 'hopLatency', algorithm: 'threshold', scope: 'hop', target: 10, band: { minimum: 5, maximum: 500 } },
  ...more,
});

/** Rules by switch: the intent, its number and threshold; and what the sink samples. */
function rulesOf(desired: DesiredState): unknown[] {
  return [...desired].flatMap(([switchId, entities]) =>
    entities.flatMap(({ entity, intents }) => {
      if (entity.kind !== 'table-entry' || entity.action === undefined || !('params' in entity.action)) return [];
      const { table, action, priority } = entity;
      if (table === 'IntSink.regular') return [[switchId, 'regular', action.params.one_in]];
      if (!table.startsWith('IntSink.algorithm_ipv4')) return [];
      return [[switchId, intents.join(), action.params.threshold, priority]];
    }),
  );
}

describe('detect', () => {
  const network = modelOf(leafSpine(2, 1, 2));
  const compiled = (intents: readonly Intent[], of: NetworkModel = network) =>
    compile(of, intents, NOW, { regularOneIn: 16 });

  it('is a rule where its flows leave, and a sample of the flows', () => {
    const { desired, unplaced } = compiled([detect('slow')]);
    expect(unplaced).toEqual([]);
    const [switchId] = (rulesOf(desired)[0] ?? []) as [number];
    expect(rulesOf(desired)).toEqual([
      [switchId, 'slow', 500n, 25_600],
      [switchId, 'regular', 16n],
    ]);
    const everywhere = rulesOf(compiled([detect('slow', { match: {}, band: null })]).desired);
    expect(everywhere).toContainEqual([switchId, 'slow', 0xffff_ffffn, 25_600]);
    expect(everywhere.length).toBe(4);
    expect(rulesOf(compiled([]).desired)).toEqual([]);
  });

  it('keeps the number of a rule when others come and go, and has another one for another metric', () => {
    const numberOf = (...intents: DetectIntent[]): unknown =>
      compiled(intents)
        .desired.get(1)!
        .concat(compiled(intents).desired.get(2)!)
        .flatMap(({ entity, intents: [id] }) =>
          id === 'slow' && entity.kind === 'table-entry' && 'params' in entity.action! ? entity.action.params.rule : [],
        )
        .at(0);
    const number = numberOf(detect('slow'));
    expect(number).toBeTypeOf('bigint');
    expect(numberOf(detect('other', { priority: 7 }), detect('slow'))).toBe(number);
    expect(numberOf(detect('slow', { metric: 'queueOccupancy' }))).not.toBe(number);
  });

  it('contradicts another one about the same packets with the same priority', () => {
    const { conflicts } = compiled([detect('a'), detect('b', { match: {} }), detect('c', { match: {}, priority: 2 })]);
    expect(conflicts).toMatchObject([{ kept: 'a', refused: 'b' }]);
  });

  it('has no place, by name, at a switch that is not there, without the table, with a full one, or without a collector', () => {
    const codes = (intents: readonly Intent[], of?: NetworkModel) =>
      compiled(intents, of).unplaced.flatMap(({ intent, code }) => (intent === null ? [] : [[intent, code]]));
    expect(codes([detect('slow', { switches: [99] })])).toEqual([['slow', 'NO_SUCH_SWITCH']]);
    expect(codes([detect('slow')], { ...network, collector: null })).toEqual([['slow', 'NO_COLLECTOR']]);
    const withTables = (change: (table: { name: string; size: bigint }) => bigint | null): NetworkModel => ({
      ...network,
      switches: new Map(
        Array.from(network.switches, ([id, each]) => {
          const tables = each.p4info.tables.flatMap((table) => {
            const size = change({ name: table.preamble!.name, size: table.size });
            return size === null ? [] : [{ ...table, size }];
          });
          return [id, { ...each, p4info: { ...each.p4info, tables } }];
        }),
      ),
    });
    const older = withTables(({ name, size }) => (name === 'IntSink.regular' ? null : size));
    expect(codes([detect('slow')], older)).toEqual([['slow', 'NO_TABLE']]);
    const small = withTables(({ name, size }) => (name.startsWith('IntSink.algorithm') ? 1n : size));
    const two = [detect('slow'), detect('slower', { priority: 50 })];
    expect(codes(two, small)).toEqual([['slower', 'TABLE_FULL']]);
  });
});
