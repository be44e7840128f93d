import { describe, expect, it } from 'vitest';
import { MODES, mostly, pairFor, startTraffic } from '../pair.js';

const NOTHING_LOST = { rxDropped: 0, rxInvalid: 0, rxRingFull: 0, txInvalid: 0 };

describe.each(mostly('plain'))('frames through %s', (_name, build) => {
  const count = build === 'plain' ? 100_000 : 20_000;

  it.each(MODES)('arrive byte for byte and as columns, every one, in %s mode', async (mode) => {
    const pair = await pairFor({ together: true });
    const program = await startTraffic({ at: pair.right, build });
    const result = await program.call('exchange', {
      from: { interface: pair.left.interface },
      to: { interface: pair.right.interface, mode },
      count,
    });
    await program.stop();

    expect(result.mode).toBe(mode);
    expect(result.findings).toEqual({ frames: count, bytes: 146 * count, wrong: 0, duplicates: 0, late: 0 });
    expect(result.reports).toBe(count);
    expect(result.receiver.kernel).toMatchObject(NOTHING_LOST);
    expect(result.receiver).toMatchObject({ received: count, receivedBytes: 146 * count, released: count });
    expect(result.receiver.program).toMatchObject({ steered: count, noSocket: 0 });
    expect(result.sender).toMatchObject({ sent: count, sentBytes: 146 * count, completed: count, program: null });
    expect(pair.counters(pair.left)).toMatchObject({ tx_packets: count, tx_dropped: 0 });
    expect(pair.counters(pair.right)).toMatchObject({ rx_packets: count, rx_dropped: 0 });
  });

  it.each(MODES)('are received or counted as dropped when there are too many, in %s mode', async (mode) => {
    const pair = await pairFor();
    const receiver = await startTraffic({ at: pair.right, build });
    const sender = await startTraffic({ at: pair.left, build });
    await receiver.call('open', { interface: pair.right.interface, mode, frames: 64 });
    await sender.call('open', { interface: pair.left.interface, ports: [], frames: 64, txFrames: 256 });
    // It looks away every 5000 frames, for longer than 64 frames can bridge.
    await receiver.call('collect', count, {}, 5_000, 20);
    // On a busy machine it may not get a turn in all the time of the first ones.
    await sender.call('blast', 0, count - 1000);
    await receiver.call('collected', count - 1000 - pair.counters(pair.left).tx_dropped);
    const sent = await sender.call('blast', count - 1000, count);
    const { tx_packets, tx_dropped } = pair.counters(pair.left);
    const { findings, reports, stats } = await receiver.call('collected', count - tx_dropped);
    await receiver.call('close');
    await Promise.all([receiver.stop(), sender.stop()]);

    expect(sent).toMatchObject({ sent: count, completed: count });
    expect(tx_packets + tx_dropped).toBe(count);
    const { rxDropped, rxRingFull } = stats.kernel;
    expect(rxDropped + rxRingFull).toBeGreaterThan(0);
    expect(findings.frames).toBeGreaterThan(64);
    expect(findings.frames + rxDropped + rxRingFull + tx_dropped).toBe(count);
    expect(findings).toMatchObject({ wrong: 0, duplicates: 0, bytes: 146 * findings.frames });
    expect(stats).toMatchObject({ received: findings.frames, program: { steered: count - tx_dropped } });
    expect(reports).toBe(findings.frames);
  });
});
