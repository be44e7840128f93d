const BRAND: unique symbol = /* @__PURE__ */ Symbol.for('@int/p4runtime.TextFormatError') as never;

/** Codes of {@link TextFormatError}. */
export type TextFormatErrorCode =
  /** A character, token or end of the text where something else is needed. */
  | 'ERR_TEXT_SYNTAX'
  /** A field, enum member or type that the message does not have. */
  | 'ERR_TEXT_UNKNOWN'
  /** A value of the wrong kind, or out of the field's range. */
  | 'ERR_TEXT_VALUE'
  /** A field that is given twice, or two fields of a oneof. */
  | 'ERR_TEXT_TWICE'
  /** More nested messages than are read. */
  | 'ERR_TEXT_DEPTH';

/** A text that is no message of the wanted type. */
export class TextFormatError extends Error {
  override readonly name = 'TextFormatError';

  /**
   * @param offset in UTF-16 units from the start of the text
   * @param line from 1
   * @param column in UTF-16 units, from 1
   */
  constructor(
    readonly code: TextFormatErrorCode,
    message: string,
    readonly offset: number,
    readonly line: number,
    readonly column: number,
  ) {
    super(`${line}:${column}: ${message}`);
    Object.defineProperty(this, BRAND, { value: true });
  }

  /** Works across the ESM and the CommonJS copy of this package, where `instanceof` does not. */
  static is(value: unknown): value is TextFormatError {
    return typeof value === 'object' && value !== null && BRAND in value;
  }
}
