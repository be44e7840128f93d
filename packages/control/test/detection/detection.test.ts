import type { Entity } from '@int/p4runtime';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DETECTED, DetectionWorld, intents, OTHER, POLICY, SAMPLING, WINDOW_MS } from './detection-world.js';

const TARGET = 10;
const SINK = 2;
const NO_THRESHOLD = 0xffff_ffff;
const [QUIET, BUSY] = [1, 1.5].map(
  (factor) =>
    new Map([
      [DETECTED, factor * 130],
      [OTHER, factor * 70],
    ]),
);

describe('detection in switches that a controller retunes', () => {
  const world = new DetectionWorld();
  beforeAll(() => world.start(intents(TARGET)), 180_000);
  afterAll(() => world.close());

  const threshold = (): number => world.thresholds.thresholds.find(({ switchId }) => switchId === SINK)!.threshold;
  const told = (what: string): readonly string[] =>
    world.notes.filter((note) => note.what === what).map(({ reason }) => reason);
  /** Events a second of all windows together. */
  async function events(windows: number, load = QUIET): Promise<number> {
    const before = world.thresholds.counters().events!;
    await world.traffic((windows * WINDOW_MS) / 1000, load!);
    return (world.thresholds.counters().events! - before) / ((windows * WINDOW_MS) / 1000);
  }

  it('learns what is usual before anything is an event', async () => {
    expect(await events(3)).toBe(0);
    expect(threshold()).toBe(NO_THRESHOLD);
  });

  it('finds the threshold for the target, and finds it anew when the latency shifts', async () => {
    await events(6);
    const quiet = threshold();
    expect(await events(4)).toBeCloseTo(TARGET, -1);
    expect(await events(1, BUSY)).toBeGreaterThan(2 * TARGET);
    await events(1, BUSY);
    const again = await events(4, BUSY);
    expect(again).toBeGreaterThan(0.5 * TARGET);
    expect(again).toBeLessThan(1.5 * TARGET);
    expect(threshold()).toBeGreaterThan(quiet);
    expect(world.thresholds.counters().untracked).toBe(0);
  });

  it('says why in the journal, and changes nothing but the threshold', () => {
    const reason = /^slow at leaf2: [\d.]+ events\/s, 10 wanted: threshold (\d+) -> (\d+)$/;
    const moves = told('retuned').map((text) => reason.exec(text)!.slice(1).map(BigInt));
    expect(moves.length).toBeGreaterThan(4);
    const written = world.journal.entries.filter(({ cause }) => cause.owner === 'detection');
    const thresholds = written.flatMap(({ type, before, after }) =>
      [before, after].map((each) => {
        const { threshold, ...rest } = paramsOf(each);
        expect([type, rest]).toEqual(['modify', expect.objectContaining({ algorithm: 4n, metric: 0n })]);
        return threshold;
      }),
    );
    // For both versions of IP.
    expect(thresholds).toEqual(moves.flatMap((move) => [...move, ...move]));
    expect(new Set(written.map(({ cause }) => cause.reason))).toEqual(new Set(told('retuned')));
  });

  it('hides no traffic: what is sampled stands for all, and events besides count for nothing', () => {
    for (const [port, sent] of world.sent) {
      const flows = world.measurements.flatMap((each) => each.flows.filter((flow) => flow.destinationPort === port));
      const seen = flows.reduce((sum, { packets }) => sum + packets, 0);
      expect(Math.abs(seen - sent)).toBeLessThan(0.02 * sent);
    }
    const all = [...world.sent.values()].reduce((sum, each) => sum + each, 0);
    expect(Math.abs(world.knowledge.totals().packets * SAMPLING - all)).toBeLessThan(0.02 * all);
  });

  it('moves nothing while the loop is stopped, while telemetry is stale, and where the policy says observe', async () => {
    const before = threshold();
    const held = (): string => told('held').at(-1) ?? '';
    await world.controller.order({ kind: 'stop', by: 'ann' });
    await events(1);
    expect(held()).toMatch(/^slow at leaf2: .* threshold \d+, not \d+: the loop is stopped$/);
    world.isCut = true;
    await events(1);
    expect(told('blind')).toHaveLength(1);
    await world.controller.order({ kind: 'resume', by: 'ann' });
    await events(1);
    expect(told('sighted')).toHaveLength(0);
    expect(threshold()).toBe(before);
    world.controller.give({ kind: 'policy', policy: { ...POLICY, autonomy: {} }, by: 'ann' });
    world.isCut = false;
    await events(2);
    expect(held()).toContain('the policy says observe for detect');
    expect(threshold()).toBe(before);
    const limits = { ...POLICY.limits, kinds: { detect: 1 } };
    world.controller.give({ kind: 'policy', policy: { ...POLICY, limits }, by: 'ann' });
    await events(1);
    expect(held()).toContain('1 actions of kind detect within 60 s is the limit');
  });

  it('goes on after a restart with what was learnt', async () => {
    const [before, written] = [threshold(), world.journal.entries.length];
    await world.stop();
    await world.start(intents(TARGET));
    expect(threshold()).toBe(before);
    expect(world.thresholds.thresholds.find(({ switchId }) => switchId === SINK)).toMatchObject({ isLearning: false });
    expect(world.journal.entries.length).toBe(written);
  });

  it('ends with its intent', async () => {
    world.controller.give({ kind: 'intents', intents: [], by: 'ann' });
    await world.controller.settled();
    expect(world.thresholds.thresholds).toEqual([]);
  });
});

function paramsOf(entity: Entity | null): Readonly<Record<string, unknown>> {
  if (entity?.kind !== 'table-entry' || entity.action === undefined || !('params' in entity.action)) return {};
  return entity.action.params;
}
