const BRAND: unique symbol = /* @__PURE__ */ Symbol.for('@int/pcap.CaptureError') as never;

/** Codes of errors in a capture. */
export type CaptureErrorCode =
  /** Neither pcap nor pcapng, or a section header without a byte-order magic. */
  | 'ERR_CAPTURE_MAGIC'
  /** A format version, or reserved bits, that this reader does not know. */
  | 'ERR_CAPTURE_VERSION'
  /** A length field that contradicts another, or is not a multiple of four as required. */
  | 'ERR_CAPTURE_LENGTH'
  /** A frame, block or number of interfaces beyond the reader's limits. */
  | 'ERR_CAPTURE_TOO_LARGE'
  /** The capture ends inside a header, record or block. */
  | 'ERR_CAPTURE_TRUNCATED'
  /** Malformed interface options, or a time that does not fit 64 bits of nanoseconds. */
  | 'ERR_CAPTURE_BLOCK'
  /** A frame of an interface that the section has not described. */
  | 'ERR_CAPTURE_INTERFACE'
  /** Compressed data that are damaged or cut short (only from `@int/pcap/node`). */
  | 'ERR_CAPTURE_GZIP';

/**
 * Thrown for a capture that cannot be read further. Wrong arguments cause a TypeError or RangeError instead.
 *
 * `offset` is the position of the wrong field in bytes from the start of the capture; for `ERR_CAPTURE_TRUNCATED`, the
 * position of the incomplete record or block. For `ERR_CAPTURE_GZIP` it counts compressed bytes: those before the
 * piece, of at most 16 KiB, that cannot be decompressed; all bytes if the data are cut short.
 */
export class CaptureError extends Error {
  override readonly name = 'CaptureError';

  constructor(
    readonly code: CaptureErrorCode,
    readonly offset: number,
    message: string,
    options?: { readonly cause?: unknown },
  ) {
    super(`${message} (${code} at byte ${offset})`, options);
    Object.defineProperty(this, BRAND, { value: true });
  }

  /** Works across the ESM and the CommonJS copy of this package, where `instanceof` does not. */
  static is(value: unknown): value is CaptureError {
    return typeof value === 'object' && value !== null && BRAND in value;
  }
}
