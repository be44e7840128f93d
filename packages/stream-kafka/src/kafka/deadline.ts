import { setTimeout as sleep } from 'node:timers/promises';
import { PROCESS_CODES, ProcessError } from '../errors.js';

/**
 * Waits for a promise, for a limited time.
 *
 * @throws ProcessError `ERR_PROCESS_REQUEST` if it has not settled after `ms` milliseconds; its later result is ignored
 */
export async function within<T>(ms: number, what: string, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new ProcessError(PROCESS_CODES.REQUEST, `${what} took more than ${ms} ms`));
    }, ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Sleeps until the time is over or `signal` is aborted. Never throws. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => {});
}
