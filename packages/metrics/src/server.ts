import { DEGRADED, type DegradedPart, DegradedStates } from '@int/collector';
import { type GuardedServerOptions, HostList } from '@int/collector/http';
import { MetricsServerError } from './errors.js';
import type { PageContent } from './page/page.js';
import type { Health, PageTotals } from './page/protocol.js';
import { threadFile } from './page/thread-file.js';
import { PageThread } from './page/thread-handle.js';

/** The source of a page: {@link PipelineMetrics}, or a text of the program's own. */
export type MetricsSource =
  | { content(): Promise<PageContent> }
  | { text(): Promise<string>; readonly contentType: string };

export interface MetricsServerOptions {
  /** Address to listen on. Default `127.0.0.1`: measurements are private. */
  readonly host?: string;
  /** Port to listen on; 0 lets the system choose. */
  readonly port: number;
  readonly metrics: MetricsSource;
  /** Called for requests of `/health`, at most ten times a second. Default: healthy, as long as the program answers. */
  readonly health?: () => Health;
  /**
   * Further names and addresses that requests may give as host, such as the name of a service in front of the server.
   * Always permitted: the address it listens on, the one that a connection came to, localhost, 127.0.0.1, [::1] and the
   * machine's host name.
   */
  readonly allowHosts?: readonly string[];
  /** Limits on connections, requests, headers and times. Default: see `GuardLimits` of @int/collector/http. */
  readonly limits?: GuardedServerOptions['limits'];
  /** Shortest time between two pages, in milliseconds. All readers share a page. Default 1000. */
  readonly intervalMs?: number;
  /** Most bytes of a page. Metrics without room are left out, the longest first. Default 8 MiB. */
  readonly maxPageBytes?: number;
  /** The code of the thread that serves, `page-thread.js` of this package. Only a bundled program needs to give it. */
  readonly thread?: URL | string;
}

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program listens on this port: stop it or choose another port',
  EACCES: 'not permitted: ports below 1024 need privileges, choose a higher one',
  EADDRNOTAVAIL: 'this machine has no such address: use one of its own, or 0.0.0.0 or :: for all',
  ENOTFOUND: 'no such host',
};

/**
 * An HTTP server with the two pages for monitoring: `/metrics` and `/health` (200 or 503, JSON). It answers any other
 * path with 404, any method except GET and HEAD with 405, and a host name that is not the server's with 403.
 *
 * It runs in a thread of its own, which makes and sends the pages. The program's thread copies its counters at most
 * once an interval, however many requests arrive. A thread that dies is restarted.
 */
export class MetricsServer {
  readonly #mostBytes: number;
  readonly #thread: PageThread;
  readonly #states = new DegradedStates();

  private constructor(options: MetricsServerOptions) {
    const { host = '127.0.0.1', port, allowHosts, limits, intervalMs = 1000, maxPageBytes = 8 << 20, thread } = options;
    // Checked here, so that errors are thrown in the caller's thread.
    new HostList(host, allowHosts);
    if (!(intervalMs >= 0)) throw new RangeError(`intervalMs must be 0 or more, not ${intervalMs}`);
    if (!(maxPageBytes >= 1)) throw new RangeError(`maxPageBytes must be 1 or more, not ${maxPageBytes}`);
    this.#mostBytes = maxPageBytes;
    const guard = { ...(allowHosts !== undefined && { allowHosts }), ...(limits !== undefined && { limits }) };
    const setup = { host, port, guard, intervalMs, mostBytes: maxPageBytes };
    this.#thread = new PageThread(thread ?? threadFile(), setup, {
      page: () => contentOf(options.metrics),
      health: () => options.health?.() ?? { healthy: true },
    });
    this.#states.watch(
      DEGRADED.REFUSING,
      () => Object.values(this.totals().refused).reduce((sum, count) => sum + count, 0),
      (times) => `${times} connections and requests turned away`,
    );
  }

  /**
   * Starts the thread and listens.
   * @throws MetricsServerError (rejects) if it cannot listen on the address; RangeError for an option out of range
   */
  static async listen(options: MetricsServerOptions): Promise<MetricsServer> {
    const server = new MetricsServer(options);
    try {
      await server.#thread.start();
    } catch (error) {
      const { code = '', message } = error as NodeJS.ErrnoException;
      const { host = '127.0.0.1', port } = options;
      throw new MetricsServerError(`${host}:${port}`, REASONS[code] ?? message, error);
    }
    return server;
  }

  /** The address it listens on; for port 0, with the port that the system chose. */
  get address(): { readonly host: string; readonly port: number } {
    return this.#thread.address;
  }

  /** Requests answered and refused; updated once a second. */
  totals(): PageTotals {
    return this.#thread.totals;
  }

  /**
   * `refusing` while requests are refused, `shedding` while metrics are left out, `failed` while there is no thread.
   */
  degraded(): readonly DegradedPart[] {
    const { omitted } = this.totals();
    const { failure } = this.#thread;
    const states = this.#states;
    if (omitted === 0) states.end(DEGRADED.SHEDDING);
    else states.begin(DEGRADED.SHEDDING, `${omitted} samples left out of a page of more than ${this.#mostBytes} bytes`);
    if (failure === null) states.end(DEGRADED.FAILED);
    else states.begin(DEGRADED.FAILED, `it is started again: ${failure.message}`);
    return states.list().map((state) => ({ where: 'metrics page', ...state }));
  }

  /** Closes the server. Answers under way have a few seconds to finish. */
  close(): Promise<void> {
    return this.#thread.close();
  }
}

async function contentOf(metrics: MetricsSource): Promise<PageContent> {
  if ('content' in metrics) return metrics.content();
  const text = await metrics.text();
  const { contentType } = metrics;
  return { contentType, isOpenMetrics: false, prefix: '', labels: {}, families: [], texts: [text.replace(/\n$/, '')] };
}
