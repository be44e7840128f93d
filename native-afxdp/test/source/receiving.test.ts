import { describe, expect, it } from 'vitest';
import { MODES, MOSTLY_DRIVER, pairFor, startTraffic } from '../pair.js';
import { frameOf } from '../prefilter/reports.js';
import { expectAll, Senders, startSource, worker } from './sourcing.js';

const COUNT = 19_200;

describe('XdpSource', () => {
  it.each(MODES)('receives every report of one queue in %s mode, in order, and decodes it in place', async (mode) => {
    const pair = await pairFor();
    const { right } = pair;
    const source = await startSource(pair);
    const senders = await Senders.start(pair);
    expect(await source.call('open', { source: { interface: right.interface, mode }, numbers: COUNT })).toBeNull();
    expect(await source.call('state')).toMatchObject({ queues: [0], mode, usesAccelerator: true });
    await senders.send(COUNT, source);
    await source.call('until', COUNT);
    const received = await source.call('stop');
    expectAll(received, COUNT);
    expect(received).toMatchObject({ name: 'afxdp://right0:all', address: 'right0:0', late: 0, isInPlace: true });
    expect(pair.attached(right)).toBeNull();
    await source.stop();
  });

  it('receives from one queue in a thread of its own if asked to', async () => {
    const pair = await pairFor();
    const source = await startSource(pair);
    const senders = await Senders.start(pair);
    const options = { interface: pair.right.interface, queues: [0], threads: true, worker: await worker() };
    expect(await source.call('open', { source: options, numbers: COUNT })).toBeNull();
    expect(await source.call('state')).toMatchObject({ queues: [0], mode: 'driver', usesAccelerator: true });
    await senders.send(COUNT, source);
    await source.call('until', COUNT);
    const received = await source.call('stop');
    expectAll(received, COUNT);
    expect(received).toMatchObject({ late: 0, isInPlace: true });
    await source.stop();
  });

  it.each(MOSTLY_DRIVER)('receives from two queues in two threads in %s mode', async (mode) => {
    const pair = await pairFor({ queues: 2 });
    const { right } = pair;
    const source = await startSource(pair);
    const senders = await Senders.start(pair, 2);
    const options = { interface: right.interface, mode, worker: await worker() };
    expect(await source.call('open', { source: options, numbers: COUNT })).toBeNull();
    expect(await source.call('state')).toMatchObject({
      queues: [0, 1],
      address: 'right0:0-1',
      mode,
      usesAccelerator: true,
    });
    await senders.send(COUNT, source);
    await source.call('until', COUNT);
    const received = await source.call('stop');
    expectAll(received, COUNT);
    expect(received.isInPlace).toBe(true);
    expect(pair.attached(right)).toBeNull();
    await source.stop();
  });

  it('decodes reports of the common kind in WebAssembly, where the kernel has put them', async () => {
    const pair = await pairFor();
    const source = await startSource(pair);
    await source.call('open', { source: { interface: pair.right.interface }, numbers: 0 });
    const sender = await startTraffic({ at: pair.left });
    await sender.call('open', { interface: pair.left.interface, ports: [], frames: 64, txFrames: 64 });
    const flow = { source: '10.0.0.1', destination: '10.0.0.2', protocol: 17, sourcePort: 4000, destinationPort: 80 };
    const hops = [1, 2, 3].map((nodeId) => ({ nodeId, hopLatency: 10 * nodeId, queueId: 1, queueOccupancy: nodeId }));
    const frames = Array.from({ length: 100 }, () => frameOf({ flow, hops, own: { hopLatency: 7 } }));
    await sender.call('frames', frames);
    await source.call('until', 100);
    const received = await source.call('stop');
    expect(received.totals).toMatchObject({ received: 100, decoded: 100, reports: 100, kernelDropped: 0 });
    expect(received).toMatchObject({ inKernel: 100, isInPlace: true });
    await source.stop();
  });

  it('wakes up after it has been idle, with and without threads', async () => {
    const pair = await pairFor();
    const senders = await Senders.start(pair);
    for (const threads of [false, true]) {
      const source = await startSource(pair);
      senders.begin();
      const options = { interface: pair.right.interface, threads, worker: await worker() };
      await source.call('open', { source: options, numbers: senders.sent + 192 });
      for (let turn = 1; turn <= 3; turn++) {
        // Long enough to sleep.
        await source.call('idle', 400);
        await senders.send(64, source);
        expect(await source.call('until', 64 * turn)).toMatchObject({ right: 64 * turn });
      }
      expectAll(await source.call('stop'), 192);
      await source.stop();
    }
  });

  it('leaves queues that it does not read, and ports that are not its, to the system', async () => {
    const pair = await pairFor({ queues: 2 });
    const source = await startSource(pair);
    const senders = await Senders.start(pair, 2);
    const options = { interface: pair.right.interface, queues: [1] };
    await source.call('open', { source: options, numbers: 640 });
    // Every second window of the sender goes to each of the two.
    for (let windows = 2; windows <= 10; windows += 2) {
      await senders.send(128);
      await source.call('until', 32 * windows);
    }
    const first = await source.call('stop');
    expect(first).toMatchObject({ name: 'afxdp://right0:1', right: 320, statistics: { noSocket: 320, received: 320 } });
    await source.stop();

    const other = await startSource(pair);
    const ports = [1, 32767];
    await other.call('open', { source: { ...options, ports }, numbers: 640 });
    await senders.send(640);
    expect(await other.call('stop')).toMatchObject({ right: 0, statistics: { noSocket: 0, received: 0 } });
    await other.stop();
  });
});
