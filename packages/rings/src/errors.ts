const BRAND: unique symbol = /* @__PURE__ */ Symbol.for('@int/rings.RingError') as never;

/** Codes of {@link RingError}; appended to, never renamed. */
export type RingErrorCode =
  /** The memory ends before the header or before the last record does. */
  | 'ERR_RING_TRUNCATED'
  /** The memory does not begin with `GNRI`: not a ring, a ring not ready yet, or one of the other byte order. */
  | 'ERR_RING_MAGIC'
  /** A ring of another version. */
  | 'ERR_RING_VERSION'
  /** A record size or a capacity out of range, or a check word that does not fit them. */
  | 'ERR_RING_GEOMETRY'
  /** More records in the ring than its capacity, fewer records pushed than popped, or a count above 2^53 - 1. */
  | 'ERR_RING_INDICES'
  /** A flag, a counter of lost records or an unused word has a value that it never takes. */
  | 'ERR_RING_STATE';

/** Thrown for memory that is not a ring, or a header that was overwritten. */
export class RingError extends Error {
  override readonly name = 'RingError';

  /** @param offset offset of the wrong word, in bytes from the start of the ring; for missing memory, its end */
  constructor(
    readonly code: RingErrorCode,
    readonly offset: number,
    message: string,
  ) {
    super(`${message} (byte ${offset})`);
    Object.defineProperty(this, BRAND, { value: true });
  }

  /** Recognises errors of both the ESM and the CommonJS copy of this package; `instanceof` does not. */
  static is(value: unknown): value is RingError {
    return typeof value === 'object' && value !== null && BRAND in value;
  }
}
