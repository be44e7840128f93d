import { parentPort, workerData } from 'node:worker_threads';
import { SpscRing } from '@int/rings';
import { accept, challenge, type Duel } from './duel.js';
import { consume, type Plan, produce } from './stress.js';

/** What a worker does with a ring. It posts what it saw. */
export type Task =
  | { readonly side: 'produce' | 'consume'; readonly byteOffset: number; readonly plan: Plan }
  | { readonly side: 'challenge' | 'accept'; readonly duel: Duel }
  | { readonly side: 'lose'; readonly amount: number; readonly times: number };

async function run(buffer: ArrayBufferLike, task: Task): Promise<unknown> {
  switch (task.side) {
    case 'produce':
      return produce(SpscRing.attach(buffer, task.byteOffset), task.plan);
    case 'consume':
      return consume(SpscRing.attach(buffer, task.byteOffset), task.plan);
    case 'challenge':
      return challenge(buffer, task.duel);
    case 'accept':
      return accept(buffer, task.duel);
    case 'lose': {
      const ring = SpscRing.attach(buffer);
      for (let time = 0; time < task.times; time++) ring.lose(0, task.amount);
      ring.close();
      return task.times;
    }
  }
}

const { buffer, task } = workerData as { buffer: ArrayBufferLike; task: Task };
parentPort?.postMessage(await run(buffer, task));
