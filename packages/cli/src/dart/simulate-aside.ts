/** A long simulation on a thread of its own: signals are seen meanwhile, and end it. */
import { Worker } from 'node:worker_threads';
import type { SimulateOptions, SimulationResult } from '@int/dart';

/** What the thread tells. */
export type SimulationMessage =
  | { readonly progress: number }
  | { readonly result: SimulationResult }
  | { readonly error: string; readonly isRange: boolean };

/**
 * @returns null if it was interrupted
 * @throws RangeError as `simulate` does
 */
export async function simulateAside(
  options: SimulateOptions,
  onProgress: (share: number) => void,
  signal: AbortSignal,
): Promise<SimulationResult | null> {
  const worker = new Worker(new URL('./simulate-worker.js', import.meta.url), { workerData: options });
  try {
    return await new Promise((resolve, reject) => {
      signal.addEventListener('abort', () => resolve(null), { once: true });
      if (signal.aborted) resolve(null);
      worker.once('error', reject);
      worker.on('message', (message: SimulationMessage) => {
        if ('progress' in message) onProgress(message.progress);
        else if ('result' in message) resolve(message.result);
        else reject(message.isRange ? new RangeError(message.error) : new Error(message.error));
      });
    });
  } finally {
    await worker.terminate();
  }
}
