/**
 * How signals end the process. The first one asks the command to end, and gives it time; when that is over, and at the
 * second one, the process ends, whatever it is doing.
 */
import { constants } from 'node:os';
import type { Io } from './io.js';

/** How long a command may take to end after a signal, unless it says otherwise, in milliseconds. */
export const DRAIN_MS = 10_000;

/** The longest time that a timer knows: a longer one would be over at once. */
const MAX_MS = 2 ** 31 - 1;
/** Time for what is still open when a command has ended after a signal, such as connections that nobody answers on. */
const LINGER_MS = 100;
/** Work of the system's threads, which an end in order would wait for: a name that nobody resolves, a disk that hangs. */
const THREAD_WORK: ReadonlySet<string> = new Set(['FSReqCallback', 'FSReqPromise', 'GetAddrInfoReqWrap']);

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;
type Signal = (typeof SIGNALS)[number];

/** What shells call the exit of a process that a signal has ended. */
function codeOf(signal: Signal): number {
  return 128 + constants.signals[signal];
}

/** The exit code of a command that a signal has ended before it had anything to show. */
export function interruptedCode({ signal }: Io): number {
  return codeOf(signal.reason === 'SIGTERM' ? 'SIGTERM' : 'SIGINT');
}

/** Sees the signals of the process. */
export class Stopping {
  readonly #asked = new AbortController();
  readonly #say: (message: string) => void;
  #limitMs = DRAIN_MS;
  #timer: NodeJS.Timeout | undefined;
  #askedAt = 0;

  /** @param say tells people what became of the command */
  constructor(say: (message: string) => void) {
    this.#say = say;
    for (const signal of SIGNALS) process.on(signal, this.#onSignal);
  }

  /** Aborted by the first signal; its reason is the signal's name. */
  get signal(): AbortSignal {
    return this.#asked.signal;
  }

  /** Gives a command another time to end in; it counts from the first signal. */
  readonly within = (milliseconds: number): void => {
    this.#limitMs = milliseconds;
    if (this.#timer !== undefined) this.#start();
  };

  /**
   * The command has ended. After a signal, nothing that is still open keeps the process.
   * @param exitCode of the process then; without it, what is still under way has the rest of the time
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
      else process.exit(exitCode);
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
    // A command that has ended is not kept waiting.
    this.#timer = setTimeout(() => {
      this.#say(`not ended ${this.#limitMs / 1000} s after the signal: given up`);
      this.#end(this.#asked.signal.reason as Signal);
    }, left).unref();
  }

  /** Ends the process as the signal does if nobody listens: `process.exit` waits for threads, which may wait for a disk. */
  #end(signal: Signal): void {
    // What listens to the end is to put the terminal back.
    process.emit('exit', codeOf(signal));
    for (const each of SIGNALS) process.removeAllListeners(each);
    process.kill(process.pid, signal);
    // The first process of a container is not ended by its own signals.
    process.exit(codeOf(signal));
  }
}
