const BRAND: unique symbol = /* @__PURE__ */ Symbol.for('@int/metrics.MetricsServerError') as never;

/** The server cannot listen. The system's own error is `cause`. */
export class MetricsServerError extends Error {
  override readonly name = 'MetricsServerError';
  readonly code = 'ERR_METRICS_LISTEN';
  /** The requested `HOST:PORT`. */
  readonly address: string;

  constructor(address: string, reason: string, cause: unknown) {
    super(`cannot open ${address}: ${reason}`, { cause });
    this.address = address;
    Object.defineProperty(this, BRAND, { value: true });
  }

  /** Recognises errors of both the ESM and the CommonJS copy of this package; `instanceof` does not. */
  static is(value: unknown): value is MetricsServerError {
    return typeof value === 'object' && value !== null && BRAND in value;
  }
}
