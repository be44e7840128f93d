/** What the sinks of int.yaml have in common. */
import { CliError, EXIT } from '../io.js';
import { counted } from '../output/numbers.js';
import type { RetryConfig } from './config.js';
import type { ValuePath } from './document.js';
import { millisecondsOf } from './quantities.js';
import type { ReadConfig } from './read-config.js';

/** Says something to people, one line. */
export type Tell = (message: string) => void;

/** Calls of a sink whose other side is away, and back. */
export interface Reporting {
  readonly onProblem: (problem: Error) => void;
  readonly onRecovered: (outage: { readonly lastedMs: number; readonly attempts: number }) => void;
}

/** Lines for what a sink has to tell. */
export function reporting(name: string, tell: Tell): Reporting {
  return {
    onProblem: ({ message }) => tell(`${name}: ${message}`),
    onRecovered: ({ lastedMs, attempts }) =>
      tell(`${name}: is back after ${(lastedMs / 1000).toFixed(1)} s, ${counted(attempts, 'attempt')}`),
  };
}

/** Waiting times as sinks take them. */
export function retryOf({ first, longest }: RetryConfig): { readonly firstMs?: number; readonly maxMs?: number } {
  return {
    ...(first !== undefined && { firstMs: millisecondsOf(first) }),
    ...(longest !== undefined && { maxMs: millisecondsOf(longest) }),
  };
}

/**
 * Makes something of options.
 * @throws FileProblems if it does not like them
 */
export function made<T>(read: ReadConfig, path: ValuePath, make: () => T): T {
  try {
    return make();
  } catch (error) {
    if (error instanceof RangeError || error instanceof TypeError) throw read.problem(path, error.message, error);
    throw error;
  }
}

/**
 * Makes something that may need files or a network.
 * @throws FileProblems (rejects) if it does not like its options; CliError if it cannot be opened
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
