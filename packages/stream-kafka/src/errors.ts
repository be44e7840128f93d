const BRAND: unique symbol = /* @__PURE__ */ Symbol.for('@int/stream-kafka.ProcessError') as never;

/** Codes of {@link ProcessError}. */
export const PROCESS_CODES = {
  /** No broker answered. */
  UNREACHABLE: 'ERR_PROCESS_UNREACHABLE',
  /** A topic has too few partitions, or could not be made. */
  TOPIC: 'ERR_PROCESS_TOPIC',
  /** A request was refused or took too long. */
  REQUEST: 'ERR_PROCESS_REQUEST',
  /** Another processor has taken over the partition. */
  FENCED: 'ERR_PROCESS_FENCED',
  /** The stored state is not of this version. */
  STATE: 'ERR_PROCESS_STATE',
} as const;
export type ProcessCode = (typeof PROCESS_CODES)[keyof typeof PROCESS_CODES];

/** Errors that a {@link Processor} throws or reports. */
export class ProcessError extends Error {
  override readonly name = 'ProcessError';
  readonly code: ProcessCode;

  constructor(code: ProcessCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    Object.defineProperty(this, BRAND, { value: true });
  }

  /** Recognises errors of both the ESM and the CommonJS copy of this package; `instanceof` does not. */
  static is(value: unknown): value is ProcessError {
    return typeof value === 'object' && value !== null && BRAND in value;
  }
}

/** Thrown to abort work on a partition that this process no longer owns. */
export class Revoked extends Error {
  override readonly name = 'Revoked';
}

/** The message of an error in one line, with the broker's message, if there is one. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const inner = innermost(error);
  const text = inner === error ? error.message : inner.message || error.message;
  return text.split('\n', 1)[0]!.replace(/\.$/, '');
}

/** The innermost of nested errors: that of the broker, not of the layers above it. */
function innermost(error: Error, depth = 0): Error {
  if (depth > 8) return error;
  if (error instanceof AggregateError) {
    const last = error.errors[error.errors.length - 1];
    if (last instanceof Error) return innermost(last, depth + 1);
  }
  if (error.cause instanceof Error) return innermost(error.cause, depth + 1);
  return error;
}
