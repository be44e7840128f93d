/** Between the process, which has the streams and gets the signals, and the thread that runs a command on P4 programs. */

export type OutputName = 'stdout' | 'stderr';

/** What a terminal is told about itself. */
export interface Shape {
  readonly isTTY: boolean;
  readonly columns: number | undefined;
  readonly rows: number | undefined;
}

/** What the thread is started with. */
export interface ThreadStart {
  readonly argv: readonly string[];
  readonly stdout: Shape;
  readonly stderr: Shape;
}

/** From the thread. Bytes are to be written in the order in which they come. */
export type FromThread =
  | { readonly kind: 'write'; readonly to: OutputName; readonly bytes: Uint8Array }
  /** The next piece of standard input is wanted. */
  | { readonly kind: 'read' }
  | { readonly kind: 'done'; readonly exitCode: number };

/** To the thread. */
export type ToThread =
  /** A write is done, or has failed. */
  | { readonly kind: 'written'; readonly to: OutputName; readonly failure: Failure | undefined }
  /** A piece of standard input; undefined at its end. */
  | { readonly kind: 'input'; readonly bytes: Uint8Array | undefined; readonly failure: Failure | undefined }
  /** A signal came, of that name: what is held is to be written out, and no more. */
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
