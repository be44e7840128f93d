/** What a thread of the study does: it answers tasks until it is ended. */
import type { MessagePort } from 'node:worker_threads';
import type { WorkerMessage, WorkerTask } from './pool.js';
import { runRepetition } from './repetition.js';

export function answerTasks(port: MessagePort): void {
  port.on('message', ({ index, task }: WorkerTask) => {
    const say = (message: WorkerMessage): void => port.postMessage(message);
    try {
      say({ index, result: runRepetition(task) });
    } catch (error) {
      say({ index, error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
    }
  });
}
