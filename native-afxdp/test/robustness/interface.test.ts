import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { MODES, mostly, pairFor } from '../pair.js';
import type { Outcome } from '../robustness.program.js';
import { startAt } from './start.js';

const WAYS = [
  ['wait()', false],
  ['waitSync()', true],
] as const;

function expectGone(outcome: Outcome): void {
  expect(outcome).toMatchObject({
    failure: { name: 'XdpError', code: expect.stringMatching(/^ERR_XDP_(NO_DEVICE|DOWN)$/) as string },
  });
}

describe.each(mostly('plain'))('an interface that goes away under %s', (_name, build) => {
  for (const mode of MODES) {
    it.each(WAYS)(`ends %s in ${mode} mode, and close() is clean`, async (_way, blocks) => {
      const pair = await pairFor();
      const program = await startAt(pair, { build });
      await program.call('hold', mode);
      const waiting = program.call('wait', 20_000, blocks);
      await sleep(100);
      pair.ip(pair.right, 'link', 'delete', 'dev', pair.right.interface);
      expectGone(await waiting);
      // And whoever waits after that, or asks, learns it as well.
      expectGone(await program.call('wait', 200, blocks));
      expectGone(await program.call('check'));
      const uses = await program.call('useAndClose');
      for (const use of uses) expect(use).toMatch(/^(fine|XdpError ERR_XDP_(NO_DEVICE|DOWN))$/);
      expect(uses.at(-1)).toBe('fine');
      await program.stop();
    });
  }

  it('into another namespace ends wait() too', async () => {
    const pair = await pairFor();
    const program = await startAt(pair, { build });
    await program.call('hold', 'driver');
    const waiting = program.call('wait', 20_000, false);
    await sleep(100);
    pair.ip(pair.right, 'link', 'set', pair.right.interface, 'netns', pair.left.namespace);
    expectGone(await waiting);
    expect((await program.call('useAndClose')).at(-1)).toBe('fine');
    await program.stop();
  });

  it('takes a namespace along without harm', async () => {
    const pair = await pairFor();
    const program = await startAt(pair, { build });
    await program.call('hold', 'driver');
    pair.remove();
    const uses = await program.call('useAndClose');
    expect(uses.at(-1)).toBe('fine');
    await program.stop();
  });
});

describe('an interface that is set down', () => {
  it.each(MODES)('is opened, and waits in vain until it is up again, in %s mode', async (mode) => {
    const pair = await pairFor();
    const program = await startAt(pair);
    await program.call('hold', mode);
    expect(await program.call('wait', 50, false)).toEqual({ returned: 'false' });
    pair.ip(pair.right, 'link', 'set', pair.right.interface, 'down');
    const outcome = await program.call('wait', 300, false);
    if ('failure' in outcome) expectGone(outcome);
    else expect(outcome).toEqual({ returned: 'false' });
    expect((await program.call('useAndClose')).at(-1)).toBe('fine');
    pair.ip(pair.right, 'link', 'set', pair.right.interface, 'up');
    expect(await program.call('open', { mode })).toBe(mode);
    await program.stop();
  });
});
