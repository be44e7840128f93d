const BRAND: unique symbol = /* @__PURE__ */ Symbol.for('@int/p4runtime.P4InfoError') as never;

/** Codes of {@link P4InfoError}. */
export type P4InfoErrorCode =
  /** An `@id` has the prefix of another kind of object. */
  | 'ERR_P4INFO_ID_PREFIX'
  /** Two objects, or two members of an object, have the same `@id`. */
  | 'ERR_P4INFO_ID_TWICE'
  /** An `@id` is not from 1 to 4294967295. */
  | 'ERR_P4INFO_ID_RANGE'
  /** An annotation that P4Info needs has no value, or one of another kind. */
  | 'ERR_P4INFO_ANNOTATION'
  /** A type has no counterpart in P4Info. */
  | 'ERR_P4INFO_TYPE'
  /** A name, alias or id that P4Info does not have. */
  | 'ERR_P4INFO_UNKNOWN'
  /** A name that several objects have. */
  | 'ERR_P4INFO_AMBIGUOUS';

/** A program that P4Info cannot describe, or a question that a P4Info cannot answer. */
export class P4InfoError extends Error {
  override readonly name = 'P4InfoError';

  constructor(
    readonly code: P4InfoErrorCode,
    message: string,
  ) {
    super(message);
    Object.defineProperty(this, BRAND, { value: true });
  }

  /** Works across the ESM and the CommonJS copy of this package, where `instanceof` does not. */
  static is(value: unknown): value is P4InfoError {
    return typeof value === 'object' && value !== null && BRAND in value;
  }
}
