/** Waiting for what may never come, as long as no signal comes. */
import { CliError, type Io } from './io.js';
import { interruptedCode } from './stopping.js';

/** Resolves when a signal has come; `release` lets go of it. */
function interruption({ signal }: Io): { readonly came: Promise<void>; release(): void } {
  let release = (): void => {};
  const came = new Promise<void>((resolve) => {
    const done = (): void => resolve();
    if (signal.aborted) done();
    signal.addEventListener('abort', done, { once: true });
    release = () => signal.removeEventListener('abort', done);
  });
  return { came, release: () => release() };
}

/**
 * Waits for something to open.
 * @param what it is, for people
 * @throws CliError (rejects) if a signal comes before; what `opening` comes to is then of no interest
 */
export async function opening<T>(io: Io, what: string, work: Promise<T>): Promise<T> {
  const { came, release } = interruption(io);
  try {
    return await Promise.race([
      work,
      came.then((): never => {
        throw new CliError(`interrupted before ${what} was open`, interruptedCode(io));
      }),
    ]);
  } finally {
    release();
    work.catch(() => {});
  }
}

/** Waits for something, but no longer than a time. @returns whether it has come to its end */
export async function endsWithin(work: Promise<unknown>, limitMs: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), limitMs);
  });
  try {
    return await Promise.race([work.then(() => true), limit]);
  } finally {
    clearTimeout(timer);
    work.catch(() => {});
  }
}
