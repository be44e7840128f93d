import type { XdpMode } from '@int/afxdp';
import { describe, expect, it } from 'vitest';
import { MODES, mostly, pairFor } from '../pair.js';
import { bundle, start } from '../program.js';
import type { Queues, QueuesResult } from '../queues.program.js';

const PROGRAM = new URL('../queues.program.ts', import.meta.url);
const WORKER = new URL('../queue-worker.program.ts', import.meta.url);

/**
 * Every frame is at one of the queues: in driver mode each has its half, in generic mode it is the interface that decides
 * (some of its versions forget the queue).
 */
function expectAll({ queues, program }: QueuesResult, mode: XdpMode, count: number): void {
  expect(program).toEqual({ steered: count, passed: 0, noSocket: 0 });
  expect(queues).toHaveLength(2);
  for (const { findings, stats } of queues) {
    expect(findings).toMatchObject({ bytes: 146 * findings.frames, wrong: 0, duplicates: 0, late: 0 });
    if (mode === 'driver') expect(findings.frames).toBe(count / 2);
    expect(stats).toMatchObject({ received: findings.frames, released: findings.frames, program: null });
    expect(stats.kernel).toMatchObject({ rxDropped: 0, rxRingFull: 0 });
  }
  expect(queues[0]!.findings.frames + queues[1]!.findings.frames).toBe(count);
}

describe.each(mostly('plain'))('two queues through %s', (_name, build) => {
  const count = build === 'plain' ? 12_800 : 2_560;

  it.each(MODES)('one program steers to two sockets in %s mode', async (mode) => {
    const pair = await pairFor({ together: true, queues: 2 });
    const program = await start<Queues>(PROGRAM, { at: pair.right, build });
    const { left, right } = pair;
    expect(await program.call('count', right.interface)).toBe(2);
    expectAll(await program.call('together', left.interface, right.interface, mode, count), mode, count);
    expect(pair.attached(right)).toBe(null);
    await program.stop();
  });

  it.each(MODES)('one program steers to sockets in two threads in %s mode', async (mode) => {
    const pair = await pairFor({ together: true, queues: 2 });
    const program = await start<Queues>(PROGRAM, { at: pair.right, build });
    const { left, right } = pair;
    const worker = await bundle(WORKER);
    expectAll(await program.call('threads', left.interface, right.interface, mode, count, worker), mode, count);
    await program.stop();
  });

  it('a thread that is terminated leaves neither program nor queue taken', async () => {
    const pair = await pairFor();
    const program = await start<Queues>(PROGRAM, { at: pair.right, build });
    const worker = await bundle(WORKER);
    expect(await program.call('terminate', pair.right.interface, worker)).toEqual({ mode: 'driver' });
    expect(pair.attached(pair.right)).toBe(null);
    await program.stop();
  });

  it('ports can be changed while frames arrive', async () => {
    const pair = await pairFor({ together: true });
    const program = await start<Queues>(PROGRAM, { at: pair.right, build });
    const { left, right } = pair;
    const to = [0, 1, 63, 64, 32766, 65535];
    const every = Array.from({ length: 65_536 }, (_, port) => port);
    const sets = [[], [0], [65535, 64], [63, 1], 'all', [], every, [32766]] as const;
    expect(await program.call('ports', left.interface, right.interface, sets, to)).toEqual([
      [],
      [0],
      [64, 65535],
      [1, 63],
      to,
      [],
      to,
      [32766],
    ]);
    await program.stop();
  });

  it('a second program for the interface is refused', async () => {
    const pair = await pairFor();
    const program = await start<Queues>(PROGRAM, { at: pair.right, build });
    const failure = await program.failure('second', pair.right.interface);
    expect(failure).toMatchObject({ name: 'XdpError', code: 'ERR_XDP_BUSY' });
    expect(pair.attached(pair.right)).toBe(null);
    await program.stop();
  });
});
