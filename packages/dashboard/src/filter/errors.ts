const BRAND: unique symbol = /* @__PURE__ */ Symbol.for('@int/dashboard.FilterError') as never;

/** Part of a text, in UTF-16 units: the character `start` is the first, `end` the first behind it. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Thrown for a filter that cannot be read. */
export class FilterError extends Error {
  override readonly name = 'FilterError';
  readonly code = 'ERR_FILTER';
  /** Where in the text the mistake is. */
  readonly span: Span;

  constructor(message: string, span: Span) {
    super(message);
    this.span = { start: span.start, end: span.end };
    Object.defineProperty(this, BRAND, { value: true });
  }

  /** Works across the ESM and the CommonJS copy of this package, where `instanceof` does not. */
  static is(value: unknown): value is FilterError {
    return typeof value === 'object' && value !== null && BRAND in value;
  }
}
