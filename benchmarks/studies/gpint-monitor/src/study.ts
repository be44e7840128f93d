// Reproduces the figures of the reliable GPINT paper in a simulated network; see the README.
import { isMainThread, parentPort } from 'node:worker_threads';
import { answerTasks } from './study/thread.js';

if (isMainThread) {
  // Charts take their time to load, and threads draw none.
  const { main } = await import('./study/command.js');
  process.exitCode = await main(process.argv.slice(2), new URL(import.meta.url));
} else {
  answerTasks(parentPort!);
}
