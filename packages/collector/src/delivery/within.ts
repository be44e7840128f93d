import { MAX_MS } from './option-checks.js';

/**
 * Waits for work, at most `ms` milliseconds; with Infinity as long as it takes.
 * @returns whether it has ended; its later error is ignored
 */
export async function within(ms: number, work: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    if (Number.isFinite(ms)) timer = setTimeout(() => resolve(false), Math.min(ms, MAX_MS));
  });
  try {
    return await Promise.race([work.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}
