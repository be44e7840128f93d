/**
 * Commands on P4 programs run on a thread of their own, with a limit to its memory: programs may come from anybody, and
 * whatever one makes the thread do, the process sees signals and ends.
 */
import { Worker } from 'node:worker_threads';
import { EXIT, type Terminal } from '../io.js';
import { type FromThread, failureOf, type Shape, type ThreadStart, type ToThread } from './thread-messages.js';

/** Megabytes of objects that a thread may keep, unless `--limit memory=N` says otherwise. */
const DEFAULT_MEMORY_MB = 448;
/** After a signal, until a thread that does not stop by itself is ended, and until a process that cannot end it is. */
const STOP_MS = 500;
const KILL_MS = 300;

type Signal = 'SIGINT' | 'SIGTERM';

/** Exit codes of processes that a signal ends: 128 and its number. */
const KILLED: Readonly<Record<Signal, number>> = { SIGINT: 130, SIGTERM: 143 };

/** Whether a command runs what a stranger may have written. */
export function needsOwnThread(argv: readonly string[]): boolean {
  return argv[2] === 'p4';
}

/** `--limit memory=N`, which counts before the command line is read as a whole. */
function memoryOf(argv: readonly string[]): number {
  const given = argv.flatMap((word, at) => {
    const limit = argv[at - 1] === '--limit' ? `--limit=${word}` : word;
    return /^--limit=memory=([1-9]\d{0,6})$/.exec(limit)?.[1] ?? [];
  });
  return Number(given.at(-1) ?? DEFAULT_MEMORY_MB);
}

function shapeOf({ isTTY = false, columns, rows }: Terminal): Shape {
  return { isTTY, columns, rows };
}

/** Runs the command of a process on a thread. Returns the exit code, or ends the process if a signal finds it stuck. */
export async function runAside(argv: readonly string[]): Promise<number> {
  const memoryMb = memoryOf(argv);
  const { stdin, stdout, stderr } = process;
  const start: ThreadStart = { argv, stdout: shapeOf(stdout), stderr: shapeOf(stderr) };
  const worker = new Worker(new URL('./p4-worker.js', import.meta.url), {
    workerData: start,
    resourceLimits: { maxOldGenerationSizeMb: memoryMb },
  });
  const post = (message: ToThread): void => worker.postMessage(message);
  // What cannot be written is told to the thread.
  for (const stream of [stdout, stderr]) stream.on('error', () => {});
  const input = new InputPump(post);
  const stopper = new Stopper(worker, post);
  try {
    return await new Promise<number>((resolve, reject) => {
      worker.on('message', (message: FromThread) => {
        if (message.kind === 'write') {
          const { to, bytes } = message;
          const written = (error?: Error | null): void =>
            post({ kind: 'written', to, failure: error ? failureOf(error) : undefined });
          (to === 'stdout' ? stdout : stderr).write(bytes, written);
        } else if (message.kind === 'read') input.resume();
        else resolve(message.exitCode);
      });
      worker.on('error', (error: NodeJS.ErrnoException) => {
        if (error.code !== 'ERR_WORKER_OUT_OF_MEMORY') {
          reject(error);
          return;
        }
        stderr.write(`int: the program needs more than ${memoryMb} MB of memory (--limit memory=${memoryMb})\n`);
        resolve(EXIT.INPUT);
      });
      // After the command is done, or an error was told, it changes nothing.
      worker.on('exit', () => reject(new Error('the thread of the command ended before the command was done')));
    });
  } finally {
    stopper.stopListening();
    input.end();
    stdin.pause();
    await worker.terminate();
  }
}

/** Hands standard input over, a piece at a time, when it is asked for. */
class InputPump {
  #isOpen = false;

  constructor(readonly post: (message: ToThread) => void) {}

  resume(): void {
    const { stdin } = process;
    if (!this.#isOpen) {
      this.#isOpen = true;
      stdin.on('data', this.#onData);
      stdin.on('end', this.#onEnd);
      stdin.on('error', this.#onError);
    }
    stdin.resume();
  }

  end(): void {
    if (!this.#isOpen) return;
    const { stdin } = process;
    stdin.off('data', this.#onData);
    stdin.off('end', this.#onEnd);
  }

  readonly #onData = (bytes: Uint8Array): void => {
    process.stdin.pause();
    this.post({ kind: 'input', bytes, failure: undefined });
  };
  readonly #onEnd = (): void => this.post({ kind: 'input', bytes: undefined, failure: undefined });
  readonly #onError = (error: Error): void => this.post({ kind: 'input', bytes: undefined, failure: failureOf(error) });
}

/** Ends the command when a signal comes: first it is asked, then it is made to. */
class Stopper {
  #timer: NodeJS.Timeout | undefined;

  constructor(
    readonly worker: Worker,
    readonly post: (message: ToThread) => void,
  ) {
    process.on('SIGINT', this.#onSignal);
    process.on('SIGTERM', this.#onSignal);
  }

  stopListening(): void {
    clearTimeout(this.#timer);
    process.off('SIGINT', this.#onSignal);
    process.off('SIGTERM', this.#onSignal);
  }

  readonly #onSignal = (signal: Signal): void => {
    if (this.#timer !== undefined) {
      this.#end(signal);
      return;
    }
    this.post({ kind: 'stop' });
    this.#timer = setTimeout(() => {
      process.stderr.write('int: interrupted while it was still at work\n');
      this.#end(signal);
    }, STOP_MS);
  };

  #end(signal: Signal): void {
    // A thread that waits for the system, such as for a pipe that nobody writes to, cannot be ended on its own.
    setTimeout(() => process.kill(process.pid, 'SIGKILL'), KILL_MS);
    void this.worker.terminate().then(() => process.exit(KILLED[signal]));
  }
}
