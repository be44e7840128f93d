import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Denial, isSame } from '@int/collector/http';

/** Requests of an address: so many at once, and so many a second in the long run. */
const BURST = 300;
const PER_SECOND = 100;
/** Tries to log in, in the same way. */
const LOGIN_BURST = 10;
const LOGIN_PER_SECOND = 0.2;
/** Addresses that are told apart. */
const MOST_ADDRESSES = 4096;
/** Sessions at a time, and how long one lasts. */
const MOST_SESSIONS = 256;
const SESSION_MS = 12 * 3600 * 1000;
const COOKIE = 'int_dashboard';
/** What a request may need before anybody has logged in. */
const OPEN_PATHS: ReadonlySet<string> = /* @__PURE__ */ new Set(['/login', '/login.css', '/icon.svg']);
/** Bytes of a body. */
export const MOST_BODY = 1 << 20;

/** A bucket of tokens per address, of which the oldest are forgotten. */
class RateLimit {
  readonly #burst: number;
  readonly #perSecond: number;
  readonly #left = new Map<string, { tokens: number; atMs: number }>();

  constructor(burst: number, perSecond: number) {
    this.#burst = burst;
    this.#perSecond = perSecond;
  }

  /** Takes one, if there is one. */
  take(address: string, nowMs: number): boolean {
    let own = this.#left.get(address);
    if (own === undefined) {
      if (this.#left.size >= MOST_ADDRESSES) this.#left.delete(this.#left.keys().next().value!);
      own = { tokens: this.#burst, atMs: nowMs };
      this.#left.set(address, own);
    }
    own.tokens = Math.min(this.#burst, own.tokens + ((nowMs - own.atMs) / 1000) * this.#perSecond);
    own.atMs = nowMs;
    if (own.tokens < 1) return false;
    own.tokens--;
    return true;
  }
}

export const pathOf = ({ url = '/' }: IncomingMessage): string =>
  url.replace(/^[a-z]+:\/\/[^/?#]*/i, '').replace(/[?#].*$/s, '') || '/';

const isRead = ({ method }: IncomingMessage): boolean => method === 'GET' || method === 'HEAD';

/** Who may ask for what. */
export class Access {
  readonly #token: string | null;
  readonly #isTls: boolean;
  readonly #requests = new RateLimit(BURST, PER_SECOND);
  readonly #logins = new RateLimit(LOGIN_BURST, LOGIN_PER_SECOND);
  /** Session -> when it ends. */
  readonly #sessions = new Map<string, number>();

  /** @param token `null`: none is needed */
  constructor(token: string | null, isTls: boolean) {
    this.#token = token;
    this.#isTls = isTls;
  }

  get needsToken(): boolean {
    return this.#token !== null;
  }

  /** Why a request is refused; `null`: it is not. */
  readonly admit = (request: IncomingMessage): Denial | null => {
    const address = request.socket.remoteAddress ?? '';
    if (!this.#requests.take(address, Date.now())) return TOO_FAST;
    return foreign(request) ?? body(request) ?? this.#stranger(request);
  };

  /** Whether the address may try a token now. */
  mayTry(request: IncomingMessage): boolean {
    return this.#logins.take(request.socket.remoteAddress ?? '', Date.now());
  }

  /** Begins a session, if the token is right. */
  logIn(token: string, request: IncomingMessage, response: ServerResponse): boolean {
    if (this.#token === null || !isSame(token, this.#token)) return false;
    const now = Date.now();
    for (const [session, ends] of this.#sessions) if (ends <= now) this.#sessions.delete(session);
    if (this.#sessions.size >= MOST_SESSIONS) this.#sessions.delete(this.#sessions.keys().next().value!);
    const session = randomBytes(32).toString('base64url');
    this.#sessions.set(session, now + SESSION_MS);
    response.setHeader('set-cookie', this.#cookie(session, SESSION_MS / 1000, request));
    return true;
  }

  logOut(request: IncomingMessage, response: ServerResponse): void {
    const session = sessionOf(request);
    if (session !== null) this.#sessions.delete(session);
    response.setHeader('set-cookie', this.#cookie('', 0, request));
  }

  /** A proxy that ends TLS says so; a client that only claims it gets a cookie that it does not send back. */
  #cookie(session: string, seconds: number, { headers }: IncomingMessage): string {
    const isSecure = this.#isTls || headers['x-forwarded-proto'] === 'https';
    return `${COOKIE}=${session}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${seconds}${isSecure ? '; Secure' : ''}`;
  }

  #stranger(request: IncomingMessage): Denial | null {
    if (this.#token === null || (OPEN_PATHS.has(pathOf(request)) && request.headers.upgrade === undefined)) return null;
    const { authorization } = request.headers;
    if (authorization !== undefined) return isSame(authorization, `Bearer ${this.#token}`) ? null : WRONG_TOKEN;
    const session = sessionOf(request);
    if (session !== null && (this.#sessions.get(session) ?? 0) > Date.now()) return null;
    const wantsPage = isRead(request) && !pathOf(request).startsWith('/api/');
    return wantsPage ? LOG_IN : NO_TOKEN;
  }
}

function sessionOf({ headers: { cookie = '' } }: IncomingMessage): string | null {
  for (const part of cookie.split(';')) {
    const [name, value] = part.trim().split('=', 2);
    if (name === COOKIE && value !== undefined) return value;
  }
  return null;
}

/**
 * A page of another site may send requests with the user's cookie or from the user's machine. Browsers say where a request comes
 * from; other programs say nothing, and are not tricked by pages.
 */
function foreign(request: IncomingMessage): Denial | null {
  const { origin, host = '', 'sec-fetch-site': site, 'sec-fetch-mode': mode } = request.headers;
  if (origin !== undefined) return isOwn(origin, host) ? null : FOREIGN;
  if (site === undefined || site === 'same-origin' || site === 'none') return null;
  // A link from elsewhere may open the page.
  const isLink = isRead(request) && mode === 'navigate' && !pathOf(request).startsWith('/api/');
  return isLink ? null : FOREIGN;
}

function isOwn(origin: string, host: string): boolean {
  try {
    const { host: from, protocol } = new URL(origin);
    // Browsers leave out a port that is usual for the protocol; so they do in Host.
    return from === new URL(`${protocol}//${host}`).host;
  } catch {
    return false;
  }
}

function body(request: IncomingMessage): Denial | null {
  const { headers } = request;
  const length = Number(headers['content-length'] ?? 0);
  if (isRead(request)) return headers['transfer-encoding'] === undefined && length === 0 ? null : UNWANTED_BODY;
  if (request.method !== 'POST' && request.method !== 'PUT' && request.method !== 'DELETE') return METHOD;
  return length > MOST_BODY ? LARGE_BODY : null;
}

const TOO_FAST: Denial = {
  status: 429,
  code: 'ERR_RATE',
  message: 'Too many requests: try again in a second.',
  headers: { 'retry-after': '1' },
};
const FOREIGN: Denial = { status: 403, code: 'ERR_ORIGIN', message: 'Pages of other sites may not ask this server.' };
const UNWANTED_BODY: Denial = { status: 413, code: 'ERR_BODY', message: 'A request that reads has no body.' };
const LARGE_BODY: Denial = {
  status: 413,
  code: 'ERR_BODY_TOO_LARGE',
  message: `A body has at most ${MOST_BODY} bytes.`,
};
const METHOD: Denial = {
  status: 405,
  code: 'ERR_METHOD',
  message: 'There are GET, HEAD, POST, PUT and DELETE.',
  headers: { allow: 'GET, HEAD, POST, PUT, DELETE' },
  counts: 'methods',
};
const TOKEN_HEADERS = { 'www-authenticate': 'Bearer' } as const;
const NO_TOKEN: Denial = {
  status: 401,
  code: 'ERR_TOKEN',
  message: 'This needs the token: Authorization: Bearer TOKEN, or a session of /login.',
  headers: TOKEN_HEADERS,
  counts: 'tokens',
};
const WRONG_TOKEN: Denial = { ...NO_TOKEN, message: 'This is not the token.' };
const LOG_IN: Denial = {
  status: 303,
  code: 'ERR_TOKEN',
  message: 'Log in first.',
  headers: { location: 'login' },
  counts: 'tokens',
};
