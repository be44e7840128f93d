const BRAND: unique symbol = /* @__PURE__ */ Symbol.for('@int/dashboard.ApiError') as never;

/** Codes of refusals: closed. Append, never rename. */
export const API_CODES = [
  'ERR_HOST',
  'ERR_ORIGIN',
  'ERR_TOKEN',
  'ERR_METHOD',
  'ERR_BODY',
  'ERR_BODY_TYPE',
  'ERR_BODY_TOO_LARGE',
  'ERR_JSON',
  'ERR_RATE',
  'ERR_NOT_FOUND',
  'ERR_PARAMETER',
  'ERR_FILTER',
  'ERR_READ_ONLY',
  'ERR_RULES',
  'ERR_CONFLICT',
  'ERR_QUERY',
  'ERR_UNAVAILABLE',
  'ERR_TOO_MANY',
  'ERR_MESSAGE',
  'ERR_INTERNAL',
  'ERR_QUERY_MEMORY',
  'ERR_ORDER',
] as const;
export type ApiCode = (typeof API_CODES)[number];

/** A request that cannot be answered: becomes an `ErrorAnswer`. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  readonly code: ApiCode;
  readonly at: { readonly line: number; readonly column: number } | undefined;

  constructor(status: number, code: ApiCode, message: string, at?: { readonly line: number; readonly column: number }) {
    super(message);
    this.status = status;
    this.code = code;
    this.at = at;
    Object.defineProperty(this, BRAND, { value: true });
  }

  /** Works across the ESM and the CommonJS copy of this package, where `instanceof` does not. */
  static is(value: unknown): value is ApiError {
    return typeof value === 'object' && value !== null && BRAND in value;
  }
}
