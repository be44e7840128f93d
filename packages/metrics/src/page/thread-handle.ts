/** The thread that serves the pages, as the thread of the program sees it. */
import { Worker } from 'node:worker_threads';
import { BackOff } from '@int/collector/internals';
import type { Health } from './health.js';
import type { PageContent } from './page.js';
import type { Asked, FromPageThread, PageSetup, PageTotals, ToPageThread } from './protocol.js';

/** What the thread may take of the heap, in MiB: a page, its pieces, and connections. */
const HEAP_MIB = 192;
/** Time that the thread has to end by itself. */
const CLOSE_MS = 3000;
/** Waiting times before a thread that has died is started again. */
const RESTART = { firstMs: 250, maxMs: 30_000 } as const;

/** Answers of the program. */
export interface PageAnswers {
  page(): Promise<PageContent>;
  health(): Health;
}

export class PageThread {
  readonly #file: URL | string;
  readonly #answers: PageAnswers;
  readonly #backOff = new BackOff(RESTART.firstMs, RESTART.maxMs, Math.random);
  #setup: PageSetup;
  #address: { readonly host: string; readonly port: number };
  #worker: Worker | null = null;
  #restart: NodeJS.Timeout | undefined;
  #isClosed = false;
  /** Of threads that have ended. */
  #before: PageTotals = NOTHING;
  #totals: PageTotals = NOTHING;
  #failure: Error | null = null;

  constructor(file: URL | string, setup: PageSetup, answers: PageAnswers) {
    this.#file = file;
    this.#setup = setup;
    this.#address = { host: setup.host, port: setup.port };
    this.#answers = answers;
  }

  /** Where it listens, once it does. */
  get address(): { readonly host: string; readonly port: number } {
    return this.#address;
  }

  /** As told last, all threads together. */
  get totals(): PageTotals {
    return this.#totals;
  }

  /** Why there is no thread now, or `null`. */
  get failure(): Error | null {
    return this.#failure;
  }

  /**
   * Starts the thread. Once it has listened, it is started again whenever it dies.
   * @throws the system's error (rejects) if it cannot listen
   */
  start(): Promise<void> {
    // Not the options of this process: `--input-type` is for its own program only.
    const worker = new Worker(this.#file, {
      workerData: this.#setup,
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB },
    });
    this.#worker = worker;
    this.#before = this.#totals;
    let failure = new Error('the thread has ended');
    let hasListened = false;
    worker.on('error', (error: Error) => {
      failure = error;
    });
    return new Promise((resolve, reject) => {
      worker.on('message', (message: FromPageThread) => {
        switch (message.name) {
          case 'listening':
            this.#address = { host: message.host, port: message.port };
            // The same port when it has to start again.
            this.#setup = { ...this.#setup, port: message.port };
            hasListened = true;
            this.#failure = null;
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
            this.#totals = sumOf(this.#before, message.totals);
        }
      });
      worker.once('exit', () => {
        this.#worker = null;
        reject(failure);
        if (this.#isClosed || !(hasListened || this.#failure !== null)) return;
        this.#failure = failure;
        this.#restart = setTimeout(() => void this.start().catch(() => {}), this.#backOff.next());
      });
    });
  }

  /** Lets answers under way end, no longer than some seconds, and ends the thread. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#restart);
    const worker = this.#worker;
    if (worker === null) return;
    let limit: NodeJS.Timeout | undefined;
    const ended = new Promise<void>((resolve) => {
      worker.once('exit', () => resolve());
      limit = setTimeout(resolve, CLOSE_MS);
    });
    this.#tell({ name: 'close' });
    await ended;
    clearTimeout(limit);
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

/** The memory of all columns: it is handed over and not copied. */
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

/** What threads have counted one after the other; of the last page, what is said of it. */
function sumOf(before: PageTotals, now: PageTotals): PageTotals {
  const { connections, hosts, methods, tokens, others } = now.refused;
  return {
    requests: before.requests + now.requests,
    refused: {
      connections: before.refused.connections + connections,
      hosts: before.refused.hosts + hosts,
      methods: before.refused.methods + methods,
      tokens: before.refused.tokens + tokens,
      others: before.refused.others + others,
    },
    pages: before.pages + now.pages,
    pageBytes: now.pageBytes,
    omitted: now.omitted,
  };
}
