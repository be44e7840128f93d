import { createHash, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { HostList } from './host-list.js';

/** Limits on what clients may use of a server. */
export interface GuardLimits {
  /** Connections at a time; a further one is closed at once. Default 64. */
  readonly connections: number;
  /** Connections of one address at a time. Default 16. */
  readonly connectionsPerAddress: number;
  /** Requests per connection; the server then closes it. Default 100. */
  readonly requestsPerConnection: number;
  /** Bytes of a request's line and headers. Default 8192. */
  readonly headerBytes: number;
  /** Time for a complete request to arrive, in milliseconds. Default 10,000. */
  readonly requestMs: number;
  /** Time to make and send an answer until the client has received it, in milliseconds. Default 30,000. */
  readonly answerMs: number;
  /** Idle time of a connection, in milliseconds. Default 5000. */
  readonly idleMs: number;
}

const LIMITS: GuardLimits = {
  connections: 64,
  connectionsPerAddress: 16,
  requestsPerConnection: 100,
  headerBytes: 8192,
  requestMs: 10_000,
  answerMs: 30_000,
  idleMs: 5000,
};
/** Header lines of a request. */
const MOST_HEADERS = 64;
/** Interval of the check against `requestMs`, in milliseconds. */
const CHECK_MS = 1000;
/** Default time that `close` waits for answers under way, in milliseconds. */
const CLOSE_MS = 1000;
const TEXT = 'text/plain; charset=utf-8';

/** How a {@link GuardedServer} is set up. */
export interface GuardedServerOptions {
  /**
   * Additional host names and addresses that requests may name. Always allowed are the address the server listens on,
   * the local address of the connection, localhost, 127.0.0.1, [::1] and the machine's host name.
   */
  readonly allowHosts?: readonly string[];
  /**
   * The token that requests other than GET and HEAD must carry, as `Authorization: Bearer TOKEN`. Without a token the
   * server refuses them.
   */
  readonly token?: string;
  readonly limits?: Partial<GuardLimits>;
}

/** Where a {@link GuardedServer} listens: a port of an address, or a Unix socket. */
export type ListenAddress = { readonly host: string; readonly port: number } | { readonly path: string };

/** What a {@link GuardedServer} has counted. */
export interface GuardTotals {
  /** Requests handed to the handler. */
  readonly requests: number;
  /** Connections closed and requests turned away, by reason. */
  readonly refused: {
    /** Too many connections, in all or of one address. */
    readonly connections: number;
    /** Requests for a host name that is not allowed. */
    readonly hosts: number;
    /** Requests with a method that is not allowed. */
    readonly methods: number;
    /** Requests that need the token and lack it. */
    readonly tokens: number;
    /** Requests with an unexpected body, and answers not received in time. */
    readonly others: number;
  };
}

/** The requests of a connection. */
interface Asked {
  /** So far. */
  total: number;
  /** Not answered yet. */
  open: number;
  /** Ends the connection if that takes too long. */
  limit: NodeJS.Timeout | undefined;
}

/**
 * An HTTP server for untrusted networks, with the defences that all servers of the project share. It answers only to
 * its own names, takes changes only with a token, and bounds connections, requests, headers and time. On a Unix socket
 * it does not check names: the file's permissions decide.
 *
 * @example
 * const server = new GuardedServer({ token }, (request, response) => reply(response, 200, 'text/plain', 'hello\n'));
 * await server.listen({ host: '127.0.0.1', port: 0 });
 */
export class GuardedServer {
  readonly #server: Server;
  readonly #options: GuardedServerOptions;
  readonly #limits: GuardLimits;
  readonly #handle: (request: IncomingMessage, response: ServerResponse) => unknown;
  readonly #perAddress = new Map<string, number>();
  readonly #asked = new WeakMap<Socket, Asked>();
  readonly #refused = { connections: 0, hosts: 0, methods: 0, tokens: 0, others: 0 };
  #requests = 0;
  /** `null`: any, on a Unix socket. */
  #hosts: HostList | null = null;

  /**
   * @param handle called with each allowed request; if it rejects, the answer is 500
   * @throws RangeError for an empty token, or an invalid host to allow
   */
  constructor(options: GuardedServerOptions, handle: (request: IncomingMessage, response: ServerResponse) => unknown) {
    if (options.token === '') throw new RangeError('the token is empty');
    new HostList('localhost', options.allowHosts);
    this.#options = options;
    this.#limits = { ...LIMITS, ...options.limits };
    this.#handle = handle;
    const { connections, headerBytes, requestMs, idleMs } = this.#limits;
    this.#server = createServer(
      {
        maxHeaderSize: headerBytes,
        requestTimeout: requestMs,
        headersTimeout: requestMs,
        keepAliveTimeout: idleMs,
        connectionsCheckingInterval: CHECK_MS,
      },
      (request, response) => this.#take(request, response),
    );
    this.#server.maxConnections = connections;
    this.#server.maxHeadersCount = MOST_HEADERS;
    this.#server.on('connection', (socket) => this.#admit(socket));
    this.#server.on('drop', () => {
      this.#refused.connections++;
    });
  }

  /** @throws the system's error (rejects) if it cannot listen */
  async listen(address: ListenAddress): Promise<void> {
    const isPath = 'path' in address;
    this.#hosts = isPath ? null : new HostList(address.host, this.#options.allowHosts);
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(address, () => {
        this.#server.off('error', reject);
        resolve();
      });
    });
  }

  /** Where it listens: the port that the system chose for port 0. `null` on a Unix socket. */
  get address(): { readonly host: string; readonly port: number } | null {
    const address = this.#server.address() as AddressInfo | string | null;
    return address === null || typeof address === 'string' ? null : { host: address.address, port: address.port };
  }

  totals(): GuardTotals {
    return { requests: this.#requests, refused: { ...this.#refused } };
  }

  /**
   * Stops listening, and closes all connections.
   * @param graceMs time for answers under way. Default 1000
   */
  async close(graceMs: number = CLOSE_MS): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#server.closeIdleConnections();
    const limit = setTimeout(() => this.#server.closeAllConnections(), graceMs);
    await closed;
    clearTimeout(limit);
  }

  #admit(socket: Socket): void {
    // All connections of a Unix socket count as one address.
    const address = socket.remoteAddress ?? '';
    const open = this.#perAddress.get(address) ?? 0;
    if (open >= this.#limits.connectionsPerAddress) {
      this.#refused.connections++;
      socket.destroy();
      return;
    }
    this.#perAddress.set(address, open + 1);
    const asked: Asked = { total: 0, open: 0, limit: undefined };
    this.#asked.set(socket, asked);
    socket.once('close', () => {
      clearTimeout(asked.limit);
      const left = this.#perAddress.get(address)! - 1;
      if (left > 0) this.#perAddress.set(address, left);
      else this.#perAddress.delete(address);
    });
  }

  #take(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    const asked = this.#asked.get(socket)!;
    asked.total++;
    if (asked.total > this.#limits.requestsPerConnection) {
      // The answer before announced the end of the connection and closes it. Nothing more is read.
      socket.pause();
      return;
    }
    if (asked.total === this.#limits.requestsPerConnection) response.setHeader('connection', 'close');
    this.#limitTime(asked, socket, response);
    if (!this.#isAllowed(request, response)) return;
    this.#requests++;
    void (async () => this.#handle(request, response))().catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else reply(response, 500, TEXT, `${error instanceof Error ? error.message : String(error)}\n`);
    });
  }

  /** Limits the time for all answers under way of a connection. Pipelining gives no extra time. */
  #limitTime(asked: Asked, socket: Socket, response: ServerResponse): void {
    if (++asked.open === 1) {
      asked.limit = setTimeout(() => {
        this.#refused.others++;
        socket.destroy();
      }, this.#limits.answerMs);
    }
    response.once('close', () => {
      if (--asked.open === 0) clearTimeout(asked.limit);
    });
  }

  /** Whether the handler may answer a request. If not, answers with the error. */
  #isAllowed(request: IncomingMessage, response: ServerResponse): boolean {
    const { method = '', headers, socket } = request;
    const isRead = method === 'GET' || method === 'HEAD';
    if (!this.#isOwnName(request, socket)) {
      this.#refused.hosts++;
      return turnAway(response, 403, 'This server does not go by that name. Its options can allow more names.\n');
    }
    if (isRead) {
      if (headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0) return true;
      this.#refused.others++;
      return turnAway(response, 413, 'A request that reads has no body.\n');
    }
    const { token } = this.#options;
    if (token === undefined) {
      this.#refused.methods++;
      response.setHeader('allow', 'GET, HEAD');
      return turnAway(response, 405, 'GET and HEAD only.\n');
    }
    if (isSame(headers.authorization ?? '', `Bearer ${token}`)) return true;
    this.#refused.tokens++;
    response.setHeader('www-authenticate', 'Bearer');
    return turnAway(response, 401, 'Changes need the token: Authorization: Bearer TOKEN\n');
  }

  #isOwnName({ url = '', headersDistinct }: IncomingMessage, { localAddress }: Socket): boolean {
    if (this.#hosts === null) return true;
    // A request may name the host a second time, in its first line.
    const inUrl = /^[a-z]+:\/\/([^/?#]*)/i.exec(url)?.[1];
    const names = [...(headersDistinct.host ?? []), ...(inUrl === undefined ? [] : [inUrl])];
    return names.length > 0 && names.every((name) => this.#hosts!.allows(name, localAddress));
  }
}

/** Answers with a complete body. Does nothing if the client has gone. */
export function reply(response: ServerResponse, status: number, type: string, body: string | Uint8Array): void {
  if (response.destroyed || response.req.socket.destroyed) return;
  response.writeHead(status, {
    'content-type': type,
    'content-length': typeof body === 'string' ? Buffer.byteLength(body) : body.length,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  });
  response.end(response.req.method === 'HEAD' ? undefined : body);
}

/** Answers with an error and closes the connection without reading further input. */
function turnAway(response: ServerResponse, status: number, text: string): false {
  response.setHeader('connection', 'close');
  reply(response, status, TEXT, text);
  return false;
}

/** Compares in constant time. */
function isSame(a: string, b: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}
