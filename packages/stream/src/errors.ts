const BRAND: unique symbol = /* @__PURE__ */ Symbol.for('@int/stream.StreamError') as never;

/** Why bytes are refused. */
export const STREAM_ERROR_CODES = [
  /** The bytes end too early. */
  'ERR_STREAM_TRUNCATED',
  /** A number or a length that cannot be. */
  'ERR_STREAM_MALFORMED',
  /** Another version of the layout. */
  'ERR_STREAM_VERSION',
  /** State of a side with other options, or of another kind. */
  'ERR_STREAM_MISMATCH',
  /** More than the side has room for. */
  'ERR_STREAM_CAPACITY',
] as const;
export type StreamErrorCode = (typeof STREAM_ERROR_CODES)[number];

/** Thrown for partials and state that cannot be read. `offset` counts bytes from the start of what was handed in. */
export class StreamError extends Error {
  override readonly name = 'StreamError';
  readonly code: StreamErrorCode;
  readonly offset: number;

  constructor(code: StreamErrorCode, offset: number, message: string) {
    super(`byte ${offset}: ${message}`);
    this.code = code;
    this.offset = offset;
    Object.defineProperty(this, BRAND, { value: true });
  }

  /** Works across the ESM and the CommonJS copy of this package, where `instanceof` does not. */
  static is(value: unknown): value is StreamError {
    return typeof value === 'object' && value !== null && BRAND in value;
  }
}
