const BRAND: unique symbol = /* @__PURE__ */ Symbol.for('@int/sink-opensearch.OpenSearchSinkError') as never;

/** Codes of {@link OpenSearchSinkError}; appended to, never renamed. */
export type OpenSearchSinkErrorCode =
  /** No connection, or it broke: refused, reset, unknown host, a certificate that is not accepted. */
  | 'ERR_OPENSEARCH_CONNECTION'
  /** The server did not answer in time. */
  | 'ERR_OPENSEARCH_TIMEOUT'
  /** 401, 403: credentials are missing, wrong, or do not allow this. */
  | 'ERR_OPENSEARCH_AUTH'
  /** 429, 500, 502, 503, 504: the server has too much to do, is starting, or has lost a shard. */
  | 'ERR_OPENSEARCH_BUSY'
  /** An index does not accept writes, as when the server's disk is full. */
  | 'ERR_OPENSEARCH_BLOCKED'
  /** The server refuses these records for good: their mapping or index is wrong. They are dropped. */
  | 'ERR_OPENSEARCH_REJECTED'
  /** The index templates could not be installed. Records are written without them. */
  | 'ERR_OPENSEARCH_TEMPLATE'
  /** An answer that none of the above explains: perhaps it is another server. */
  | 'ERR_OPENSEARCH_UNEXPECTED';

/** A failure between a sink and its server, for `onProblem`. An error of the system is `cause`. */
export class OpenSearchSinkError extends Error {
  override readonly name = 'OpenSearchSinkError';
  readonly code: OpenSearchSinkErrorCode;

  constructor(code: OpenSearchSinkErrorCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
    Object.defineProperty(this, BRAND, { value: true });
  }

  /** Works across the ESM and the CommonJS copy of this package, where `instanceof` does not. */
  static is(value: unknown): value is OpenSearchSinkError {
    return typeof value === 'object' && value !== null && BRAND in value;
  }
}

/** Gives an error of the system its code. */
export function toSinkError(error: unknown): OpenSearchSinkError {
  if (OpenSearchSinkError.is(error)) return error;
  const first = error instanceof AggregateError && error.message === '' ? error.errors[0] : error;
  const message = first instanceof Error ? first.message || first.name : String(first);
  return new OpenSearchSinkError('ERR_OPENSEARCH_CONNECTION', message, error);
}
