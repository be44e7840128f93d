import { type DesiredEntity, type LimitIntent, type Rehearsal, Twin } from '@int/control';
import { entry } from '@int/p4runtime/internals';
import { Random } from '@int/random';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../.ci/test/length.js';
import { desired, Fabric, type FabricHost, joined, program } from './fabric.js';
import { measure } from './simulated.js';

const twin = new Twin({ int: program });
const seconds = 1;

/** Both have the same links, with loads that differ by at most a share. */
function compare({ loads }: Rehearsal, measured: ReadonlyMap<string, number>, most = 0.02): void {
  const links = new Set([...loads.keys(), ...measured.keys()]);
  const errors = [...links].map((link) => {
    const [now, was] = [loads.get(link)?.afterBps ?? 0, measured.get(link) ?? 0];
    return { link, now, was, error: Math.abs(now - was) / Math.max(was, 1) };
  });
  expect(errors.filter(({ error }) => error > most)).toEqual([]);
}

function watched(random: Random, fabric: Fabric, ports: readonly number[]): Map<number, DesiredEntity[]> {
  return new Map(
    fabric.leaves.map((leaf) => [
      leaf,
      ports.map((port) => {
        const oneIn = [1, 1, 4, 10][random.integer(4)]!;
        const params = { npt: 1, instructions: 0xf000, max_hops: 8, discard: 0, entropy_port: 0 };
        const match = { source_port: `${port}..${port}` };
        const [action, more] = oneIn === 1 ? ['start_md', {}] : ['start_md_sampled', { one_in: oneIn }];
        return desired(
          entry('IntIngress.watch_ipv4', match, action as string, { ...params, ...more }, { priority: port }),
        );
      }),
    ]),
  );
}

describe('predicted loads are those that a simulation measures', () => {
  it.each(Array.from({ length: runs(40) }, (_, seed) => seed))('INT of some flows, reports, ECMP: seed %i', (seed) => {
    const random = new Random(seed);
    const fabric = new Fabric(2 + random.integer(3), 2 + random.integer(2), 2);
    const via = (leaf: number, { leaf: to, port }: FabricHost): number => (leaf + to + port) % fabric.spines.length;
    const flows = fabric.flows(random, 30, via, {
      packets: () => 20 + random.integer(180),
      bytes: () => 100 + random.integer(1300),
    });
    const ports = flows.filter((_, i) => i % 3 === 0).map(({ sourcePort }) => sourcePort);
    const routes = seed % 2 === 0 ? fabric.routes(via) : fabric.spreadRoutes();
    const state = joined(routes, fabric.sinks(), watched(random, fabric, ports));
    const result = twin.rehearse(fabric.model(), state, [], { flows, seconds }, { linkLoad: 1, mayDrop: [] });
    expect(result.violations).toEqual([]);
    compare(result, measure(fabric, state, flows, { seconds, seed }));
  });

  it('flows that a meter bounds together', () => {
    const random = new Random(5);
    const fabric = new Fabric(2, 2, 2);
    const via = (): number => 0;
    const packets = { packets: () => 400 + random.integer(800), bytes: () => 1000 };
    const flows = fabric.flows(random, 12, via, packets);
    // Long enough that the bursts do not matter.
    const rate = { cir: 50_000n, cburst: 3000n, pir: 100_000n, pburst: 3000n };
    const limit = entry(
      'IntIngress.access_ipv4',
      { source_address: '10.0.1.0/24' },
      'IntIngress.limit_ipv4',
      { reported: 0, place: 1 },
      { priority: 10, meter: rate },
    );
    const intent: LimitIntent = {
      kind: 'limit',
      id: 'flood',
      owner: 'test',
      priority: 1,
      fromMs: 0,
      ttlMs: null,
      reason: '',
      match: { source: '10.0.1.0/24' },
      bitsPerSecond: 800_000,
    };
    const before = fabric.routes(via);
    const plan = [[{ switchId: 1, type: 'insert', before: null, after: limit, intents: ['flood'] }]] as const;
    const minute = { flows, seconds };
    const result = twin.rehearse(fabric.model(), before, plan, minute, { linkLoad: 1, mayDrop: [intent] });
    expect(result.violations).toEqual([]);
    expect(result.dropped.length).toBe(flows.filter(({ source }) => source.startsWith('10.0.1.')).length);
    expect(new Set(result.dropped.flatMap(({ intents }) => intents))).toEqual(new Set(['flood']));
    const state = joined(before, new Map([[1, [desired(limit)]]]));
    const measured = measure(fabric, state, flows, { seconds, seed: 1 });
    // Together they have the meter's rate; who of them loses more depends on how their packets happen to fall.
    compare(result, measured, 0.1);
    for (const link of ['1:51', '101:2']) {
      expect(Math.abs(result.loads.get(link)!.afterBps / measured.get(link)! - 1)).toBeLessThan(0.02);
    }
    // Not meant for these flows.
    const other = { ...intent, match: { source: '10.0.9.0/24' } };
    const refused = twin.rehearse(fabric.model(), before, plan, minute, { linkLoad: 1, mayDrop: [other] });
    expect(refused.violations.map(({ kind }) => kind)).toEqual(['drop']);
  });
});
