/** The program's handle of the dashboard's thread. */
import { Worker } from 'node:worker_threads';
import { BackOff, within } from '@int/collector/internals';
import { SLABS, Slab, type SlabMemory, slabMemory } from '../retention/slabs.js';
import { ApiError } from '../server/api-error.js';
import type { FromThread, ThreadSetup, ThreadTotals, ToThread } from './messages.js';

/** The heap limit of the thread, in MiB. What is retained is not on the heap. */
const HEAP_MIB = 512;
/** The thread is terminated if it does not end in this time. */
const CLOSE_MS = 3000;
const RESTART = { firstMs: 250, maxMs: 30_000 } as const;

/** What the thread asks of the program, by name. */
export type Answers = Readonly<Record<string, (data: unknown) => unknown>>;

export interface ThreadListener {
  /** The thread listens: these slabs are its. */
  onSlabs(slabs: readonly Slab[]): void;
  /** What is asked by a name is looked for in one after the other, each time. */
  readonly answers: readonly Answers[];
}

export class ThreadHandle {
  readonly #file: URL | string;
  readonly #listener: ThreadListener;
  readonly #backOff = new BackOff(RESTART.firstMs, RESTART.maxMs, Math.random);
  #setup: Omit<ThreadSetup, 'slabs' | 'file'>;
  /** The address it listens on, once it listens. */
  address: { readonly host: string; readonly port: number };
  totals: ThreadTotals = { viewers: 0, framesSent: 0, framesSkipped: 0, refused: {} };
  /** The error that ended the thread; `null`: it runs. */
  failure: Error | null = null;
  #worker: Worker | null = null;
  #restart: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(file: URL | string, setup: Omit<ThreadSetup, 'slabs' | 'file'>, listener: ThreadListener) {
    this.#file = file;
    this.#setup = setup;
    this.address = { host: setup.web.host, port: setup.web.port };
    this.#listener = listener;
  }

  /**
   * Starts the thread. Once it has listened, it is started again whenever it dies; what was retained of reports is lost then.
   * @throws the system's error (rejects) if it cannot listen
   */
  start(): Promise<void> {
    const memory: SlabMemory[] = Array.from({ length: SLABS }, () => slabMemory());
    const setup: ThreadSetup = { ...this.#setup, slabs: memory, file: String(this.#file) };
    // Not the options of this process: `--input-type` is for its own program only.
    const worker = new Worker(this.#file, {
      workerData: setup,
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB },
    });
    this.#worker = worker;
    let failure = new Error('the thread has ended');
    let hasListened = false;
    worker.on('error', (error: Error) => {
      failure = error;
    });
    return new Promise((resolve, reject) => {
      worker.on('message', (message: FromThread) => {
        switch (message.name) {
          case 'listening': {
            const { host, port } = message;
            this.address = { host, port };
            // A thread that is started again listens on the same port.
            this.#setup = { ...this.#setup, web: { ...this.#setup.web, port } };
            hasListened = true;
            this.failure = null;
            this.#backOff.reset();
            this.#listener.onSlabs(memory.map((each) => new Slab(each)));
            resolve();
            return;
          }
          case 'refused':
            failure = Object.assign(new Error(message.message), { code: message.code });
            return;
          case 'ask':
            void this.#answer(message);
            return;
          case 'totals':
            this.totals = message.totals;
        }
      });
      worker.once('exit', () => {
        this.#worker = null;
        this.#listener.onSlabs([]);
        reject(failure);
        if (this.#isClosed || !(hasListened || this.failure !== null)) return;
        this.failure = failure;
        this.#restart = setTimeout(() => void this.start().catch(() => {}), this.#backOff.next());
      });
    });
  }

  tell(message: ToThread): void {
    // A thread that is started again begins with what holds now.
    if (message.name === 'network') this.#setup = { ...this.#setup, network: message.network };
    if (message.name === 'facts') this.#setup = { ...this.#setup, facts: message.facts };
    if (message.name === 'control') this.#setup = { ...this.#setup, control: message.control };
    this.#worker?.postMessage(message);
  }

  /** Ends the thread. Answers under way have a few seconds to finish. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#restart);
    const worker = this.#worker;
    if (worker === null) return;
    const ended = new Promise((resolve) => worker.once('exit', resolve));
    this.tell({ name: 'close' });
    await within(CLOSE_MS, ended);
    await worker.terminate();
  }

  async #answer({ id, what, data }: Extract<FromThread, { name: 'ask' }>): Promise<void> {
    try {
      const answers = this.#listener.answers.find((each) => Object.hasOwn(each, what));
      if (answers === undefined) throw new ApiError(404, 'ERR_UNAVAILABLE', `this program does not offer ${what}`);
      this.tell({ name: 'answer', id, value: await answers[what]!(data) });
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      const { status, code, at } = ApiError.is(error) ? error : { status: 500, code: 'ERR_INTERNAL', at: undefined };
      this.tell({ name: 'failed', id, status, code, message, ...(at !== undefined && { at }) });
    }
  }
}
