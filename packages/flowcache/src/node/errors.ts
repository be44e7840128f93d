const BRAND: unique symbol = /* @__PURE__ */ Symbol.for('@int/flowcache.ShardError') as never;

/** Codes of {@link ShardError}; appended to, never renamed. */
export type ShardErrorCode =
  /** The worker could not start: its file is missing, memory is short, or the snapshot to restore is damaged. */
  | 'ERR_SHARD_START'
  /** The worker ended by itself. What was in its cache and on the way to it counts as lost. */
  | 'ERR_SHARD_FAILED'
  /** The worker has been stopped before it could do what was asked. */
  | 'ERR_SHARD_STOPPED'
  /** Too many requests are unanswered: a thousand. */
  | 'ERR_SHARD_BUSY'
  /** The worker could not do what was asked, and goes on: see `cause`. */
  | 'ERR_SHARD_REQUEST';

/** A worker of a sharded cache could not do its work. */
export class ShardError extends Error {
  override readonly name = 'ShardError';
  readonly code: ShardErrorCode;
  /** Number of the shard. */
  readonly shard: number;

  constructor(code: ShardErrorCode, shard: number, message: string, cause?: unknown) {
    super(`shard ${shard}: ${message}`, cause === undefined ? undefined : { cause });
    this.code = code;
    this.shard = shard;
    Object.defineProperty(this, BRAND, { value: true });
  }

  /** Works across the ESM and the CommonJS copy of this package, where `instanceof` does not. */
  static is(value: unknown): value is ShardError {
    return typeof value === 'object' && value !== null && BRAND in value;
  }
}
