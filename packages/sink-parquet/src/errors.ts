import type { LeftOutFile } from './history/verification.js';

const BRAND: unique symbol = /* @__PURE__ */ Symbol.for('@int/sink-parquet.ParquetSinkError') as never;
const HISTORY_BRAND: unique symbol = /* @__PURE__ */ Symbol.for('@int/sink-parquet.HistoryError') as never;

/** Codes of {@link ParquetSinkError}; appended to, never renamed. */
export type ParquetSinkErrorCode =
  /** The folder of the store cannot be made, read or written. */
  | 'ERR_PARQUET_DIRECTORY'
  /** The disk is full, or a quota is reached. */
  | 'ERR_PARQUET_FULL'
  /** The disk failed in another way. */
  | 'ERR_PARQUET_DISK'
  /** The embedded engine refused: the message says what. */
  | 'ERR_PARQUET_ENGINE'
  /** A file of the store is damaged, and was set aside. */
  | 'ERR_PARQUET_DAMAGED';

/** A failure to write a file, for `onProblem`, or to open a sink. `cause` is the first error. */
export class ParquetSinkError extends Error {
  override readonly name = 'ParquetSinkError';
  readonly code: ParquetSinkErrorCode;

  constructor(code: ParquetSinkErrorCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
    Object.defineProperty(this, BRAND, { value: true });
  }

  /** Works across the ESM and the CommonJS copy of this package, where `instanceof` does not. */
  static is(value: unknown): value is ParquetSinkError {
    return typeof value === 'object' && value !== null && BRAND in value;
  }
}

/** Codes of {@link HistoryError}; appended to, never renamed. */
export type HistoryErrorCode =
  /** The folder of the store is not there or cannot be read. */
  | 'ERR_HISTORY_STORE'
  /** The text is not valid SQL, or names an unknown table, column or function. */
  | 'ERR_HISTORY_SQL'
  /** The text is not one statement that only reads. */
  | 'ERR_HISTORY_READ_ONLY'
  /** The query was understood and failed: a value out of range, memory, a file that is no Parquet. */
  | 'ERR_HISTORY_FAILED'
  /** {@link History.interrupt} or {@link History.close} ended the query. */
  | 'ERR_HISTORY_INTERRUPTED'
  /** Files that the query needs are damaged. */
  | 'ERR_HISTORY_DAMAGED';

/** Why a query gave no result. */
export class HistoryError extends Error {
  override readonly name = 'HistoryError';
  readonly code: HistoryErrorCode;
  /** Position of the syntax error in the text, in characters from 0; `null` if unknown. */
  readonly offset: number | null;
  /** With `ERR_HISTORY_DAMAGED`: the files. */
  readonly damaged: readonly LeftOutFile[];

  constructor(
    code: HistoryErrorCode,
    message: string,
    offset: number | null = null,
    cause?: unknown,
    damaged: readonly LeftOutFile[] = [],
  ) {
    super(message, { cause });
    this.code = code;
    this.offset = offset;
    this.damaged = damaged;
    Object.defineProperty(this, HISTORY_BRAND, { value: true });
  }

  /** Works across the ESM and the CommonJS copy of this package, where `instanceof` does not. */
  static is(value: unknown): value is HistoryError {
    return typeof value === 'object' && value !== null && HISTORY_BRAND in value;
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Gives an error of the file system or of the engine its code. */
export function toSinkError(error: unknown, doing: string): ParquetSinkError {
  if (ParquetSinkError.is(error)) return error;
  const message = messageOf(error);
  const text = `${doing}: ${message}`;
  const code = (error as NodeJS.ErrnoException | null)?.code ?? '';
  // The engine reports file system errors only as text.
  if (
    code === 'ENOSPC' ||
    code === 'EDQUOT' ||
    code === 'EFBIG' ||
    /No space left|quota exceeded|File too large/i.test(message)
  ) {
    return new ParquetSinkError('ERR_PARQUET_FULL', text, error);
  }
  if (
    ['ENOENT', 'EACCES', 'EPERM', 'ENOTDIR', 'EROFS'].includes(code) ||
    /Permission denied|Read-only|No such file/.test(message)
  ) {
    return new ParquetSinkError('ERR_PARQUET_DIRECTORY', text, error);
  }
  if (code !== '' || /^IO Error/.test(message)) return new ParquetSinkError('ERR_PARQUET_DISK', text, error);
  return new ParquetSinkError('ERR_PARQUET_ENGINE', text, error);
}
