/** The common parts of the sinks of int.yaml. */
import type { OutageListener } from '@int/collector';
import { given, ifGiven } from '../given.js';
import { CliError, EXIT } from '../io.js';
import { counted } from '../output/numbers.js';
import type { RetryConfig } from './config.js';
import type { ValuePath } from './document.js';
import { millisecondsOf } from './quantities.js';
import type { ReadConfig } from './read-config.js';

/** Prints a message for the user, one line. */
export type Tell = (message: string) => void;

/** Makes the callbacks of a sink that print the begin and the end of an outage. */
export function reporting(name: string, tell: Tell): OutageListener<Error> {
  return {
    onProblem: ({ message }) => tell(`${name}: ${message}`),
    onRecovered: ({ lastedMs, attempts }) =>
      tell(`${name}: is back after ${(lastedMs / 1000).toFixed(1)} s, ${counted(attempts, 'attempt')}`),
  };
}

/** Delays in the form of the sinks' options. */
export function retryOf({ first, longest }: RetryConfig): { readonly firstMs?: number; readonly maxMs?: number } {
  return given({ firstMs: ifGiven(first, millisecondsOf), maxMs: ifGiven(longest, millisecondsOf) });
}

/** Makes a part from options. @throws FileProblems if an option is refused */
export function made<T>(read: ReadConfig, path: ValuePath, make: () => T): T {
  try {
    return make();
  } catch (error) {
    if (error instanceof RangeError || error instanceof TypeError) throw read.problem(path, error.message, error);
    throw error;
  }
}

/**
 * Makes a part that may need files or a network.
 * @throws FileProblems (rejects) if an option is refused; CliError if it cannot be opened
 */
export async function opened<T>(read: ReadConfig, path: ValuePath, open: () => T | Promise<T>): Promise<T> {
  try {
    return await open();
  } catch (error) {
    if (error instanceof RangeError || error instanceof TypeError) throw read.problem(path, error.message, error);
    if (error instanceof Error && 'code' in error) {
      throw new CliError(`${path.slice(-1).join('')}: ${error.message}`, EXIT.OPEN, error);
    }
    throw error;
  }
}
