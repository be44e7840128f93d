import { createSocket } from 'node:dgram';
import { setTimeout as sleep } from 'node:timers/promises';
import { Collector, FrameSlab, type Push, QueuedSink, type Sink, type Source, UdpSource } from '@int/collector';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { hop, report } from './reports.js';

const START_MS = 1_700_000_000_000;
const good = report(7, 7, [hop(1, 10, 0)]);

function slab(...timesMs: readonly number[]): FrameSlab {
  const frames = new FrameSlab({ frames: timesMs.length, bytes: timesMs.length * good.length }, 'report');
  for (const timeMs of timesMs) frames.append(good, timeMs);
  return frames;
}

/** A source that pushes when the test says so. */
class HandSource implements Source {
  readonly overrun = 0;
  readonly kernelDropped = 0;
  push: Push = () => undefined;
  end: () => void = () => {};
  readonly finished = new Promise<void>((resolve) => {
    this.end = resolve;
  });

  constructor(readonly name: string) {}

  async start(push: Push): Promise<void> {
    this.push = push;
  }

  async stop(): Promise<void> {
    this.end();
  }
}

/** One that also says the time. */
class TellingSource extends HandSource {
  low: number | null = null;

  lowTimeMs(): number | null {
    return this.low;
  }
}

/** Notes batches and times, in their order. */
class Witness implements Sink {
  readonly name = 'witness';
  readonly seen: (string | number)[] = [];
  answer: () => Promise<void> | undefined = () => undefined;

  write(batch: { readonly reports: number }): Promise<void> | undefined {
    this.seen.push(`${batch.reports} reports`);
    return this.answer();
  }

  advance(timeMs: number): void {
    this.seen.push(timeMs - START_MS);
  }
}

afterEach(() => {
  vi.useRealTimers();
});

describe('the time of a pipeline', () => {
  test('is the earliest of what its sources say, without those that have ended', async () => {
    vi.useFakeTimers();
    const told = new TellingSource('told');
    const silent = new HandSource('silent');
    const sink = new Witness();
    const collector = new Collector({ sources: [told, silent], sinks: [sink] });
    await collector.start();
    silent.push(slab(START_MS + 10, START_MS + 5));
    await vi.advanceTimersByTimeAsync(250);
    // One does not know.
    expect(sink.seen).toEqual(['2 reports']);
    told.low = START_MS + 900;
    await vi.advanceTimersByTimeAsync(200);
    // The other one has pushed nothing later.
    expect(sink.seen).toEqual(['2 reports', 10]);
    silent.end();
    await vi.advanceTimersByTimeAsync(200);
    expect(sink.seen.at(-1)).toBe(900);
    await collector.stop();
    const { length } = sink.seen;
    await vi.advanceTimersByTimeAsync(1000);
    expect(sink.seen).toHaveLength(length);
  });

  test('comes behind what was pushed before it, also if a sink is slow', async () => {
    vi.useFakeTimers();
    const source = new TellingSource('told');
    source.low = START_MS;
    const sink = new Witness();
    let release = (): void => {};
    sink.answer = () =>
      new Promise<void>((resolve) => {
        release = resolve;
      });
    const collector = new Collector({ sources: [source], sinks: [sink] });
    await collector.start();
    void source.push(slab(START_MS));
    void source.push(slab(START_MS + 1));
    source.low = START_MS + 2;
    await vi.advanceTimersByTimeAsync(700);
    expect(sink.seen).toEqual(['1 reports']);
    release();
    await vi.advanceTimersByTimeAsync(0);
    expect(sink.seen).toEqual(['1 reports', '1 reports']);
    sink.answer = () => undefined;
    release();
    await vi.advanceTimersByTimeAsync(1);
    expect(sink.seen).toEqual(['1 reports', '1 reports', 2]);
    await collector.stop();
  });

  test('passes through a queue behind the batches that wait there', async () => {
    const sink = new Witness();
    const releases: (() => void)[] = [];
    sink.answer = () => new Promise((resolve) => releases.push(() => resolve()));
    const queue = new QueuedSink(sink, { batches: 8 });
    const source = new HandSource('hand');
    const collector = new Collector({ sources: [source], sinks: [queue] });
    await collector.start();
    queue.advance?.(START_MS);
    for (let count = 0; count < 3; count++) source.push(slab(START_MS + count));
    queue.advance?.(START_MS + 3);
    for (let turn = 0; turn < 50 && sink.seen.filter((one) => one === '1 reports').length < 3; turn++) {
      releases.shift()?.();
      await sleep(5);
    }
    expect(sink.seen).toEqual([0, '1 reports', '1 reports', '1 reports']);
    while (releases.length > 0) releases.shift()!();
    for (let turn = 0; turn < 200 && sink.seen.at(-1) !== 3; turn++) await sleep(5);
    expect(sink.seen).toEqual([0, '1 reports', '1 reports', '1 reports', 3]);
    await collector.stop();
  });

  test('of a UDP source is now, or that of the datagram which is not pushed yet', async () => {
    let now = START_MS;
    const source = new UdpSource({ address: 'udp://127.0.0.1:0', now: () => now, flushMs: 60_000 });
    await source.start(() => undefined);
    now += 100;
    expect(source.lowTimeMs()).toBe(START_MS + 100);
    const socket = createSocket('udp4');
    socket.send(good, source.address.port, '127.0.0.1');
    for (let turn = 0; turn < 400 && source.lowTimeMs() === now; turn++) {
      await sleep(5);
      now += 1;
    }
    const first = source.lowTimeMs();
    now += 500;
    expect(source.lowTimeMs()).toBe(first);
    expect(first).toBeLessThan(now - 400);
    socket.close();
    await source.stop();
  });
});
