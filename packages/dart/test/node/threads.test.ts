import { Worker } from 'node:worker_threads';
import { afterAll, describe, expect, it } from 'vitest';
import { EpochStore } from '../../src/node/index.js';
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
      const worker = new Worker(await bundle(new URL('reading-thread.program.ts', import.meta.url)), {
        workerData: { seed: SEED, keys: KEYS },
      });
      const counts = new Promise<{ asked: number; answered: number; mixed: number; newest: number }>(
        (resolve, reject) => {
          worker.once('message', resolve);
          worker.once('error', reject);
        },
      );
      await new Promise((resolve) => worker.once('online', resolve));
      let version = 0;
      for (let epoch = 0; epoch < 4; epoch++) {
        worker.postMessage(store.live.share());
        const until = performance.now() + 250;
        while (performance.now() < until) {
          for (let write = 0; write < 500; write++, version++) {
            store.write(keyOf(version % KEYS), valueFor(version % KEYS, version));
          }
          await new Promise((resolve) => setImmediate(resolve));
        }
        await store.flushed();
        expect(store.rotate()).not.toBeNull();
      }
      await store.flushed();
      worker.postMessage(null);
      const { asked, answered, mixed, newest } = await counts;
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
