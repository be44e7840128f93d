import { RING_HEADER, SpscRing } from '@int/rings';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { runScript } from './thread.js';

const notify = vi.spyOn(Atomics, 'notify');
afterEach(() => notify.mockClear());

const one = Int32Array.of(1, 2);
const make = (capacity = 4): SpscRing => new SpscRing({ recordWords: 2, capacity });

/** Whether a promise is settled, after everything that is due has happened. */
async function settled(promise: Promise<unknown>): Promise<boolean> {
  let done = false;
  void promise.then(() => {
    done = true;
  });
  await new Promise((resolve) => setTimeout(resolve, 5));
  return done;
}

describe('waiting', () => {
  it('does not block where the answer is known', async () => {
    const ring = make(2);
    expect(ring.waitForRoom(2)).toBe('ready');
    ring.push(one, 0, 1);
    expect(ring.wait()).toBe('ready');
    expect(await ring.waitAsync()).toBe('ready');
    expect(ring.wait(0, 2)).toBe('timed-out');
    expect(ring.waitForRoom(2, 0)).toBe('timed-out');
    ring.close();
    expect(ring.wait(0, 2), 'fewer than wanted, and no more will come').toBe('ready');
    expect(ring.waitForRoom(), 'room, but closed').toBe('closed');
    expect(await ring.waitForRoomAsync()).toBe('closed');
    ring.pop(new Int32Array(2), 0, 1);
    expect(ring.wait()).toBe('closed');
    expect(await ring.waitAsync()).toBe('closed');
    expect(ring.drained).toBe(true);
  });

  it('ends after the time that was given', async () => {
    const ring = make(1);
    expect(ring.wait(5)).toBe('timed-out');
    expect(await ring.waitAsync(5)).toBe('timed-out');
    ring.push(one, 0, 1);
    expect(ring.waitForRoom(1, 5)).toBe('timed-out');
    expect(await ring.waitForRoomAsync(1, 5)).toBe('timed-out');
  });

  it('in the async way is ended by a push, a commit, a pop, a release or a close', async () => {
    const ring = make(1);
    const into = new Int32Array(2);
    const steps: [wait: () => Promise<string>, cause: () => unknown, result: string][] = [
      [() => ring.waitAsync(), () => ring.push(one, 0, 1), 'ready'],
      [() => ring.waitForRoomAsync(), () => ring.pop(into, 0, 1), 'ready'],
      [() => ring.waitAsync(), () => ring.commit(ring.room()), 'ready'],
      [() => ring.waitForRoomAsync(), () => ring.release(ring.readable()), 'ready'],
      [() => ring.waitAsync(), () => ring.close(), 'closed'],
    ];
    for (const [wait, cause, result] of steps) {
      const promise = wait();
      expect(await settled(promise)).toBe(false);
      cause();
      expect(await promise).toBe(result);
    }
    const full = make(1);
    full.push(one, 0, 1);
    const promise = full.waitForRoomAsync();
    full.close();
    expect(await promise).toBe('closed');
  });

  it('costs the other side nothing while nobody waits', () => {
    const ring = make();
    const into = new Int32Array(2);
    for (let turn = 0; turn < 1000; turn++) {
      ring.push(one, 0, 1);
      ring.wait();
      ring.pop(into, 0, 1);
      ring.waitForRoom();
    }
    ring.close();
    expect(notify).not.toHaveBeenCalled();
  });

  it('costs one notification, and none before there is as much as wanted', async () => {
    const ring = make(8);
    const promise = ring.waitAsync(undefined, 5);
    for (let record = 1; record <= 8; record++) {
      ring.push(one, 0, 1);
      expect(notify).toHaveBeenCalledTimes(record < 5 ? 0 : 1);
    }
    expect(await promise).toBe('ready');
    notify.mockClear();
    const room = ring.waitForRoomAsync(3);
    const into = new Int32Array(2);
    for (let record = 1; record <= 8; record++) {
      ring.pop(into, 0, 1);
      expect(notify).toHaveBeenCalledTimes(record < 3 ? 0 : 1);
    }
    expect(await room).toBe('ready');
  });

  it('can go on several times at once on one side, whatever each waits for and however each ends', async () => {
    const ring = make(8);
    const early = ring.waitAsync(5, 8);
    const many = ring.waitAsync(undefined, 4);
    const few = ring.waitAsync(undefined, 2);
    expect(await early).toBe('timed-out');
    ring.push(one, 0, 1);
    expect(await settled(few)).toBe(false);
    ring.push(one, 0, 1);
    expect(await few).toBe('ready');
    expect(await settled(many)).toBe(false);
    ring.push(new Int32Array(4), 0, 2);
    expect(await many).toBe('ready');
  });

  it('is not ended by records that were popped before the wait could look', async () => {
    const ring = make();
    const promise = ring.waitAsync();
    await settled(promise);
    ring.push(one, 0, 1);
    ring.pop(new Int32Array(2), 0, 1);
    expect(await settled(promise)).toBe(false);
    ring.push(one, 0, 1);
    expect(await promise).toBe('ready');
  });

  it('is not spoiled by a notification of somebody else', async () => {
    const ring = make();
    const promise = ring.waitAsync();
    const header = new Int32Array(ring.buffer);
    for (let turn = 0; turn < 3; turn++) {
      await settled(promise);
      Atomics.notify(header, RING_HEADER.RECORDS_WANTED);
    }
    expect(await settled(promise)).toBe(false);
    ring.push(one, 0, 1);
    expect(await promise).toBe('ready');
  });
});

describe('a ring in an ArrayBuffer', () => {
  const local = (): SpscRing =>
    new SpscRing({ recordWords: 2, capacity: 4, buffer: new ArrayBuffer(SpscRing.byteLength(2, 4)) });

  it('refuses to block for ever, and says why', () => {
    const ring = local();
    expect(() => ring.wait()).toThrow(/ArrayBuffer/);
    expect(() => ring.wait(1)).toThrow(TypeError);
    expect(ring.wait(0)).toBe('timed-out');
    ring.push(new Int32Array(8), 0, 4);
    expect(ring.wait()).toBe('ready');
    expect(() => ring.waitForRoom()).toThrow(TypeError);
    ring.close();
    expect(ring.waitForRoom()).toBe('closed');
  });

  it('can be waited for in the async way, by looking again', async () => {
    const ring = local();
    expect(await ring.waitAsync(5)).toBe('timed-out');
    const promise = ring.waitAsync();
    expect(await settled(promise)).toBe(false);
    ring.push(one, 0, 1);
    expect(await promise).toBe('ready');
    const closed = ring.waitForRoomAsync(4);
    ring.close();
    expect(await closed).toBe('closed');
  });
});

describe('a program that does nothing but wait in the async way', () => {
  const { CLOSED, RECORDS_WANTED } = RING_HEADER;
  /** A worker that closes a ring as the README describes it, with nothing of this package. */
  const closer = `
    const header = new Int32Array(require('node:worker_threads').workerData);
    setTimeout(() => {
      Atomics.store(header, ${CLOSED}, 1);
      if (Atomics.exchange(header, ${RECORDS_WANTED}, 0) !== 0) Atomics.notify(header, ${RECORDS_WANTED});
    }, 50);`;
  const start = `new Worker(${JSON.stringify(closer)}, { eval: true, workerData: ring.buffer }).unref();`;

  it('goes on running until the wait ends', () => {
    const { status, output } = runScript(`
      import { SpscRing } from '@int/rings';
      import { Worker } from 'node:worker_threads';
      const ring = new SpscRing({ recordWords: 1, capacity: 1 });
      console.log(await ring.waitAsync(50));
      ${start}
      console.log(await ring.waitAsync());
    `);
    expect([status, output]).toEqual([0, 'timed-out\nclosed\n']);
  });

  it('ends as soon as the wait does', () => {
    const { status, output } = runScript(`
      import { SpscRing } from '@int/rings';
      const ring = new SpscRing({ recordWords: 1, capacity: 1 });
      const waits = [ring.waitAsync(), ring.waitAsync(1e6)];
      ring.push(Int32Array.of(1), 0, 1);
      console.log(...(await Promise.all(waits)));
    `);
    expect([status, output]).toEqual([0, 'ready ready\n']);
  });

  it('looks again at intervals where there is no Atomics.waitAsync', () => {
    const { status, output } = runScript(`
      Atomics.waitAsync = undefined;
      import { SpscRing } from '@int/rings';
      import { Worker } from 'node:worker_threads';
      const ring = new SpscRing({ recordWords: 1, capacity: 1 });
      console.log(await ring.waitAsync(5));
      ${start}
      console.log(await ring.waitAsync());
    `);
    expect([status, output]).toEqual([0, 'timed-out\nclosed\n']);
  });

  it('is told so where there is neither Atomics.waitAsync nor a timer', () => {
    const { status, output } = runScript(`
      Atomics.waitAsync = undefined;
      globalThis.setTimeout = undefined;
      import { SpscRing } from '@int/rings';
      const ring = new SpscRing({ recordWords: 1, capacity: 1 });
      await ring.waitAsync().catch((error) => console.log(error.name));
    `);
    expect([status, output]).toEqual([0, 'TypeError\n']);
  });
});
