import { DEGRADED, type DegradedPart, DegradedStates } from '@int/collector';
import { type GuardedServerOptions, HostList } from '@int/collector/http';
import { MetricsServerError } from './errors.js';
import type { Health } from './page/health.js';
import type { PageContent } from './page/page.js';
import type { PageTotals } from './page/protocol.js';
import { threadFile } from './page/thread-file.js';
import { PageThread } from './page/thread-handle.js';

/** Where a page comes from: {@link PipelineMetrics}, or a text of the program's own. */
export type MetricsSource =
  | { content(): Promise<PageContent> }
  | { text(): Promise<string>; readonly contentType: string };

export interface MetricsServerOptions {
  /** Address to listen on. Default `127.0.0.1`: what is measured is not for everyone. */
  readonly host?: string;
  /** 0 lets the system choose. */
  readonly port: number;
  readonly metrics: MetricsSource;
  /** Asked when somebody looks at `/health`, ten times a second at most. Default: healthy, as long as it answers. */
  readonly health?: () => Health;
  /**
   * Names and addresses by which the server may be asked, besides the address it listens on, the one that a connection came
   * to, localhost, 127.0.0.1, [::1] and the machine's host name: such as the name of a service in front of it.
   */
  readonly allowHosts?: readonly string[];
  /** What strangers can have of it. Default: see `GuardLimits` of @int/collector/http. */
  readonly limits?: GuardedServerOptions['limits'];
  /** A page is made at most once in this time, for all readers together, in milliseconds. Default 1000. */
  readonly intervalMs?: number;
  /** Bytes of a page. Metrics for which there is no room are left out, the longest first. Default 8 MiB. */
  readonly maxPageBytes?: number;
  /**
   * The code of the thread that serves, `page-thread.js` of this package. Needed only where a bundler has put the program
   * together.
   */
  readonly thread?: URL | string;
}

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program listens on this port: stop it or choose another port',
  EACCES: 'not permitted: ports below 1024 need privileges, choose a higher one',
  EADDRNOTAVAIL: 'this machine has no such address: use one of its own, or 0.0.0.0 or :: for all',
  ENOTFOUND: 'no such host',
};

/**
 * An HTTP server with the two pages that monitoring asks for: `/metrics` and `/health` (200 or 503, JSON). Any other path is
 * 404, any method but GET and HEAD 405, a name that is not the server's 403.
 *
 * It runs in a thread of its own. The thread of the program copies its counters once an interval at most, whoever asks and
 * however often; the page is made and sent beside it. A thread that dies is started again.
 */
export class MetricsServer {
  readonly #mostBytes: number;
  readonly #thread: PageThread;
  readonly #states = new DegradedStates();

  private constructor(options: MetricsServerOptions) {
    const { host = '127.0.0.1', port, allowHosts, limits, intervalMs = 1000, maxPageBytes = 8 << 20, thread } = options;
    // What is wrong with them is told here and not by a thread.
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
   * Starts the thread, and listens.
   * @throws MetricsServerError (rejects) if the address cannot be had; RangeError for an option that makes no sense
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

  /** Where it listens: the port that the system chose for port 0. */
  get address(): { readonly host: string; readonly port: number } {
    return this.#thread.address;
  }

  /** What was asked and turned away, as told last: once a second. */
  totals(): PageTotals {
    return this.#thread.totals;
  }

  /** `refusing` while strangers are turned away, `shedding` while metrics are left out, `failed` while the thread is gone. */
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

  /** Lets answers under way end, no longer than some seconds, and closes. */
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
