import { parentPort, workerData } from 'node:worker_threads';
import { type SimulateOptions, simulate } from '@int/dart';
import type { SimulationMessage } from './simulate-aside.js';

const port = parentPort!;
const tell = (message: SimulationMessage): void => port.postMessage(message);

try {
  const options = workerData as SimulateOptions;
  tell({ result: simulate({ ...options, onProgress: (progress) => tell({ progress }) }) });
} catch (error) {
  tell({ error: error instanceof Error ? error.message : String(error), isRange: error instanceof RangeError });
}
