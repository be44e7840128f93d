import { type ClientRequest, Agent as HttpAgent, request as httpRequest, type RequestOptions } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { OpenSearchSinkError, toSinkError } from '../errors.js';
import type { ResolvedOptions } from '../options.js';

export interface Answer {
  readonly status: number;
  readonly text: string;
}

/** No answer: the request may have been carried out all the same, unless `isUnsent`. */
export interface NoAnswer {
  readonly problem: OpenSearchSinkError;
  /** Certainly no byte of the request has reached a server. */
  readonly isUnsent: boolean;
}

export interface Call {
  readonly method: 'GET' | 'PUT' | 'POST';
  /** With its query. */
  readonly path: string;
  readonly body?: Uint8Array;
  readonly headers?: Readonly<Record<string, string | number>>;
}

/** More than any answer to a bulk request that is asked for the outcome of each item only. */
const MAX_ANSWER_BYTES = 128 << 20;
const codeOf = (error: unknown): string => {
  const inner = error instanceof AggregateError ? error.errors[0] : error;
  return (inner as NodeJS.ErrnoException | undefined)?.code ?? '';
};

/** Sends requests to a node of a cluster, and to the next one after a failure. Connections are kept. */
export class HttpClient {
  readonly #nodes: ResolvedOptions['nodes'];
  readonly #options: Pick<ResolvedOptions, 'headers' | 'tls' | 'requestTimeoutMs' | 'inFlight'>;
  readonly #plain: HttpAgent;
  readonly #secure: HttpsAgent;
  #current = 0;

  constructor(options: Pick<ResolvedOptions, 'nodes' | 'headers' | 'tls' | 'requestTimeoutMs' | 'inFlight'>) {
    this.#nodes = options.nodes;
    this.#options = options;
    const pool = { keepAlive: true, maxSockets: options.inFlight + 1 };
    this.#plain = new HttpAgent(pool);
    this.#secure = new HttpsAgent({ ...pool, ...options.tls });
  }

  rotate(): void {
    this.#current = (this.#current + 1) % this.#nodes.length;
  }

  /** Never rejects. */
  async send(call: Call, signal: AbortSignal): Promise<Answer | NoAnswer> {
    const first = await this.#attempt(call, signal);
    // The server closed a connection that had been idle, just as it was used again: not a failure of the server.
    if (!first.wasStale) return first.result;
    const { result } = await this.#attempt(call, signal);
    return 'problem' in result ? { ...result, isUnsent: false } : result;
  }

  #attempt(call: Call, signal: AbortSignal): Promise<{ result: Answer | NoAnswer; wasStale: boolean }> {
    const node = this.#nodes[this.#current]!;
    const { body, method, path } = call;
    const { requestTimeoutMs } = this.#options;
    return new Promise((resolve) => {
      let request: ClientRequest | null = null;
      let wasConnected = false;
      const end = (result: Answer | NoAnswer, wasStale = false): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', abort);
        resolve({ result, wasStale });
      };
      const fail = (error: unknown): void => {
        const code = codeOf(error);
        const wasStale = request?.reusedSocket === true && (code === 'ECONNRESET' || code === 'EPIPE');
        end({ problem: toSinkError(error), isUnsent: !wasConnected }, wasStale);
      };
      const timer = setTimeout(() => {
        const message = `no answer from ${node.host} after ${requestTimeoutMs} ms`;
        request?.destroy(new OpenSearchSinkError('ERR_OPENSEARCH_TIMEOUT', message));
      }, requestTimeoutMs);
      const abort = (): void => {
        request?.destroy(new OpenSearchSinkError('ERR_OPENSEARCH_CONNECTION', 'the sink was closed'));
      };
      signal.addEventListener('abort', abort);
      const options: RequestOptions = {
        method,
        // Not the host of the URL with its brackets, which a lookup does not take.
        host: node.hostname.replace(/^\[(.*)\]$/, '$1'),
        port: node.port === '' ? (node.protocol === 'https:' ? 443 : 80) : Number(node.port),
        path: node.pathname.replace(/\/$/, '') + path,
        headers: { ...this.#options.headers, ...call.headers, 'content-length': body?.length ?? 0 },
      };
      try {
        request =
          node.protocol === 'https:'
            ? httpsRequest({ ...options, agent: this.#secure })
            : httpRequest({ ...options, agent: this.#plain });
      } catch (error) {
        // A header with a character that HTTP does not know.
        fail(error);
        return;
      }
      request.once('socket', (socket) => {
        wasConnected = !socket.connecting;
        if (wasConnected) return;
        socket.once('connect', () => {
          wasConnected = true;
        });
      });
      request.once('error', fail);
      request.once('response', (response) => {
        const chunks: Buffer[] = [];
        let length = 0;
        response.on('data', (chunk: Buffer) => {
          length += chunk.length;
          chunks.push(chunk);
          if (length <= MAX_ANSWER_BYTES) return;
          response.destroy(new OpenSearchSinkError('ERR_OPENSEARCH_UNEXPECTED', `an answer of over ${length} bytes`));
        });
        response.once('error', fail);
        response.once('end', () =>
          end({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString('utf8') }),
        );
      });
      request.end(body);
      if (signal.aborted) abort();
    });
  }

  /** Closes connections that are kept. */
  close(): void {
    this.#plain.destroy();
    this.#secure.destroy();
  }
}
