/**
 * Commands on P4 programs run on a thread of their own with limited memory. Programs are untrusted; whatever one does
 * in the thread, the process handles signals and can end.
 */
import { Worker } from 'node:worker_threads';
import { EXIT, type Terminal } from '../io.js';
import { DRAIN_MS, Stopping } from '../stopping.js';
import { type FromThread, failureOf, type Shape, type ThreadStart, type ToThread } from './thread-messages.js';

/** Default heap limit of a thread in megabytes, see `--limit memory=N`. */
const DEFAULT_MEMORY_MB = 448;
/** Time from a signal until the process is ended, because the thread's program may never end. */
const STOP_MS = 500;
/** Commands that forward packets until a signal comes: they send what waits and close ports, and a packet's steps are limited. */
const FORWARDING: ReadonlySet<string | undefined> = /* @__PURE__ */ new Set(['serve', 'fabric']);

/** Whether a command runs untrusted programs. `control` runs none, and reads a terminal. */
export function needsOwnThread(argv: readonly string[]): boolean {
  return argv[2] === 'p4' && argv[3] !== 'control';
}

/** Reads `--limit memory=N` before the whole command line is parsed. */
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

/** Runs the process's command on a thread. Returns the exit code. */
export async function runAside(argv: readonly string[]): Promise<number> {
  const memoryMb = memoryOf(argv);
  const { stdin, stdout, stderr } = process;
  const start: ThreadStart = { argv, stdout: shapeOf(stdout), stderr: shapeOf(stderr) };
  const worker = new Worker(new URL('./p4-worker.js', import.meta.url), {
    workerData: start,
    resourceLimits: { maxOldGenerationSizeMb: memoryMb },
  });
  const post = (message: ToThread): void => worker.postMessage(message);
  // The thread receives write errors.
  for (const stream of [stdout, stderr]) stream.on('error', () => {});
  const input = new InputPump(post);
  const stopping = new Stopping((message) => stderr.write(`int: ${message}\n`));
  stopping.within(FORWARDING.has(argv[3]) ? DRAIN_MS : STOP_MS);
  stopping.signal.addEventListener('abort', () => post({ kind: 'stop', signal: stopping.signal.reason }));
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
      // Has no effect after the command is done or an error was reported.
      worker.on('exit', () => reject(new Error('the thread of the command ended before the command was done')));
    });
  } finally {
    stopping.done();
    input.end();
    stdin.pause();
    await worker.terminate();
  }
}

/** Passes standard input to the thread on request, a piece at a time. */
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
