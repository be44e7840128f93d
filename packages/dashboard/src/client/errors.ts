import type { ErrorAnswer } from '../protocol/http.js';

const BRAND: unique symbol = /* @__PURE__ */ Symbol.for('@int/dashboard.RequestError') as never;

/** Codes of the client itself; all others are the server's. */
type RequestErrorCode = 'ERR_UNREACHABLE' | 'ERR_ANSWER' | (string & {});

/** What the server refused, or that it could not be reached. */
export class RequestError extends Error {
  override readonly name = 'RequestError';
  /** The server's code; `ERR_UNREACHABLE` if there is no answer, `ERR_ANSWER` if it is not the server's. */
  readonly code: RequestErrorCode;
  /** HTTP status; 0: no answer. */
  readonly status: number;
  /** Where in the text that was sent, from 1. */
  readonly at: { readonly line: number; readonly column: number } | null;

  constructor(message: string, code: string, status: number, at: RequestError['at'], options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
    this.status = status;
    this.at = at;
    Object.defineProperty(this, BRAND, { value: true });
  }

  /** Works across the ESM and the CommonJS copy of this package, where `instanceof` does not. */
  static is(value: unknown): value is RequestError {
    return typeof value === 'object' && value !== null && BRAND in value;
  }
}

/** The error that an answer says, or one that says that it is no answer of this server. */
export function errorOf(status: number, body: unknown): RequestError {
  const error = (body as Partial<ErrorAnswer> | null)?.error;
  if (typeof error?.code === 'string' && typeof error.message === 'string') {
    return new RequestError(error.message, error.code, status, error.at ?? null);
  }
  return new RequestError(`the server answered ${status}`, 'ERR_ANSWER', status, null);
}
