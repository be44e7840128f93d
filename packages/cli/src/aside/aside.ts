/** Long computations on a thread of their own, so that signals are handled and can end them. */
import { existsSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { CliError, type Io } from '../io.js';
import { type OnProgress, TASKS, type TaskInput, type TaskName, type TaskResult } from './tasks.js';

export interface AsideData {
  readonly name: TaskName;
  readonly input: unknown;
}

export type AsideMessage =
  | { readonly progress: number }
  | { readonly result: unknown }
  | { readonly error: { readonly name: string; readonly message: string; readonly exitCode?: number } };

const WORKER = /* @__PURE__ */ new URL('./aside-worker.js', import.meta.url);

function errorOf({ name, message, exitCode }: Extract<AsideMessage, { error: unknown }>['error']): Error {
  if (exitCode !== undefined) return new CliError(message, exitCode);
  return name === 'RangeError' ? new RangeError(message) : new Error(message);
}

/**
 * Runs a task on another thread.
 *
 * @returns null if it was interrupted
 * @throws the task's error: a CliError, a RangeError, or an Error with its message
 */
export async function aside<N extends TaskName>(
  name: N,
  input: TaskInput<N>,
  { signal }: Io,
  onProgress: OnProgress = () => {},
): Promise<TaskResult<N> | null> {
  // Run from sources, there is no built thread.
  if (!existsSync(WORKER)) {
    const task = TASKS[name] as (input: TaskInput<N>, onProgress: OnProgress) => Promise<TaskResult<N>>;
    return signal.aborted ? null : task(input, onProgress);
  }
  if (signal.aborted) return null;
  const worker = new Worker(WORKER, { workerData: { name, input } satisfies AsideData });
  let stop = (): void => {};
  try {
    return await new Promise((resolve, reject) => {
      stop = () => resolve(null);
      signal.addEventListener('abort', stop, { once: true });
      worker.once('error', reject);
      worker.once('exit', (code) => reject(new Error(`the computation ended with code ${code}`)));
      worker.on('message', (message: AsideMessage) => {
        if ('progress' in message) onProgress(message.progress);
        else if ('result' in message) resolve(message.result as TaskResult<N>);
        else reject(errorOf(message.error));
      });
    });
  } finally {
    signal.removeEventListener('abort', stop);
    await worker.terminate();
  }
}
