import type { Readable, Writable } from 'node:stream';
import { printableLines } from './output/printable.js';

/** Exit codes of the `int` command. */
export const EXIT = {
  /** Done. */
  OK: 0,
  /** The input was read, but something in it was wrong; it has been counted and reported. */
  INPUT: 1,
  /** The command line was wrong. */
  USAGE: 2,
  /** A file, port or peer could not be opened or reached. */
  OPEN: 3,
} as const;

/** A stream that may be a terminal. */
export type Terminal = Writable & { readonly isTTY?: boolean; readonly columns?: number; readonly rows?: number };

/** What a command reads from and writes to: the process's own, or a test's. */
export interface Io {
  readonly stdin: Readable;
  readonly stdout: Terminal;
  readonly stderr: Terminal;
  readonly env: Readonly<Record<string, string | undefined>>;
  /**
   * Aborted by SIGINT or SIGTERM, with that as its reason: a command then stops reading, writes out what it holds and prints
   * its totals.
   */
  readonly signal: AbortSignal;
  /** Says how many milliseconds ending may take after a signal, in the place of 10 seconds; then the process is ended. */
  readonly drainWithin?: (milliseconds: number) => void;
  /** Calls `listener` at each SIGHUP, which otherwise ends the process. Returns what stops it. */
  readonly onHangup?: (listener: () => void) => () => void;
}

/** A failure with a message for people and the exit code that goes with it. */
export class CliError extends Error {
  override readonly name = 'CliError';
  readonly exitCode: number;

  constructor(message: string, exitCode: number, cause?: unknown) {
    super(message, { cause });
    this.exitCode = exitCode;
  }
}

/** Problems of one kind that are told; of more, only the number is. */
export const MOST_TOLD = 20;

/** A file whose content cannot be used: one line for each problem, `FILE:LINE:COLUMN: MESSAGE`. */
export class FileProblems extends CliError {
  /** The first ones. */
  readonly lines: readonly string[];
  /** How many more there are. */
  readonly others: number;

  /** @param total problems, if not all have a line */
  constructor(lines: readonly string[], cause?: unknown, exitCode: number = EXIT.INPUT, total: number = lines.length) {
    const told = lines.slice(0, MOST_TOLD);
    super(told.join('\n'), exitCode, cause);
    this.lines = told;
    this.others = total - told.length;
  }

  /** The lines, and one for those that have none. */
  get text(): string[] {
    return this.others === 0 ? [...this.lines] : [...this.lines, `and ${this.others} more problems`];
  }
}

/** Writes why a command failed to standard error. */
export function sayFailure(io: Io, error: CliError): void {
  if (error instanceof FileProblems) for (const line of error.text) io.stderr.write(`${printableLines(line)}\n`);
  else say(io, error.message);
}

/** Writes several messages for people, the first of them. */
export function sayEach(io: Io, messages: readonly string[]): void {
  for (const message of messages.slice(0, MOST_TOLD)) say(io, message);
  if (messages.length > MOST_TOLD) say(io, `and ${messages.length - MOST_TOLD} more of the kind`);
}

/** Writes a message for people, one line, to standard error. What it quotes may come from anybody. */
export function say(io: Io, message: string): void {
  io.stderr.write(`int: ${printableLines(message)}\n`);
}

/** Resolves when a stream takes more; undefined if it does already, or nobody reads it any more. */
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

/** What to tell about a file or socket that could not be opened, without the system's jargon where that is possible. */
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

/** Whether to use colour: only in a terminal, and not if the user has said no (https://no-color.org). */
export function hasColour(io: Io, stream: Terminal = io.stdout): boolean {
  return stream.isTTY === true && (io.env.NO_COLOR ?? '') === '' && io.env.TERM !== 'dumb';
}
