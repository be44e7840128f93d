const BRAND: unique symbol = /* @__PURE__ */ Symbol.for('@int/stream.StreamError') as never;

/** Reasons for refusing bytes. */
export const STREAM_ERROR_CODES = [
  /** The bytes end too early. */
  'ERR_STREAM_TRUNCATED',
  /** An impossible number or length. */
  'ERR_STREAM_MALFORMED',
  /** Another version of the layout. */
  'ERR_STREAM_VERSION',
  /** State of another kind of side, or of a side with other options. */
  'ERR_STREAM_MISMATCH',
  /** More entries than the side has room for. */
  'ERR_STREAM_CAPACITY',
] as const;
export type StreamErrorCode = (typeof STREAM_ERROR_CODES)[number];

/** Thrown for invalid partials and state. `offset` counts bytes from the start of the input. */
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

  /** Recognises errors of both the ESM and the CommonJS copy of this package; `instanceof` does not. */
  static is(value: unknown): value is StreamError {
    return typeof value === 'object' && value !== null && BRAND in value;
  }
}
