/** What is wrong with a directory of a store. */
export type DartStoreErrorCode =
  /** The directory was made with another geometry or other hashes. */
  | 'MISMATCH'
  /** A file was written by a version of this package that this one does not know. */
  | 'VERSION'
  /** A file that has to be there, and whole, is not. */
  | 'DAMAGED'
  /** Another process, or another object in this one, has the directory open. */
  | 'LOCKED'
  /** `@duckdb/node-api`, which reads and writes the history, is not installed. */
  | 'NO_DUCKDB'
  /** The history could not be read or written. */
  | 'HISTORY'
  /** A checkpoint could not be written. */
  | 'CHECKPOINT'
  /** The store has been closed. */
  | 'CLOSED'
  /** There is no store in the directory. */
  | 'NO_STORE';

/** A directory of a store that cannot be used as it was asked for. */
export class DartStoreError extends Error {
  readonly code: DartStoreErrorCode;
  /** The file or directory it is about; null if none. */
  readonly path: string | null;

  constructor(code: DartStoreErrorCode, message: string, path: string | null = null, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'DartStoreError';
    this.code = code;
    this.path = path;
  }
}
