import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { promisify } from 'node:util';
import { gzip, gzipSync } from 'node:zlib';
import { type Denial, GuardedServer, type GuardedServerOptions, type GuardLimits, reply } from '@int/collector/http';
import { documentWithState } from '../answers/first-state.js';
import type { PageFile } from '../assets/page-files.js';
import { checkNames } from '../openapi/check.js';
import type { ErrorAnswer } from '../protocol/http.js';
import { Access, pathOf } from './access.js';
import { ApiError } from './api-error.js';
import { answerLogin, answerLoginStyle, readBody } from './login.js';
import type { Routes, Services } from './routes.js';

const JSON_TYPE = 'application/json; charset=utf-8';
/** Answers of so many bytes are compressed for who can read that. */
const COMPRESSED_BYTES = 4096;
/** Up to so many it takes a fraction of a millisecond, less than to hand them to another thread and wait for a turn. */
const AT_ONCE_BYTES = 32_768;
const SECONDS_OF_A_YEAR = 31_536_000;
/** Requests under way that take long: dry runs, queries. */
const MOST_BUSY = 32;

/** Ten viewers behind one address have more than ten connections. */
const LIMITS: GuardLimits = {
  connections: 256,
  connectionsPerAddress: 128,
  requestsPerConnection: 1000,
  headerBytes: 16_384,
  requestMs: 10_000,
  answerMs: 60_000,
  idleMs: 15_000,
};

/** Headers of every answer. Scripts, styles and connections come from this server alone, and nobody frames its pages. */
const HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy':
    "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'",
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
};

export interface WebServerOptions {
  readonly host: string;
  readonly port: number;
  readonly token: string | null;
  readonly allowHosts: readonly string[];
  readonly tls: { readonly cert: string; readonly key: string } | null;
  readonly limits: Partial<GuardLimits>;
}

/** Takes a connection that becomes a WebSocket. */
export type TakeSocket = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

/** The HTTP part: the page's files, the login, and the programming interface. */
export class WebServer {
  /** Refusals by code. */
  readonly refused: Record<string, number> = {};
  readonly #options: WebServerOptions;
  readonly #server: GuardedServer;
  readonly #access: Access;
  readonly #routes: Routes;
  readonly #services: Services;
  readonly #files: ReadonlyMap<string, PageFile>;
  #busy = 0;

  constructor(
    options: WebServerOptions,
    routes: Routes,
    services: Services,
    files: ReadonlyMap<string, PageFile>,
    takeSocket: TakeSocket,
  ) {
    this.#options = options;
    this.#routes = routes;
    this.#services = services;
    this.#files = files;
    const { token, tls, allowHosts, limits } = options;
    this.#access = new Access(token, tls !== null);
    const guard: GuardedServerOptions = {
      allowHosts,
      limits: { ...LIMITS, ...limits },
      admit: this.#access.admit,
      upgrade: takeSocket,
      denial: (denial) => this.#denied(denial),
      ...(tls !== null && { tls }),
    };
    this.#server = new GuardedServer(guard, (request, response) => this.#answer(request, response));
  }

  async listen(): Promise<{ readonly host: string; readonly port: number }> {
    const { host, port } = this.#options;
    await this.#server.listen({ host, port });
    return this.#server.address!;
  }

  close(): Promise<void> {
    return this.#server.close();
  }

  /** Counts something refused, by its code. */
  count(code: string): void {
    this.refused[code] = (this.refused[code] ?? 0) + 1;
  }

  /** Refusals by code, with connections that were closed without an answer. */
  totals(): Readonly<Record<string, number>> {
    const { connections } = this.#server.totals().refused;
    return connections === 0 ? { ...this.refused } : { ...this.refused, connections };
  }

  #denied({ code, message }: Denial): { readonly type: string; readonly body: string } {
    this.count(code);
    return { type: JSON_TYPE, body: errorText({ code, message }) };
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // The socket's buffer may hold requests of a client that has gone.
    if (request.socket.destroyed) return;
    for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
    if (this.#options.tls !== null) {
      response.setHeader('strict-transport-security', `max-age=${SECONDS_OF_A_YEAR}`);
    }
    try {
      await this.#dispatch(request, response);
    } catch (error) {
      this.#failed(error, request, response);
    }
  }

  #failed(error: unknown, request: IncomingMessage, response: ServerResponse): void {
    const known = ApiError.is(error)
      ? error
      : new ApiError(500, 'ERR_INTERNAL', error instanceof Error ? error.message : String(error));
    this.count(known.code);
    if (response.headersSent) {
      response.destroy();
      return;
    }
    // A body that nobody has read would be taken for the next request.
    if (!request.complete) response.setHeader('connection', 'close');
    const { code, message, at } = known;
    reply(response, known.status, JSON_TYPE, errorText({ code, message, ...(at !== undefined && { at }) }));
  }

  async #dispatch(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = pathOf(request);
    if (path.startsWith('/api/')) return this.#api(path, request, response);
    if (path === '/login') return answerLogin(this.#access, request, response);
    if (path === '/logout' && request.method === 'POST') {
      this.#access.logOut(request, response);
      response.setHeader('location', 'login');
      reply(response, 303, 'text/plain; charset=utf-8', 'Logged out.\n');
      return;
    }
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      throw new ApiError(405, 'ERR_METHOD', `${path} takes GET, HEAD`);
    }
    if (path === '/login.css') return answerLoginStyle(response);
    if (path === '/' || path === '/index.html') return this.#document(request, response);
    this.#file(path, request, response);
  }

  /** Sends the page itself, with its first state. It has all views: their addresses are in its fragment or query. */
  async #document(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { bytes, type } = this.#files.get('index.html')!;
    await sendText(request, response, type, documentWithState(Buffer.from(bytes).toString('utf8'), this.#services));
  }

  /** Sends another file of the page. */
  #file(path: string, { headers }: IncomingMessage, response: ServerResponse): void {
    const file = this.#files.get(path.slice(1));
    if (file === undefined) throw new ApiError(404, 'ERR_NOT_FOUND', `there is no ${path.slice(0, 100)}`);
    const isZipped = file.gzip !== null && acceptsGzip(headers);
    response.setHeader('vary', 'accept-encoding');
    if (isZipped) response.setHeader('content-encoding', 'gzip');
    send(response, 200, file.type, isZipped ? file.gzip! : file.bytes, file.isImmutable);
  }

  async #api(path: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { route, params } = this.#routes.find(request.method ?? '', path);
    const changes = route.changes ?? (route.method === 'PUT' || route.method === 'DELETE');
    if (changes && this.#services.isReadOnly) {
      throw new ApiError(403, 'ERR_READ_ONLY', 'this dashboard is read-only');
    }
    const body = await bodyOf(request);
    if (this.#busy >= MOST_BUSY) throw new ApiError(503, 'ERR_TOO_MANY', 'too many requests under way: try again');
    this.#busy++;
    try {
      const gone = new AbortController();
      response.once('close', () => gone.abort());
      const query = new URL(request.url ?? '/', 'http://localhost').searchParams;
      checkNames(route, { query, body });
      const answer = await route.handle({ params, query, body, signal: gone.signal }, this.#services);
      await sendJson(request, response, answer);
    } finally {
      this.#busy--;
    }
  }
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  if (request.method === 'GET' || request.method === 'HEAD') return undefined;
  // Pages of other sites can send forms and plain text without asking first, but not this type.
  const type = (request.headers['content-type'] ?? '').split(';')[0]!.trim().toLowerCase();
  const bytes = await readBody(request);
  if (type !== 'application/json') {
    if (bytes.length === 0 && request.method === 'DELETE') return undefined;
    throw new ApiError(415, 'ERR_BODY_TYPE', 'send JSON, as content-type: application/json');
  }
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    throw new ApiError(400, 'ERR_JSON', 'the body is no JSON');
  }
}

const acceptsGzip = ({ 'accept-encoding': encodings = '' }: IncomingMessage['headers']): boolean =>
  /(?:^|[,\s])gzip(?:$|[,;\s])/i.test(String(encodings)) &&
  !/gzip\s*;\s*q=0(?:\.0*)?(?:$|[,\s])/i.test(String(encodings));

function sendJson(request: IncomingMessage, response: ServerResponse, answer: unknown): Promise<void> {
  const text = JSON.stringify(answer, (_, value) => (typeof value === 'bigint' ? String(value) : value));
  return sendText(request, response, JSON_TYPE, `${text}\n`);
}

const zipped = (body: Uint8Array): Promise<Uint8Array> => promisify(gzip)(body, { level: 1 });

/** Sends a text that is made anew for each request. */
async function sendText(request: IncomingMessage, response: ServerResponse, type: string, text: string): Promise<void> {
  let body: Uint8Array = Buffer.from(text);
  if (body.length >= COMPRESSED_BYTES && acceptsGzip(request.headers)) {
    body = body.length <= AT_ONCE_BYTES ? gzipSync(body, { level: 1 }) : await zipped(body);
    response.setHeader('content-encoding', 'gzip');
  }
  response.setHeader('vary', 'accept-encoding');
  send(response, 200, type, body, false);
}

function send(response: ServerResponse, status: number, type: string, body: Uint8Array, isKept: boolean): void {
  if (!isKept) {
    reply(response, status, type, body);
    return;
  }
  if (response.destroyed || response.req.socket.destroyed) return;
  response.writeHead(status, {
    'content-type': type,
    'content-length': body.length,
    'cache-control': `private, max-age=${SECONDS_OF_A_YEAR}, immutable`,
  });
  response.end(response.req.method === 'HEAD' ? undefined : body);
}

function errorText(error: ErrorAnswer['error']): string {
  return `${JSON.stringify({ error } satisfies ErrorAnswer)}\n`;
}
