import { ErrorReply } from '@redis/client';

const BRAND: unique symbol = /* @__PURE__ */ Symbol.for('@int/sink-redis.RedisSinkError') as never;

/** Codes of {@link RedisSinkError}; appended to, never renamed. */
export type RedisSinkErrorCode =
  /** No connection: refused, reset, closed, unknown host, too many clients. */
  | 'ERR_REDIS_CONNECTION'
  /** The server did not answer in time. */
  | 'ERR_REDIS_TIMEOUT'
  /** NOAUTH, WRONGPASS: a user name or password is missing or wrong. */
  | 'ERR_REDIS_AUTH'
  /** NOPERM: the user may not run a required command, or not on these keys. */
  | 'ERR_REDIS_DENIED'
  /** LOADING, MASTERDOWN: the server has just started, or a replica waits for its master. */
  | 'ERR_REDIS_LOADING'
  /** BUSY: another script occupies the server. */
  | 'ERR_REDIS_BUSY'
  /** READONLY: the server is a replica. */
  | 'ERR_REDIS_READONLY'
  /** OOM: `maxmemory` is reached and nothing may be evicted. */
  | 'ERR_REDIS_OUT_OF_MEMORY'
  /** MISCONF: the server cannot write to its disk and refuses changes. */
  | 'ERR_REDIS_DISK'
  /** NOREPLICAS: fewer replicas than `min-replicas-to-write`. */
  | 'ERR_REDIS_REPLICAS'
  /** MOVED, CROSSSLOT, CLUSTERDOWN: this is a Redis Cluster. */
  | 'ERR_REDIS_CLUSTER'
  /** A key has the wrong type, or a hash field is not a number: these records were not written. */
  | 'ERR_REDIS_REFUSED'
  /** Another sink uses the same writer id and has taken over; this one has ended. */
  | 'ERR_REDIS_FENCED'
  /** The server has lost acknowledged records. */
  | 'ERR_REDIS_LOST'
  /** An unexpected reply that has no other code. */
  | 'ERR_REDIS_UNEXPECTED';

/** A problem between a sink and its server, for `onProblem`. The client's or server's own error is `cause`. */
export class RedisSinkError extends Error {
  override readonly name = 'RedisSinkError';
  readonly code: RedisSinkErrorCode;

  constructor(code: RedisSinkErrorCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
    Object.defineProperty(this, BRAND, { value: true });
  }

  /** Recognises errors of both the ESM and the CommonJS copy of this package; `instanceof` does not. */
  static is(value: unknown): value is RedisSinkError {
    return typeof value === 'object' && value !== null && BRAND in value;
  }
}

/** First words of error replies. */
const REPLIES: Readonly<Record<string, RedisSinkErrorCode>> = {
  NOAUTH: 'ERR_REDIS_AUTH',
  WRONGPASS: 'ERR_REDIS_AUTH',
  NOPERM: 'ERR_REDIS_DENIED',
  LOADING: 'ERR_REDIS_LOADING',
  MASTERDOWN: 'ERR_REDIS_LOADING',
  BUSY: 'ERR_REDIS_BUSY',
  READONLY: 'ERR_REDIS_READONLY',
  OOM: 'ERR_REDIS_OUT_OF_MEMORY',
  MISCONF: 'ERR_REDIS_DISK',
  NOREPLICAS: 'ERR_REDIS_REPLICAS',
  MOVED: 'ERR_REDIS_CLUSTER',
  ASK: 'ERR_REDIS_CLUSTER',
  TRYAGAIN: 'ERR_REDIS_CLUSTER',
  CROSSSLOT: 'ERR_REDIS_CLUSTER',
  CLUSTERDOWN: 'ERR_REDIS_CLUSTER',
  WRONGTYPE: 'ERR_REDIS_REFUSED',
};

/** Whether the server has dropped a script, which it may do at any time. */
export function isNoScript(error: unknown): boolean {
  return error instanceof ErrorReply && error.message.startsWith('NOSCRIPT');
}

/** Converts an error of the client or the server into a RedisSinkError with its code. */
export function toSinkError(error: unknown): RedisSinkError {
  if (RedisSinkError.is(error)) return error;
  const message = error instanceof Error ? error.message || error.name : String(error);
  // If a host has several addresses, as localhost may, the error is an AggregateError without a message.
  const first = error instanceof AggregateError && error.message === '' ? String(error.errors[0]) : message;
  if (!(error instanceof ErrorReply)) return new RedisSinkError('ERR_REDIS_CONNECTION', first, error);
  const word = /^[A-Z]+/.exec(message)?.[0] ?? '';
  const known = Object.hasOwn(REPLIES, word) ? REPLIES[word] : undefined;
  if (known !== undefined) return new RedisSinkError(known, message, error);
  // These replies begin with the general word ERR.
  if (/max number of clients/.test(message)) return new RedisSinkError('ERR_REDIS_CONNECTION', message, error);
  if (/^ERR (AUTH|Client sent AUTH|invalid password)/.test(message)) {
    return new RedisSinkError('ERR_REDIS_AUTH', message, error);
  }
  if (/^ERR .*user executing the script/.test(message)) return new RedisSinkError('ERR_REDIS_DENIED', message, error);
  return new RedisSinkError('ERR_REDIS_UNEXPECTED', message, error);
}
