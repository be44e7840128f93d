import { createHash, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerOptions, ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
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
  /** Certificate chain and private key, in PEM: the server then speaks TLS only. */
  readonly tls?: { readonly cert: string | Uint8Array; readonly key: string | Uint8Array };
  /**
   * Who may ask for what, instead of the rule for {@link token} and for bodies. Called with each request that names the server
   * rightly, also one to change to another protocol.
   */
  readonly admit?: (request: IncomingMessage) => Denial | null;
  /** Takes requests to change to another protocol, such as WebSocket. Default: these are refused. */
  readonly upgrade?: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
  /** The form of refusals. Default: plain text, the message. */
  readonly denial?: (denial: Denial) => { readonly type: string; readonly body: string };
}

/** Why a request is refused. */
export interface Denial {
  /** Of HTTP: 400 or more. */
  readonly status: number;
  /** Begins with `ERR_`. */
  readonly code: string;
  /** For people; without a newline at the end. */
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** As what it counts. Default `others`. */
  readonly counts?: keyof GuardTotals['refused'];
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
    const { tls, upgrade } = options;
    const setup: ServerOptions = {
      maxHeaderSize: headerBytes,
      requestTimeout: requestMs,
      headersTimeout: requestMs,
      keepAliveTimeout: idleMs,
      connectionsCheckingInterval: CHECK_MS,
    };
    const take = (request: IncomingMessage, response: ServerResponse): void => this.#take(request, response);
    if (tls === undefined) this.#server = createServer(setup, take);
    else {
      const keys = { cert: asPem(tls.cert), key: asPem(tls.key) };
      this.#server = createTlsServer({ ...setup, ...keys, handshakeTimeout: requestMs }, take);
      this.#server.on('secureConnection', (socket: Socket) => this.#know(socket));
      this.#server.on('tlsClientError', (_, socket: Socket) => {
        this.#refused.others++;
        socket.destroy();
      });
    }
    if (upgrade !== undefined) {
      this.#server.on('upgrade', (request, socket, head) => {
        const denial = this.#denialOf(request);
        if (denial !== null) this.#deny(responseOn(request, socket as Socket), denial);
        else {
          this.#requests++;
          upgrade(request, socket, head);
        }
      });
    }
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
    socket.once('close', () => {
      const left = this.#perAddress.get(address)! - 1;
      if (left > 0) this.#perAddress.set(address, left);
      else this.#perAddress.delete(address);
    });
    // With TLS, requests come from the socket above this one.
    if (this.#options.tls === undefined) this.#know(socket);
  }

  #know(socket: Socket): void {
    const asked: Asked = { total: 0, open: 0, limit: undefined };
    this.#asked.set(socket, asked);
    socket.once('close', () => clearTimeout(asked.limit));
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
    const denial = this.#denialOf(request);
    if (denial !== null) {
      this.#deny(response, denial);
      return;
    }
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

  /** Why the handler may not answer a request; `null`: it may. */
  #denialOf(request: IncomingMessage): Denial | null {
    if (!this.#isOwnName(request, request.socket)) return WRONG_HOST;
    return this.#options.admit === undefined ? this.#ownRule(request) : this.#options.admit(request);
  }

  /** Answers with the error, and closes the connection without reading further input. */
  #deny(response: ServerResponse, denial: Denial): void {
    const { status, message, headers = {}, counts = 'others' } = denial;
    this.#refused[counts]++;
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    response.setHeader('connection', 'close');
    const { type, body } = this.#options.denial?.(denial) ?? { type: TEXT, body: `${message}\n` };
    reply(response, status, type, body);
  }

  /** Reading is free, and changes need the token. */
  #ownRule({ method = '', headers }: IncomingMessage): Denial | null {
    if (method === 'GET' || method === 'HEAD') {
      return headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0 ? null : BODY;
    }
    const { token } = this.#options;
    if (token === undefined) return METHOD;
    return isSame(headers.authorization ?? '', `Bearer ${token}`) ? null : TOKEN;
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

const WRONG_HOST: Denial = {
  status: 403,
  code: 'ERR_HOST',
  message: 'This server does not go by that name. Its options can allow more names.',
  counts: 'hosts',
};
const BODY: Denial = { status: 413, code: 'ERR_BODY', message: 'A request that reads has no body.' };
const METHOD: Denial = {
  status: 405,
  code: 'ERR_METHOD',
  message: 'GET and HEAD only.',
  headers: { allow: 'GET, HEAD' },
  counts: 'methods',
};
const TOKEN: Denial = {
  status: 401,
  code: 'ERR_TOKEN',
  message: 'Changes need the token: Authorization: Bearer TOKEN',
  headers: { 'www-authenticate': 'Bearer' },
  counts: 'tokens',
};

/** A response on the socket of a request that wants another protocol, which has none. */
function responseOn(request: IncomingMessage, socket: Socket): ServerResponse {
  const response = new ServerResponse(request);
  socket.on('error', () => {});
  response.assignSocket(socket);
  response.once('finish', () => socket.end());
  response.once('close', () => socket.destroySoon());
  return response;
}

const asPem = (text: string | Uint8Array): string | Buffer => (typeof text === 'string' ? text : Buffer.from(text));

/** Whether two texts are equal. The time taken tells nothing about them. */
export function isSame(a: string, b: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}
