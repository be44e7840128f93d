const BRAND: unique symbol = /* @__PURE__ */ Symbol.for('@int/knowledge.ConnLogError') as never;

/** Thrown for a line of a flow log that is no connection. */
export class ConnLogError extends Error {
  override readonly name = 'ConnLogError';
  readonly code = 'ERR_CONN_LOG';
  /** Number of the line, from 1. */
  readonly line: number;

  constructor(message: string, line: number) {
    super(`line ${line}: ${message}`);
    this.line = line;
    Object.defineProperty(this, BRAND, { value: true });
  }

  /** Works across the ESM and the CommonJS copy of this package, where `instanceof` does not. */
  static is(value: unknown): value is ConnLogError {
    return typeof value === 'object' && value !== null && BRAND in value;
  }
}
