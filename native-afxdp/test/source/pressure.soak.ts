import { describe, expect, it } from 'vitest';
import { pairFor } from '../pair.js';
import type { Received } from './source.program.js';
import { expectAll, Senders, startSource, worker } from './sourcing.js';

/** Each report was received, or the kernel says that it had no room. */
function expectAccounted({ right, wrong, duplicates, totals, statistics, problems }: Received, sent: number): void {
  expect(problems).toEqual([]);
  expect({ wrong, duplicates }).toEqual({ wrong: 0, duplicates: 0 });
  expect(totals).toMatchObject({ received: right, decoded: right });
  expect(totals.received + totals.kernelDropped!).toBe(sent);
  expect(statistics.rxDropped + statistics.rxRingFull).toBe(totals.kernelDropped);
}

describe.each([
  ['on its own thread', false],
  ['in threads', true],
])('XdpSource %s', (_where, threads) => {
  const SMALL = { frames: 1024, batchFrames: 64, batches: 4, threads } as const;

  it('waits for a slow sink, fills other batches meanwhile, and loses nothing while there is room', async () => {
    const pair = await pairFor();
    const source = await startSource(pair);
    const senders = await Senders.start(pair);
    const options = { interface: pair.right.interface, ...SMALL, worker: await worker() };
    await source.call('open', { source: options, numbers: 3200, keepMs: 3 });
    for (let turn = 0; turn < 5; turn++) {
      await senders.send(640, source);
      await source.call('until', senders.sent);
    }
    expectAll(await source.call('stop'), 3200);
    await source.stop();
  });

  it('counts what the kernel had no room for, each report once', async () => {
    const pair = await pairFor();
    const source = await startSource(pair);
    const senders = await Senders.start(pair);
    const options = { interface: pair.right.interface, ...SMALL, worker: await worker() };
    await source.call('open', { source: options, numbers: 6400, keepMs: 50 });
    await senders.send(6400);
    await source.call('until', senders.arrived);
    const received = await source.call('stop');
    expectAccounted(received, senders.arrived);
    expect(received.totals.kernelDropped).toBeGreaterThan(0);
    expect(received.right).toBeGreaterThanOrEqual(1024);
    // Where the kernel copies, a frame that finds no memory is in both.
    expect(received.statistics.fillRingEmpty).toBe(received.statistics.rxDropped);
    await source.stop();
  });

  it('ends when it is stopped, also while more comes in', async () => {
    const pair = await pairFor();
    const source = await startSource(pair);
    const senders = await Senders.start(pair);
    const options = { interface: pair.right.interface, ...SMALL, worker: await worker() };
    await source.call('open', { source: options, numbers: 6400 });
    const sending = senders.send(6400);
    await source.call('until', 640);
    const received = await source.call('stop');
    expect(pair.attached(pair.right)).toBeNull();
    await sending;
    expect(received.problems).toEqual([]);
    expect(received.wrong + received.duplicates).toBe(0);
    expect(received.right).toBeGreaterThanOrEqual(640);
    expect(received.statistics.received).toBe(received.right);
    await source.stop();
  });

  it('takes in what was on the way when it is stopped', async () => {
    const pair = await pairFor();
    const source = await startSource(pair);
    const senders = await Senders.start(pair);
    const options = { interface: pair.right.interface, ...SMALL, worker: await worker() };
    await source.call('open', { source: options, numbers: 640, keepMs: 1 });
    // The thread of the pipeline does nothing while they arrive, and is told to stop right after.
    const blocked = source.call('block', 300);
    const stopped = source.call('stop');
    await senders.send(640);
    await blocked;
    expectAll(await stopped, senders.arrived);
    await source.stop();
  });
});

it('drops nothing while its thread is busy with other things for a while', async () => {
  const pair = await pairFor();
  const source = await startSource(pair);
  const senders = await Senders.start(pair);
  await source.call('open', { source: { interface: pair.right.interface }, numbers: 12_800 });
  const blocked = source.call('block', 1500);
  await senders.send(12_800);
  await blocked;
  await source.call('until', senders.arrived);
  expectAll(await source.call('stop'), senders.arrived);
  await source.stop();
});
