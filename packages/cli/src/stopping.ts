/**
 * Ending the process by signals. The first signal asks the command to end within a time. After this time, or at a
 * second signal, the process ends at once.
 */
import { constants } from 'node:os';
import type { Io } from './io.js';

/** Default time for a command to end after a signal, in milliseconds. */
export const DRAIN_MS = 10_000;

/** The longest time that timers accept; a longer one would expire at once. */
const MAX_MS = 2 ** 31 - 1;
/** Time for open resources after a command has ended by a signal, such as connections without an answer. */
const LINGER_MS = 100;
/** Work of the system's threads for which an orderly exit would wait: an unresolved name, a disk that hangs. */
const THREAD_WORK: ReadonlySet<string> = new Set(['FSReqCallback', 'FSReqPromise', 'GetAddrInfoReqWrap']);

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;
type Signal = (typeof SIGNALS)[number];

/** The exit code that shells report for a process ended by a signal. */
function codeOf(signal: Signal): number {
  return 128 + constants.signals[signal];
}

/** The exit code of a command that a signal ended before it had any result. */
export function interruptedCode({ signal }: Pick<Io, 'signal'>): number {
  return codeOf(signal.reason === 'SIGTERM' ? 'SIGTERM' : 'SIGINT');
}

/** Handles the signals of the process. */
export class Stopping {
  readonly #asked = new AbortController();
  readonly #say: (message: string) => void;
  #limitMs = DRAIN_MS;
  #timer: NodeJS.Timeout | undefined;
  #askedAt = 0;

  /** @param say prints a message about the end of the command */
  constructor(say: (message: string) => void) {
    this.#say = say;
    for (const signal of SIGNALS) process.on(signal, this.#onSignal);
  }

  /** Aborted by the first signal; its reason is the signal's name. */
  get signal(): AbortSignal {
    return this.#asked.signal;
  }

  /** Sets the time for a command to end; it counts from the first signal. */
  readonly within = (milliseconds: number): void => {
    this.#limitMs = milliseconds;
    if (this.#timer !== undefined) this.#start();
  };

  /**
   * Call it when the command has ended. After a signal, open resources do not keep the process running.
   * @param exitCode exit code of the process; without it, work under way has the rest of the time
   */
  done(exitCode?: number): void {
    if (!this.#asked.signal.aborted) {
      for (const signal of SIGNALS) process.off(signal, this.#onSignal);
      return;
    }
    if (exitCode === undefined) return;
    setTimeout(() => {
      if (process.getActiveResourcesInfo().some((name) => THREAD_WORK.has(name)))
        this.#end(this.#asked.signal.reason as Signal);
      else {
        // It waits for threads of engines, too, of which Node does not tell: a second signal has to reach the process meanwhile.
        for (const each of SIGNALS) process.removeAllListeners(each);
        process.exit(exitCode);
      }
    }, LINGER_MS).unref();
  }

  readonly #onSignal = (signal: Signal): void => {
    if (this.#asked.signal.aborted) {
      this.#end(signal);
      return;
    }
    this.#askedAt = performance.now();
    this.#asked.abort(signal);
    this.#start();
  };

  #start(): void {
    clearTimeout(this.#timer);
    const left = Math.min(MAX_MS, Math.max(0, this.#limitMs - (performance.now() - this.#askedAt)));
    // A command that has ended waits no longer.
    this.#timer = setTimeout(() => {
      this.#say(`not ended ${this.#limitMs / 1000} s after the signal: given up`);
      this.#end(this.#asked.signal.reason as Signal);
    }, left).unref();
  }

  /** Ends the process like a signal without a listener: `process.exit` waits for threads, which may wait for a disk. */
  #end(signal: Signal): void {
    // Listeners of 'exit' restore the terminal.
    process.emit('exit', codeOf(signal));
    for (const each of SIGNALS) process.removeAllListeners(each);
    process.kill(process.pid, signal);
    // The first process of a container ignores its own signals.
    process.exit(codeOf(signal));
  }
}
