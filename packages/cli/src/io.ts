import type { Readable, Writable } from 'node:stream';
import { printableLines } from './output/printable.js';

/** Exit codes of the `int` command. */
export const EXIT = {
  /** Done. */
  OK: 0,
  /** The input was read, but had errors, which have been counted and reported. */
  INPUT: 1,
  /** The command line had an error. */
  USAGE: 2,
  /** A file, port or peer could not be opened or reached. */
  OPEN: 3,
} as const;

/** A stream that may be a terminal. */
export type Terminal = Writable & { readonly isTTY?: boolean; readonly columns?: number; readonly rows?: number };

/** Streams, environment and signals of a command: those of the process, or of a test. */
export interface Io {
  readonly stdin: Readable;
  readonly stdout: Terminal;
  readonly stderr: Terminal;
  readonly env: Readonly<Record<string, string | undefined>>;
  /**
   * Aborted by SIGINT or SIGTERM, whose name is its reason. The command then stops reading, writes pending output and
   * prints its totals.
   */
  readonly signal: AbortSignal;
  /**
   * Sets the longest time for ending after a signal, in milliseconds; default 10 seconds. Then the process is ended.
   */
  readonly drainWithin?: (milliseconds: number) => void;
  /** Ends the command as SIGINT does; for a key that means it. */
  readonly quit?: () => void;
  /** Raises a signal for the processes that a terminal sends it to; without it the view of a command reads no keys. */
  readonly raise?: (signal: 'SIGINT' | 'SIGTSTP' | 'SIGQUIT') => void;
  /** Calls `listener` at each SIGHUP, which otherwise ends the process. Returns a function that stops this. */
  readonly onHangup?: (listener: () => void) => () => void;
}

/** A failure with a message for the user and its exit code. */
export class CliError extends Error {
  override readonly name = 'CliError';
  readonly exitCode: number;

  constructor(message: string, exitCode: number, cause?: unknown) {
    super(message, { cause });
    this.exitCode = exitCode;
  }
}

/** Most problems of one kind to print; further ones are only counted. */
export const MOST_TOLD = 20;

/** Thrown for a file with invalid content: one line per problem, `FILE:LINE:COLUMN: MESSAGE`. */
export class FileProblems extends CliError {
  readonly lines: readonly string[];
  /** Number of further problems. */
  readonly others: number;

  /** @param total number of problems, if not all have a line */
  constructor(lines: readonly string[], cause?: unknown, exitCode: number = EXIT.INPUT, total: number = lines.length) {
    const told = lines.slice(0, MOST_TOLD);
    super(told.join('\n'), exitCode, cause);
    this.lines = told;
    this.others = total - told.length;
  }

  /** The lines, and one line for the further problems. */
  get text(): string[] {
    return this.others === 0 ? [...this.lines] : [...this.lines, `and ${this.others} more problems`];
  }
}

export function sayFailure(io: Io, error: CliError): void {
  if (error instanceof FileProblems) for (const line of error.text) io.stderr.write(`${printableLines(line)}\n`);
  else say(io, error.message);
}

/** Writes the first of several messages for the user. */
export function sayEach(io: Io, messages: readonly string[]): void {
  for (const message of messages.slice(0, MOST_TOLD)) say(io, message);
  if (messages.length > MOST_TOLD) say(io, `and ${messages.length - MOST_TOLD} more of the kind`);
}

/** Writes a message for the user, one line, to standard error. It may quote untrusted text. */
export function say(io: Io, message: string): void {
  io.stderr.write(`int: ${printableLines(message)}\n`);
}

/** Says which settings would read frames that were not read, if some would. */
export function sayHint(io: Io, hint: { conclude(): string | null }): void {
  const text = hint.conclude();
  if (text !== null) say(io, text);
}

/** Resolves when a stream takes more; undefined if it does already, or has no reader any more. */
export function drained(stream: Terminal): Promise<void> | undefined {
  if (!stream.writableNeedDrain) return undefined;
  return new Promise((resolve) => {
    const settle = (): void => {
      for (const event of ['drain', 'close', 'error']) stream.off(event, settle);
      resolve();
    };
    for (const event of ['drain', 'close', 'error']) stream.once(event, settle);
  });
}

/** A message for a file or socket that could not be opened, without the system's jargon where possible. */
export function openFailure(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  switch (code) {
    case 'ENOENT':
      return 'no such file or folder';
    case 'EACCES':
    case 'EPERM':
      return 'permission denied';
    case 'ENXIO':
      return 'it is a socket, or there is no such device';
    case 'EISDIR':
      return 'it is a folder';
    case 'ENOSPC':
      return 'no space left';
    default:
      return message;
  }
}

/** Whether to use colour: only in a terminal, and not with NO_COLOR (https://no-color.org). */
export function hasColour(io: Io, stream: Terminal = io.stdout): boolean {
  return stream.isTTY === true && (io.env.NO_COLOR ?? '') === '' && io.env.TERM !== 'dumb';
}
