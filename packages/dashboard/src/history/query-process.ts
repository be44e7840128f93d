/**
 * The process of queries: what a query takes, it takes from this one, which is ended when it takes too much. The engine's own limit of
 * memory does not count the values of single cells.
 */
import { constants, setPriority } from 'node:os';
import type { QueryAnswer } from '../protocol/http.js';

/** To the process. Of queries, one is under way at a time. */
export type ToQueries =
  | { readonly name: 'open'; readonly module: string; readonly directory: string; readonly limits: QueryMemory }
  | { readonly name: 'query'; readonly sql: string; readonly rows: number; readonly bytes: number }
  | { readonly name: 'stop' };

/** From the process: what became of the query. After `too-large` the process has ended. */
export type FromQueries =
  | { readonly name: 'too-large' }
  | { readonly name: 'answer'; readonly answer: Omit<QueryAnswer, 'ms'> }
  | { readonly name: 'failed'; readonly code: string; readonly message: string; readonly offset: number | null };

export interface QueryMemory {
  /** MiB that the engine allows itself. */
  readonly engineMiB: number;
  /** Resident bytes at which the process ends itself. */
  readonly bytes: number;
}

const WATCH_MS = 20;
const THREADS = 1;

/** A `History` such as that of @int/sink-parquet: the dashboard does not depend on it. */
interface HistoryModule {
  readonly History: { open(options: object): Promise<OpenHistory> };
}

interface OpenHistory {
  query(sql: string): Promise<HistoryResult>;
  interrupt(): void;
}

interface HistoryResult {
  readonly columns: QueryAnswer['columns'];
  chunks(): AsyncIterable<readonly (readonly unknown[])[]>;
}

export function answerQueries(): void {
  // Who asked is gone: so is the question.
  process.on('disconnect', end);
  // A signal to all processes of a terminal is for the collector, which ends this one.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
  try {
    setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // Not permitted: the same priority.
  }
  let history: OpenHistory | null = null;
  let open: () => Promise<OpenHistory> = () => Promise.reject(new Error('the history is not open'));
  const tell = (message: FromQueries): void => {
    process.send?.(message);
  };
  process.on('message', (message: ToQueries) => {
    if (message.name === 'stop') history?.interrupt();
    else if (message.name === 'open') {
      const { module, directory, limits } = message;
      setInterval(() => {
        if (process.memoryUsage.rss() <= limits.bytes) return;
        tell({ name: 'too-large' });
        end();
      }, WATCH_MS);
      const options = { directory, threads: THREADS, memoryMiB: limits.engineMiB, checked: new Map(), salvage: true };
      open = () => import(module).then(({ History }: HistoryModule) => History.open(options));
    } else void answer(message);
  });

  async function answer({ sql, rows, bytes }: Extract<ToQueries, { name: 'query' }>): Promise<void> {
    try {
      history ??= await open();
      const result = await history.query(sql);
      const first = await firstRows(result, rows, bytes);
      // The engine goes on with rows that nobody wants.
      if (first.truncated) history.interrupt();
      tell({ name: 'answer', answer: { columns: result.columns, ...first } });
    } catch (error) {
      const { code = '', message, offset = null } = error as { code?: string; message: string; offset?: number | null };
      tell({ name: 'failed', code, message, offset });
    }
  }
}

/** At once: `process.exit` would wait for the query that is under way. */
function end(): void {
  process.kill(process.pid, 'SIGKILL');
}

async function firstRows(
  result: HistoryResult,
  most: number,
  mostBytes: number,
): Promise<{ readonly rows: (readonly unknown[])[]; readonly truncated: boolean }> {
  const rows: (readonly unknown[])[] = [];
  let bytes = 0;
  for await (const chunk of result.chunks()) {
    for (const row of chunk) {
      if (rows.length === most || bytes > mostBytes) return { rows, truncated: true };
      bytes += JSON.stringify(row).length;
      rows.push(row);
    }
  }
  return { rows, truncated: false };
}
