import type { Intent } from '@int/control';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { collidingPorts, stream, synFlood } from '../src/network/traffic.js';
import { daily } from '../src/scenes.js';
import { VirtualLoop } from '../src/virtual-loop.js';

/** A machine that is busy compiles the programs of four switches slowly. */
const MS = 180_000;
const SEEDS = process.env.INT_LONG === '1' ? 100 : 1;
const seeds = Array.from({ length: SEEDS }, (_, index) => [1 + index]);

const watched: Intent = {
  ...{ id: 'all', owner: 'test', priority: 500, fromMs: 0, ttlMs: null, reason: 'to see it' },
  ...{ kind: 'watch', match: {}, instructions: 0xf000, oneIn: 1 },
};

let loop: VirtualLoop | null = null;

/** A network in which one thing happens after the other. */
async function open(seed: number): Promise<void> {
  const autonomy = { avoid: 'act', path: 'act', block: 'act', limit: 'act' } as const;
  const ttlMs = { avoid: 10_000, path: 10_000, block: 8000, limit: 8000 };
  loop = await VirtualLoop.open(seed, { autonomy, ttlMs, settleMs: 2000, reportOneIn: 10 }, [watched]);
  daily(loop.fabric);
  await loop.seconds(6);
}

/** States that proposals of a kind came into, in order. */
const states = ({ notes }: VirtualLoop, kind: string): string[] =>
  notes.filter(({ proposal }) => proposal?.startsWith(`${kind}-`) === true).map(({ what }) => what);

/** Seconds from a time to the first note of a state. */
const secondsTo = ({ notes }: VirtualLoop, fromMs: number, kind: string, state: string): number => {
  const note = notes.find(({ proposal, what }) => proposal?.startsWith(`${kind}-`) === true && what === state);
  return ((note?.atMs ?? Number.POSITIVE_INFINITY) - fromMs) / 1000;
};

describe.each(seeds)('with seed %i', (seed) => {
  beforeAll(() => open(seed), MS);
  afterAll(async () => {
    await loop?.close();
    loop = null;
  });

  test(
    'flows of a link that fails take the other one, and come back when it is repaired',
    async () => {
      const { fabric } = loop!;
      const { web, files } = fabric.hosts;
      const link = fabric.links.get('leaf1:spine1')!;
      const received = (): number => web.received + files.received;
      const before = received();
      await loop!.seconds(1);
      const usual = received() - before;
      const failedMs = loop!.nowMs;
      link.fail();
      await loop!.seconds(4);
      expect(states(loop!, 'avoid')).toEqual(expect.arrayContaining(['proposed', 'approved', 'installed']));
      // A second of silence, and the windows of those who look.
      expect(secondsTo(loop!, failedMs, 'avoid', 'installed')).toBeLessThan(3);
      const during = received();
      await loop!.seconds(1);
      // All flows are delivered again: connections of a second vary by a few packets.
      expect(received() - during).toBeGreaterThan(0.9 * usual);
      await loop!.seconds(2);
      expect(states(loop!, 'avoid')).toContain('verified');
      link.repair();
      await loop!.seconds(5);
      expect(states(loop!, 'avoid')).toContain('expired');
      expect(loop!.controller.loop.intents.filter(({ kind }) => kind === 'avoid')).toEqual([]);
    },
    MS,
  );

  test(
    'a flow that fills a link with another is moved, and the load falls',
    async () => {
      const { fabric } = loop!;
      const ports = await collidingPorts(fabric, 'leaf1:spine2', 'backup', 'files', 2, () => loop!.seconds(0.02));
      const beganMs = loop!.nowMs;
      const stops = ports.map((port) => stream(fabric, 'backup', 'files', port, 4.6e6));
      await loop!.seconds(7);
      expect(secondsTo(loop!, beganMs, 'path', 'installed')).toBeLessThan(3);
      const [proposal] = loop!.controller.loop.proposals.filter(({ kind }) => kind === 'path');
      expect(proposal).toMatchObject({ state: 'verified', intents: [{ via: [1, 101, 2] }] });
      expect(proposal!.predicted!.before).toBeGreaterThan(0.8);
      expect(proposal!.measured!.after).toBeLessThan(0.8);
      for (const stop of stops) stop();
    },
    MS,
  );

  test(
    'a flood is blocked at its sources and nobody else is; the block ends behind it',
    async () => {
      const { fabric } = loop!;
      const { web } = fabric.hosts;
      const beganMs = loop!.nowMs;
      const stop = synFlood(fabric, 'web', 400);
      await loop!.seconds(5);
      expect(secondsTo(loop!, beganMs, 'block', 'installed')).toBeLessThan(5);
      const [proposal] = loop!.controller.loop.proposals.filter(({ kind }) => kind === 'block');
      expect(proposal!.intents).toMatchObject([{ match: { source: '203.0.113.0/24', destination: '10.0.2.1' } }]);
      const [harmful, all] = countAt(loop!, () => web.received);
      await loop!.seconds(2);
      // Of 800 harmful packets none comes, and those of clients do.
      expect(harmful()).toBe(0);
      expect(all()).toBeGreaterThan(100);
      await loop!.seconds(6);
      expect(states(loop!, 'block')).toContain('renewed');
      stop();
      await loop!.seconds(14);
      expect(states(loop!, 'block').at(-1)).toBe('expired');
    },
    MS,
  );
});

/** Counts from now on: harmful packets that pass the last link, and all that its host got. */
function countAt({ fabric }: VirtualLoop, received: () => number): readonly [() => number, () => number] {
  let harmful = 0;
  const before = received();
  fabric.network.tap(fabric.links.get('leaf2:web')!, 'ab', (frame) => {
    if (frame[26] === 203 && frame[27] === 0 && frame[28] === 113) harmful++;
  });
  return [() => harmful, () => received() - before];
}
