const BRAND: unique symbol = /* @__PURE__ */ Symbol.for('@int/dart.DartStoreError') as never;

/** Error codes of a store's directory. */
export type DartStoreErrorCode =
  /** The directory was made with another geometry or other hashes. */
  | 'ERR_DART_MISMATCH'
  /** A file was written by a version of this package that this one does not know. */
  | 'ERR_DART_VERSION'
  /** A required file is missing or damaged. */
  | 'ERR_DART_DAMAGED'
  /** Another process, or another object in this one, has the directory open. */
  | 'ERR_DART_LOCKED'
  /** `@duckdb/node-api`, which reads and writes the history, is not installed. */
  | 'ERR_DART_NO_DUCKDB'
  /** The history could not be read or written. */
  | 'ERR_DART_HISTORY'
  /** A checkpoint could not be written. */
  | 'ERR_DART_CHECKPOINT'
  /** The store has been closed. */
  | 'ERR_DART_CLOSED'
  /** There is no store in the directory. */
  | 'ERR_DART_NO_STORE';

/** Thrown if a store's directory cannot be used as requested. */
export class DartStoreError extends Error {
  override readonly name = 'DartStoreError';
  readonly code: DartStoreErrorCode;
  /** The file or directory concerned; null if none. */
  readonly path: string | null;

  constructor(code: DartStoreErrorCode, message: string, path: string | null = null, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.path = path;
    Object.defineProperty(this, BRAND, { value: true });
  }

  /** Recognises errors of both the ESM and the CommonJS copy of this package; `instanceof` does not. */
  static is(value: unknown): value is DartStoreError {
    return typeof value === 'object' && value !== null && BRAND in value;
  }
}
