import { describe, expect, it } from 'vitest';
import { MODES, mostly, pairFor, startTraffic } from '../pair.js';

const PLACES = [
  ['an ArrayBuffer', 'array-buffer'],
  ['a SharedArrayBuffer', 'shared'],
  ['a WebAssembly memory, decoded in place', 'wasm'],
] as const;

describe.each(mostly('plain'))('frames through %s', (_name, build) => {
  it.each(PLACES)('arrive in %s', async (_place, place) => {
    const pair = await pairFor({ together: true });
    const program = await startTraffic({ at: pair.right, build });
    const count = 10_000;
    for (const mode of MODES) {
      const result = await program.call('exchange', {
        from: { interface: pair.left.interface },
        to: { interface: pair.right.interface, mode, frames: 1024 },
        count,
        place,
      });
      expect(result.findings).toEqual({ frames: count, bytes: 146 * count, wrong: 0, duplicates: 0, late: 0 });
      expect(result.reports).toBe(count);
    }
    await program.stop();
  });

  it.each(MODES)('cross frames in the other direction of the same sockets, in %s mode', async (mode) => {
    const pair = await pairFor({ together: true });
    const program = await startTraffic({ at: pair.right, build });
    const count = 10_000;
    const { left, right } = pair;
    const ends = [left, right].map((end) => ({ interface: end.interface, mode }));
    for (const [findings, stats] of await program.call('duplex', ends[0]!, ends[1]!, count)) {
      expect(findings).toEqual({ frames: count, bytes: 146 * count, wrong: 0, duplicates: 0, late: 0 });
      expect(stats).toMatchObject({ received: count, released: count, sent: count, completed: count });
      expect(stats.kernel).toMatchObject({ rxDropped: 0, rxRingFull: 0, txInvalid: 0 });
    }
    await program.stop();
  });

  it('that are sent come back: the rings wrap many times and nothing is pending in the end', async () => {
    const pair = await pairFor({ together: true });
    const program = await startTraffic({ at: pair.right, build });
    const count = 20_000;
    for (const txFrames of [2, 16, 64]) {
      const result = await program.call('exchange', {
        from: { interface: pair.left.interface, frames: 64, txFrames },
        to: { interface: pair.right.interface, frames: 128 },
        count,
      });
      expect(result.findings).toMatchObject({ frames: count, wrong: 0, duplicates: 0, late: 0 });
      expect(result.sender).toMatchObject({ sent: count, completed: count, sentBytes: 146 * count });
      expect(result.sender.kernel).toMatchObject({ txInvalid: 0 });
    }
    await program.stop();
  });
});

describe('frames to send at an interface that is down', () => {
  it('stay pending, are reported, and leave when it is up again', async () => {
    const pair = await pairFor();
    const right = await startTraffic({ at: pair.right });
    const left = await startTraffic({ at: pair.left });
    await right.call('open', { interface: pair.right.interface });
    await left.call('open', { interface: pair.left.interface, ports: [], frames: 2, txFrames: 16 });
    pair.ip(pair.left, 'link', 'set', pair.left.interface, 'down');
    expect(await left.call('offer', 8)).toMatchObject({ name: 'XdpError', code: 'ERR_XDP_DOWN' });
    expect(await left.call('flush', 50)).toMatchObject({ before: 8, flushed: { code: 'ERR_XDP_DOWN' }, after: 8 });
    pair.ip(pair.left, 'link', 'set', pair.left.interface, 'up');
    expect(await left.call('flush', 5_000)).toMatchObject({ flushed: true, after: 0 });
    expect(await right.call('take', 8)).toHaveLength(8);
    expect(await left.call('stats')).toMatchObject({ sent: 8, completed: 8 });
    await Promise.all([left.stop(), right.stop()]);
  });
});
