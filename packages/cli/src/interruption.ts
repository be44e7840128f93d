/** Waiting for work that may never end, until a signal comes. */
import { CliError, type Io } from './io.js';
import type { DataOutput } from './output/data-output.js';
import { interruptedCode } from './stopping.js';

/** Resolves when a signal has come, the output has no reader any more, or what is done is finished. */
export function endOf({ signal }: Io, output: DataOutput, finished?: Promise<unknown>): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
    output.onClosed = resolve;
    void finished?.then(() => resolve());
  });
}

/** Resolves when a signal has come; `release` removes the listener. */
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
 * Waits for a resource to open.
 * @param its name for messages
 * @throws CliError (rejects) if a signal comes first; the result of `work` is then ignored
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
