import type { Layer, Problem } from './model.js';

const BRAND: unique symbol = /* @__PURE__ */ Symbol.for('@int/codec.CodecError') as never;

/**
 * Thrown by the comfort API when bytes cannot be decoded or an object cannot be encoded.
 *
 * `offset` counts bytes from the start of what was handed in. Wrong arguments (a wrong type, a number out of range that
 * the caller chose) are a TypeError or RangeError instead.
 */
export class CodecError extends Error implements Problem {
  override readonly name = 'CodecError';
  readonly code: string;
  readonly layer: Layer;
  readonly offset: number;

  constructor(code: string, layer: Layer, offset: number, message: string) {
    super(`${layer} at byte ${offset}: ${message}`);
    this.code = code;
    this.layer = layer;
    this.offset = offset;
    Object.defineProperty(this, BRAND, { value: true });
  }

  /** Works across the ESM and the CommonJS copy of this package, where `instanceof` does not. */
  static is(value: unknown): value is CodecError {
    return typeof value === 'object' && value !== null && BRAND in value;
  }
}
