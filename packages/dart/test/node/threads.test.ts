import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { EpochStore } from '@int/dart/node';
import { afterAll, describe, expect, it } from 'vitest';
import { inTime, until } from '../../../../.ci/test/until.js';
import { bundle } from '../bundle.js';
import { newDirectory, removeDirectories, SEED } from './support.js';
import { keyOf, valueFor, versionOf } from './values.js';

const KEYS = 50;

describe('a thread that queries while another one writes', () => {
  afterAll(removeDirectories);

  it.each(['auto', 'plain'] as const)(
    'sees no mix of two writes, through checkpoints and rotations (%s)',
    async (engine) => {
      // Few slots, so that the thread reads what is just being written.
      const store = await EpochStore.open(newDirectory(), { slots: 128, shared: true, engine, checkpointMs: 3 });
      const count = new Int32Array(new SharedArrayBuffer(4));
      const worker = new Worker(await bundle(new URL('reading-thread.program.ts', import.meta.url)), {
        workerData: { seed: SEED, keys: KEYS, count },
      });
      const counts = new Promise<{ asked: number; answered: number; mixed: number; newest: number }>(
        (resolve, reject) => {
          worker.once('message', resolve);
          worker.once('error', reject);
        },
      );
      await inTime('the reading thread', once(worker, 'online'));
      let version = 0;
      for (let epoch = 0; epoch < 4; epoch++) {
        worker.postMessage(store.live.share());
        const enough = Atomics.load(count, 0) + 1000;
        const least = performance.now() + 250;
        const write = (): boolean => {
          for (let more = 0; more < 2000; more++, version++) {
            store.write(keyOf(version % KEYS), valueFor(version % KEYS, version));
          }
          return performance.now() > least && Atomics.load(count, 0) > enough;
        };
        await until('answers of the thread', write, { everyMs: 0 });
        await store.flushed();
        expect(store.rotate()).not.toBeNull();
      }
      await store.flushed();
      worker.postMessage(null);
      const { asked, answered, mixed, newest } = await inTime('what the thread has counted', counts);
      expect(mixed).toBe(0);
      expect(answered).toBeGreaterThan(1000);
      expect(asked).toBeGreaterThan(answered);
      expect(newest).toBeGreaterThan(1000);
      // What was saved meanwhile is in one piece as well.
      const answers = await store.queryMany(
        Array.from({ length: KEYS }, (_, number) => keyOf(number)),
        { from: 0n },
      );
      for (const [number, all] of answers.entries()) {
        for (const { answer } of all)
          if (answer.value !== null) expect(versionOf(number, answer.value)).toBeGreaterThan(-1);
      }
      await store.close();
    },
  );
});
