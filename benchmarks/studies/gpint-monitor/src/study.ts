// Reproduces the figures of the reliable GPINT paper in a simulated network; see the README.
import { isMainThread, parentPort } from 'node:worker_threads';
import { answerTasks } from './study/thread.js';

if (isMainThread) {
  const [{ runStudy }, { gpintMonitor }] = await Promise.all([import('@int/harness'), import('./study/definition.js')]);
  process.exitCode = await runStudy(gpintMonitor(new URL(import.meta.url)), process.argv.slice(2));
} else {
  answerTasks(parentPort!);
}
