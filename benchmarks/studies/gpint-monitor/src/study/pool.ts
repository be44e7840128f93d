/** Repetitions on threads: each thread takes the next one when it has done its last. */
import { Worker } from 'node:worker_threads';
import type { RepetitionResult } from './measures.js';
import { type RepetitionTask, runRepetition } from './repetition.js';

/** To a thread: a repetition to run. */
export interface WorkerTask {
  readonly index: number;
  readonly task: RepetitionTask;
}

/** From a thread. */
export type WorkerMessage =
  | { readonly index: number; readonly result: RepetitionResult }
  | { readonly index: number; readonly error: string };

/**
 * Runs tasks; results are in the order of the tasks, whatever the number of threads.
 *
 * @param workers number of threads; 0 computes in this one
 * @param script what a thread runs: it answers a `WorkerTask` with a `WorkerMessage`
 * @param onDone called after each one
 * @throws Error if a task fails
 */
export async function runAll(
  tasks: readonly RepetitionTask[],
  workers: number,
  script: URL,
  onDone: () => void,
): Promise<RepetitionResult[]> {
  if (workers === 0) {
    return tasks.map((task) => {
      const result = runRepetition(task);
      onDone();
      return result;
    });
  }
  const results = new Array<RepetitionResult>(tasks.length);
  let next = 0;
  const serve = async (worker: Worker): Promise<void> => {
    try {
      await new Promise<void>((resolve, reject) => {
        const give = (): void => {
          const index = next++;
          if (index < tasks.length) worker.postMessage({ index, task: tasks[index]! } satisfies WorkerTask);
          else resolve();
        };
        worker.on('error', reject);
        worker.on('exit', (code) => reject(new Error(`a thread ended early (${code})`)));
        worker.on('message', (message: WorkerMessage) => {
          if ('error' in message) {
            reject(new Error(message.error));
            return;
          }
          results[message.index] = message.result;
          onDone();
          give();
        });
        give();
      });
    } finally {
      await worker.terminate();
    }
  };
  const threads = Array.from({ length: Math.min(workers, tasks.length) }, () => serve(new Worker(script)));
  await Promise.all(threads);
  return results;
}
