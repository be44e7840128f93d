import type { RuleProblemCode } from '../errors.js';
import type { Span } from './model.js';

const BRAND: unique symbol = /* @__PURE__ */ Symbol.for('@int/detect.ExpressionError') as never;

/** An expression that cannot be parsed or compiled. */
export class ExpressionError extends Error {
  override readonly name = 'ExpressionError';
  /** `BAD_EXPRESSION`, `EXPRESSION_TOO_LARGE`, `UNKNOWN_METRIC`, or what is wrong with a constant. */
  readonly code: RuleProblemCode;
  /** Where in the text, in characters (UTF-16 code units). */
  readonly span: Span;

  constructor(code: RuleProblemCode, message: string, span: Span, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.code = code;
    this.span = { start: span.start, end: span.end };
    Object.defineProperty(this, BRAND, { value: true });
  }

  /** Works across the ESM and the CommonJS copy of this package, where `instanceof` does not. */
  static is(value: unknown): value is ExpressionError {
    return typeof value === 'object' && value !== null && BRAND in value;
  }
}
