/** The program's handle of the thread that serves the pages. */
import { Worker } from 'node:worker_threads';
import { BackOff, within } from '@int/collector/internals';
import type { PageContent } from './page.js';
import type { Asked, FromPageThread, Health, PageSetup, PageTotals, ToPageThread } from './protocol.js';

/** The heap limit of the thread, in MiB: a page, its pieces, and connections. */
const HEAP_MIB = 192;
/** The thread is terminated if it does not end in this time. */
const CLOSE_MS = 3000;
/** Delays before a dead thread is restarted. */
const RESTART = { firstMs: 250, maxMs: 30_000 } as const;

/** The program's answers to the thread's requests. */
export interface PageAnswers {
  page(): Promise<PageContent>;
  health(): Health;
}

export class PageThread {
  readonly #file: URL | string;
  readonly #answers: PageAnswers;
  readonly #backOff = new BackOff(RESTART.firstMs, RESTART.maxMs, Math.random);
  #setup: PageSetup;
  /** The address it listens on, once it listens. */
  address: { readonly host: string; readonly port: number };
  #worker: Worker | null = null;
  #restart: NodeJS.Timeout | undefined;
  #isClosed = false;
  /** The totals of threads that have ended. */
  #before: PageTotals = NOTHING;
  /** The latest totals, of all threads together. */
  totals: PageTotals = NOTHING;
  /** The error that ended the thread, or `null` if one is running. */
  failure: Error | null = null;

  constructor(file: URL | string, setup: PageSetup, answers: PageAnswers) {
    this.#file = file;
    this.#setup = setup;
    this.address = { host: setup.host, port: setup.port };
    this.#answers = answers;
  }

  /**
   * Starts the thread. Once it has listened, it is restarted whenever it dies.
   * @throws the system's error (rejects) if it cannot listen
   */
  start(): Promise<void> {
    // Do not pass on the options of this process: `--input-type` is for its own program only.
    const worker = new Worker(this.#file, {
      workerData: this.#setup,
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB },
    });
    this.#worker = worker;
    this.#before = this.totals;
    let failure = new Error('the thread has ended');
    let hasListened = false;
    worker.on('error', (error: Error) => {
      failure = error;
    });
    return new Promise((resolve, reject) => {
      worker.on('message', (message: FromPageThread) => {
        switch (message.name) {
          case 'listening':
            this.address = { host: message.host, port: message.port };
            // A restarted thread listens on the same port.
            this.#setup = { ...this.#setup, port: message.port };
            hasListened = true;
            this.failure = null;
            this.#backOff.reset();
            resolve();
            return;
          case 'refused':
            failure = Object.assign(new Error(message.message), { code: message.code });
            return;
          case 'ask':
            void this.#answer(message.asked);
            return;
          case 'totals':
            this.totals = sumOf(this.#before, message.totals);
        }
      });
      worker.once('exit', () => {
        this.#worker = null;
        reject(failure);
        if (this.#isClosed || !(hasListened || this.failure !== null)) return;
        this.failure = failure;
        this.#restart = setTimeout(() => void this.start().catch(() => {}), this.#backOff.next());
      });
    });
  }

  /** Ends the thread. Answers under way have a few seconds to finish. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#restart);
    const worker = this.#worker;
    if (worker === null) return;
    const ended = new Promise((resolve) => worker.once('exit', resolve));
    this.#tell({ name: 'close' });
    await within(CLOSE_MS, ended);
    await worker.terminate();
  }

  async #answer(asked: Asked): Promise<void> {
    try {
      if (asked === 'health') this.#tell({ name: 'health', health: this.#answers.health() });
      else this.#tell({ name: 'page', content: await this.#answers.page() });
    } catch (error) {
      this.#tell({ name: 'failed', asked, message: error instanceof Error ? error.message : String(error) });
    }
  }

  #tell(message: ToPageThread): void {
    this.#worker?.postMessage(message, message.name === 'page' ? buffersOf(message.content) : []);
  }
}

/** The memory of all columns, to be transferred and not copied. */
function buffersOf({ families }: PageContent): ArrayBuffer[] {
  const columns = families.flatMap((family) => [
    ...family.labels.map(({ values }) => values),
    ...(family.type === 'histogram' ? [family.counts, family.sums] : [family.values]),
  ]);
  const buffers = columns.flatMap((column) =>
    ArrayBuffer.isView(column) && column.buffer instanceof ArrayBuffer ? [column.buffer] : [],
  );
  return [...new Set(buffers)];
}

const NOTHING: PageTotals = {
  requests: 0,
  refused: { connections: 0, hosts: 0, methods: 0, tokens: 0, others: 0 },
  pages: 0,
  pageBytes: 0,
  omitted: 0,
};

/** The sum of the counts of successive threads. Figures of the last page are not added. */
function sumOf(before: PageTotals, now: PageTotals): PageTotals {
  const refused = Object.entries(now.refused) as [keyof PageTotals['refused'], number][];
  return {
    ...now,
    requests: before.requests + now.requests,
    refused: Object.fromEntries(
      refused.map(([reason, count]) => [reason, before.refused[reason] + count]),
    ) as unknown as PageTotals['refused'],
    pages: before.pages + now.pages,
  };
}
