import { describe, expect, it } from 'vitest';
import { until } from '../../../.ci/test/until.js';
import { pairFor } from '../pair.js';
import { expectAll, FAILING_WORKER, Senders, startSource, worker } from './sourcing.js';

describe('XdpSource', () => {
  // Each reason has a program of its own.
  it('says why it cannot be opened, and leaves nothing behind', async () => {
    const pair = await pairFor({ queues: 2 });
    const { right } = pair;
    const source = await startSource(pair);
    const threads = { threads: true, worker: await worker() };
    for (const more of [{}, threads]) {
      const missing = await source.call('open', {
        source: { interface: 'nowhere0', queues: [0], ...more },
        numbers: 1,
      });
      expect(missing).toMatchObject({ code: 'ERR_SOURCE_OPEN', cause: { code: 'ERR_XDP_NO_DEVICE' } });
      expect(missing!.message).toContain('cannot open afxdp://nowhere0:0: ');
      expect(missing!.message).toContain(missing!.cause!.hint);
      const queue = await source.call('open', {
        source: { interface: right.interface, queues: [7], ...more },
        numbers: 1,
      });
      expect(queue).toMatchObject({ code: 'ERR_SOURCE_OPEN', cause: { code: 'ERR_XDP_QUEUE', name: 'XdpError' } });
      expect(pair.attached(right)).toBeNull();
    }
    const some = { interface: right.interface, queues: [0, 1, 9], ...threads };
    expect(await source.call('open', { source: some, numbers: 1 })).toMatchObject({ cause: { code: 'ERR_XDP_QUEUE' } });
    expect(pair.attached(right)).toBeNull();
    // The queues that could be opened are free again.
    expect(await source.call('open', { source: { ...some, queues: [0, 1] }, numbers: 1 })).toBeNull();
    const second = await startSource(pair);
    expect(await second.call('open', { source: { ...some, queues: [0] }, numbers: 1 })).toMatchObject({
      code: 'ERR_SOURCE_OPEN',
      cause: { code: 'ERR_XDP_BUSY' },
    });
    await second.stop();
    await source.call('stop');
    await source.stop();
  }, 180_000);

  it('needs threads for several queues', async () => {
    const pair = await pairFor({ queues: 2 });
    const source = await startSource(pair);
    const options = { interface: pair.right.interface, threads: false };
    expect(await source.call('open', { source: options, numbers: 1 })).toMatchObject({
      code: 'ERR_SOURCE_OPEN',
      cause: { name: 'RangeError' },
    });
    await source.stop();
  });

  it.each([
    ['on its own thread', false],
    ['in a thread', true],
  ])('ends when the interface goes away, if that is wanted, %s, and keeps what it has', async (_where, threads) => {
    const pair = await pairFor();
    const { right } = pair;
    const source = await startSource(pair);
    const senders = await Senders.start(pair);
    const options = { interface: right.interface, threads, worker: await worker(), onDown: 'end' as const };
    await source.call('open', { source: options, numbers: 640 });
    await senders.send(640, source);
    await source.call('until', 640);
    pair.ip(right, 'link', 'delete', right.interface);
    const received = await source.call('finished');
    expect(received).toMatchObject({ right: 640, wrong: 0, totals: { received: 640, kernelDropped: 0 } });
    expect(received.problems).toHaveLength(1);
    const [problem] = received.problems;
    expect(problem).toMatchObject({ name: 'SourceError', code: 'ERR_SOURCE_DATA', cause: { name: 'XdpError' } });
    expect(problem!.cause!.code).toBe('ERR_XDP_NO_DEVICE');
    expect(await source.call('stop')).toMatchObject({ right: 640 });
    await source.stop();
  });

  it('ends when a thread breaks, and takes what the other one has received', async () => {
    const pair = await pairFor({ queues: 2 });
    const { right } = pair;
    const source = await startSource(pair);
    const senders = await Senders.start(pair, 2);
    const options = { interface: right.interface, worker: await worker(FAILING_WORKER) };
    await source.call('open', { source: options, numbers: 12_800 });
    await senders.send(12_800);
    const received = await source.call('finished');
    expect(received.problems[0]).toMatchObject({ name: 'SourceError', code: 'ERR_SOURCE_DATA' });
    expect(received.problems[0]!.message).toContain('broken by the test');
    expect(received.wrong).toBe(0);
    expect(received.right).toBeGreaterThanOrEqual(1000);
    expect(received.totals.received).toBe(received.right);
    expect(pair.attached(right)).toBeNull();

    // The queues are free for the next one.
    const next = await startSource(pair);
    expect(await next.call('open', { source: { ...options, worker: await worker() }, numbers: 99_999 })).toBeNull();
    senders.begin();
    await senders.send(640, next);
    await next.call('until', 640);
    expectAll(await next.call('stop'), 640);
    await next.stop();
    await source.stop();
  });

  it.each([false, true])('ends when what it pushes to throws (threads: %s)', async (threads) => {
    const pair = await pairFor();
    const source = await startSource(pair);
    const senders = await Senders.start(pair);
    const options = { interface: pair.right.interface, threads, worker: await worker(), frames: 1024, batches: 2 };
    const ended = source.call('breaking', options);
    // It breaks at the first report after it has been opened.
    let isOver = false;
    void ended.then(() => {
      isOver = true;
    });
    const sendOn = async (): Promise<boolean> => {
      if (!isOver) await senders.send(64);
      return isOver;
    };
    await until('the end of the source', sendOn);
    expect(await ended).toMatchObject({ name: 'SourceError', code: 'ERR_SOURCE_DATA' });
    expect((await ended)!.message).toContain('the pipeline broke');
    expect(pair.attached(pair.right)).toBeNull();
    await source.stop();
  });

  it('cannot start a thread without its code', async () => {
    const pair = await pairFor();
    const source = await startSource(pair);
    const options = { interface: pair.right.interface, threads: true, worker: '/nowhere/worker.js' };
    const failure = await source.call('open', { source: options, numbers: 1 });
    expect(failure).toMatchObject({ code: 'ERR_SOURCE_OPEN' });
    expect(failure!.message).toContain('/nowhere/worker.js');
    expect(pair.attached(pair.right)).toBeNull();
    await source.stop();
  });
});
