const BRAND: unique symbol = /* @__PURE__ */ Symbol.for('@int/flowcache.FlowCacheError') as never;

/** Codes of {@link FlowCacheError}; appended to, never renamed. */
export type FlowCacheErrorCode =
  /** Memory or a snapshot does not begin with the header of a cache of this version, or is not all there. */
  | 'ERR_FLOW_CACHE_HEADER'
  /** A view found no moment at which the owner was not writing. */
  | 'ERR_FLOW_CACHE_BUSY'
  /** A snapshot ends too early. */
  | 'ERR_SNAPSHOT_TRUNCATED'
  /** A snapshot goes on behind its end. */
  | 'ERR_SNAPSHOT_TRAILING'
  /** A snapshot's checksum is wrong. */
  | 'ERR_SNAPSHOT_CHECKSUM'
  /** A snapshot holds an entry that cannot be where it is. */
  | 'ERR_SNAPSHOT_ENTRY';

/** Memory or a snapshot that cannot be read as a flow cache. */
export class FlowCacheError extends Error {
  override readonly name = 'FlowCacheError';
  readonly code: FlowCacheErrorCode;
  /** Snapshots: the byte at which reading stopped. */
  readonly offset: number | null;

  constructor(code: FlowCacheErrorCode, message: string, offset: number | null = null) {
    super(offset === null ? message : `${message} (byte ${offset})`);
    this.code = code;
    this.offset = offset;
    Object.defineProperty(this, BRAND, { value: true });
  }

  /** Works across the ESM and the CommonJS copy of this package, where `instanceof` does not. */
  static is(value: unknown): value is FlowCacheError {
    return typeof value === 'object' && value !== null && BRAND in value;
  }
}
