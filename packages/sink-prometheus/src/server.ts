import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

const BRAND: unique symbol = /* @__PURE__ */ Symbol.for('@int/sink-prometheus.MetricsServerError') as never;

/** The server cannot listen. The system's own error is `cause`. */
export class MetricsServerError extends Error {
  override readonly name = 'MetricsServerError';
  readonly code = 'ERR_METRICS_LISTEN';
  /** `HOST:PORT` as asked for. */
  readonly address: string;

  constructor(address: string, message: string, cause: unknown) {
    super(`${address}: ${message}`, { cause });
    this.address = address;
    Object.defineProperty(this, BRAND, { value: true });
  }

  /** Works across the ESM and the CommonJS copy of this package, where `instanceof` does not. */
  static is(value: unknown): value is MetricsServerError {
    return typeof value === 'object' && value !== null && BRAND in value;
  }
}

/** How the process is. */
export interface Health {
  /** False: whoever restarts processes may restart this one. */
  readonly healthy: boolean;
  /** Whatever helps to see why, as JSON. */
  readonly detail?: unknown;
}

export interface MetricsServerOptions {
  /** Address to listen on. Default `127.0.0.1`: what is measured is not for everyone. */
  readonly host?: string;
  /** 0 lets the system choose. */
  readonly port: number;
  /** Where a scrape's text comes from. */
  readonly metrics: { text(): Promise<string>; readonly contentType: string };
  /** Asked at every look at `/health`. Default: healthy, as long as it answers. */
  readonly health?: () => Health;
}

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program listens on this port: stop it or choose another port',
  EACCES: 'not permitted: ports below 1024 need privileges, choose a higher one',
  EADDRNOTAVAIL: 'this machine has no such address: use one of its own, or 0.0.0.0 or :: for all',
  ENOTFOUND: 'no such host',
};

/** Time for a request to arrive as a whole, in milliseconds: nobody holds a connection open by sending nothing. */
const REQUEST_MS = 10_000;

function send(response: ServerResponse, status: number, type: string, body: string): void {
  response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' });
  response.end(body);
}

/**
 * An HTTP server with the two pages that monitoring asks for: `/metrics` and `/health` (200 or 503, JSON). Any other path is
 * 404, any method but GET and HEAD 405.
 */
export class MetricsServer {
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  /** @throws MetricsServerError if the address cannot be had */
  static async listen({ host = '127.0.0.1', port, metrics, health }: MetricsServerOptions): Promise<MetricsServer> {
    const answer = async (path: string, response: ServerResponse): Promise<void> => {
      if (path === '/metrics') send(response, 200, metrics.contentType, await metrics.text());
      else if (path === '/health') {
        const state = health?.() ?? { healthy: true };
        send(response, state.healthy ? 200 : 503, 'application/json', `${JSON.stringify(state)}\n`);
      } else send(response, 404, 'text/plain', 'There are /metrics and /health.\n');
    };
    const server = createServer({ requestTimeout: REQUEST_MS, headersTimeout: REQUEST_MS }, (request, response) => {
      request.resume();
      if (request.method !== 'GET' && request.method !== 'HEAD') {
        response.setHeader('allow', 'GET, HEAD');
        send(response, 405, 'text/plain', 'GET and HEAD only.\n');
        return;
      }
      const path = (request.url ?? '/').replace(/\?.*$/s, '');
      answer(path, response).catch((error: unknown) => {
        // A scrape that fails is seen by Prometheus as such; the pipeline goes on.
        if (!response.headersSent) send(response, 500, 'text/plain', `${String(error)}\n`);
        else response.destroy();
      });
    });
    try {
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject);
        server.listen(port, host, () => {
          server.off('error', reject);
          resolve();
        });
      });
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code ?? '';
      const reason = REASONS[code] ?? (error instanceof Error ? error.message : String(error));
      throw new MetricsServerError(`${host}:${port}`, `cannot listen: ${reason}`, error);
    }
    return new MetricsServer(server);
  }

  /** Where it listens: the port that the system chose for port 0. */
  get address(): { readonly host: string; readonly port: number } {
    const { address, port } = this.#server.address() as AddressInfo;
    return { host: address, port };
  }

  /** Lets requests that are being answered end, and closes. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#server.closeIdleConnections();
    await closed;
  }
}
