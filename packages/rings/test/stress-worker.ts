import { parentPort, workerData } from 'node:worker_threads';
import { SpscRing } from '@int/rings';
import { consume, type Plan, produce } from './stress.js';

/** Runs one side of a ring in this thread, or counts losses, and posts what it saw. */
export type Task =
  | {
      readonly side: 'produce' | 'consume';
      readonly buffer: ArrayBufferLike;
      readonly byteOffset: number;
      readonly plan: Plan;
    }
  | { readonly side: 'lose'; readonly buffer: ArrayBufferLike; readonly amount: number; readonly times: number };

const task = workerData as Task;
if (task.side === 'lose') {
  const ring = SpscRing.attach(task.buffer);
  for (let time = 0; time < task.times; time++) ring.lose(0, task.amount);
  ring.close();
  parentPort?.postMessage('done');
} else {
  const run = task.side === 'produce' ? produce : consume;
  parentPort?.postMessage(await run(SpscRing.attach(task.buffer, task.byteOffset), task.plan));
}
