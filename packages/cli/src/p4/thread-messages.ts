/**
 * Messages between the process, which has the streams and receives signals, and the thread that runs a command on P4
 * programs.
 */

export type OutputName = 'stdout' | 'stderr';

export interface Shape {
  readonly isTTY: boolean;
  readonly columns: number | undefined;
  readonly rows: number | undefined;
}

export interface ThreadStart {
  readonly argv: readonly string[];
  readonly stdout: Shape;
  readonly stderr: Shape;
}

/** Messages from the thread. Bytes must be written in the order of arrival. */
export type FromThread =
  | { readonly kind: 'write'; readonly to: OutputName; readonly bytes: Uint8Array }
  /** Requests the next piece of standard input. */
  | { readonly kind: 'read' }
  | { readonly kind: 'done'; readonly exitCode: number };

/** Messages to the thread. */
export type ToThread =
  /** A write is done, or has failed. */
  | { readonly kind: 'written'; readonly to: OutputName; readonly failure: Failure | undefined }
  /** A piece of standard input; undefined at its end. */
  | { readonly kind: 'input'; readonly bytes: Uint8Array | undefined; readonly failure: Failure | undefined }
  /** A signal of that name came: the thread must write pending output and stop. */
  | { readonly kind: 'stop'; readonly signal: string };

/** An error as it passes between threads. */
export interface Failure {
  readonly message: string;
  readonly code: string | undefined;
}

export function failureOf(error: Error): Failure {
  return { message: error.message, code: (error as NodeJS.ErrnoException).code };
}

export function errorOf({ message, code }: Failure): Error {
  return Object.assign(new Error(message), { code });
}
