import { parentPort, workerData } from 'node:worker_threads';
import { CliError } from '../io.js';
import type { AsideData, AsideMessage } from './aside.js';
import { type OnProgress, TASKS } from './tasks.js';

const port = parentPort!;
const tell = (message: AsideMessage): void => port.postMessage(message);

try {
  const { name, input } = workerData as AsideData;
  const task = TASKS[name] as (input: unknown, onProgress: OnProgress) => Promise<unknown>;
  tell({ result: await task(input, (progress) => tell({ progress })) });
} catch (error) {
  const { name, message } = error instanceof Error ? error : new Error(String(error));
  tell({ error: { name, message, ...(error instanceof CliError && { exitCode: error.exitCode }) } });
}
