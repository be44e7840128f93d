/** Long computations on a thread of their own: signals are seen meanwhile, and end them. */
import { existsSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { CliError, type Io } from '../io.js';
import { type OnProgress, TASKS, type TaskInput, type TaskName, type TaskResult } from './tasks.js';

/** What the thread is given. */
export interface AsideData {
  readonly name: TaskName;
  readonly input: unknown;
}

/** What the thread tells. */
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
 * Computes something.
 *
 * @returns null if it was interrupted
 * @throws what the task throws: a CliError, a RangeError, or an Error with the message
 */
export async function aside<N extends TaskName>(
  name: N,
  input: TaskInput<N>,
  { signal }: Io,
  onProgress: OnProgress = () => {},
): Promise<TaskResult<N> | null> {
  // Sources that are run as they are have no built thread beside them.
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
