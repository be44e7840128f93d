import { describe, expect, it } from 'vitest';
import { until } from '../../../.ci/test/until.js';
import type { VethPair } from '../namespace.js';
import { BUILDS, MODES, mostly, pairFor } from '../pair.js';
import { run } from '../program.js';
import { startAt } from './start.js';

/** The kernel takes down what belonged to a process a moment after it has ended. */
async function detached(pair: VethPair): Promise<number | null> {
  await until('an interface without a program', () => pair.attached(pair.right) === null, { everyMs: 10 });
  return pair.attached(pair.right);
}

/** Times that a socket is opened and closed. */
const CYCLES = process.env.INT_LONG === '1' ? 20 : 10;

describe.each(BUILDS)('again and again open and closed, %s', (_name, build) => {
  // Sockets by the dozen, under the sanitizers too.
  it.each(MODES)(
    'holds no descriptors, mappings or memory and leaves no program, in %s mode',
    async (mode) => {
      const pair = await pairFor();
      const program = await startAt(pair, { build });
      // The first ones load what stays loaded.
      const before = await program.call('cycles', 3, mode);
      const after = await program.call('cycles', CYCLES, mode);
      expect(after).toMatchObject({
        descriptors: before.descriptors,
        kernelObjects: 0,
        mappings: before.mappings,
      });
      // 10 sockets have more than 20 MB together. The sanitizer keeps what was freed on purpose, to find whoever still uses it.
      if (build === 'plain') expect(after.residentBytes - before.residentBytes).toBeLessThan(20 << 20);
      expect(pair.attached(pair.right)).toBe(null);
      await program.stop();
    },
    180_000,
  );

  it('is not needed for those that are forgotten: the garbage collector closes them', async () => {
    const pair = await pairFor();
    const program = await startAt(pair, { build });
    expect(await program.call('forget', 5)).toMatchObject({ kernelObjects: 0 });
    expect(pair.attached(pair.right)).toBe(null);
    await program.stop();
  });
});

describe.each(mostly('plain'))('a socket that is closed, %s', (_name, build) => {
  it('leaves its queue free at once', async () => {
    const pair = await pairFor();
    const program = await startAt(pair, { build });
    expect(await program.call('reopen', CYCLES)).toBe(0);
    await program.stop();
  });
});

describe('a process that is killed with a socket open', () => {
  it.each(MODES)('leaves no program and no queue taken, in %s mode', async (mode) => {
    const pair = await pairFor();
    const victim = await startAt(pair);
    await victim.call('hold', mode);
    expect(pair.attached(pair.right)).not.toBe(null);
    expect(await victim.kill()).toBe('SIGKILL');
    expect(await detached(pair)).toBe(null);
    const next = await startAt(pair);
    expect(await next.call('open', { mode })).toBe(mode);
    await next.stop();
  });
});

describe.each(mostly('sanitized'))('a process with a socket of %s', (_name, build) => {
  it.each([
    ['is not kept alive by one that is closed during a wait', 'closed', 0, 'waited: false\n'],
    ['is kept alive by a wait until its end', 'waited', 0, 'waited: false\n'],
    ['is not kept alive by one that is open', 'forgotten', 0, 'received: 0\n'],
    ['can exit during a wait', 'exiting', 0, ''],
    ['can fail during a wait', 'throwing', 1, ''],
  ] as const)('%s', async (_what, how, status, output) => {
    const pair = await pairFor();
    const file = new URL('../ending.program.ts', import.meta.url);
    const ending = await run(file, [how, pair.right.interface], { at: pair.right, build });
    expect(ending).toMatchObject({ status, output, signal: null });
    if (status === 0) expect(ending.errors).toBe('');
    else expect(ending.errors).toContain('Error: on purpose');
    expect(ending.errors).not.toContain('Sanitizer');
    expect(await detached(pair)).toBe(null);
  });
});

describe('memory of the caller', () => {
  it.each([
    ['an ArrayBuffer', false],
    ['a SharedArrayBuffer', true],
  ] as const)(
    'in %s stays the one that the kernel writes to when other processes are started',
    async (_what, isShared) => {
      const pair = await pairFor({ together: true });
      const program = await startAt(pair);
      expect(await program.call('besideChildren', 1_600, isShared)).toBe(1_600);
      await program.stop();
    },
  );
});
