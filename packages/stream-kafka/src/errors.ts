/** What a {@link ProcessError} is about. */
export const PROCESS_CODES = {
  /** No broker answered. */
  UNREACHABLE: 'unreachable',
  /** A topic has too few partitions, or could not be made. */
  TOPIC: 'topic',
  /** A request was refused or took too long. */
  REQUEST: 'request',
  /** Another processor has taken the partition over. */
  FENCED: 'fenced',
  /** State that was read back is not what this version writes. */
  STATE: 'state',
} as const;
export type ProcessCode = (typeof PROCESS_CODES)[keyof typeof PROCESS_CODES];

/** What a {@link Processor} throws, and what it tells of while it runs. */
export class ProcessError extends Error {
  override readonly name = 'ProcessError';
  readonly code: ProcessCode;

  constructor(code: ProcessCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** The message of whatever was thrown, with that of the broker where there is one, in one line. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const inner = innermost(error);
  const text = inner === error ? error.message : inner.message || error.message;
  return text.split('\n', 1)[0]!.replace(/\.$/, '');
}

/** The first error at the bottom of nested ones: the broker's word, not that of the layers above it. */
function innermost(error: Error, depth = 0): Error {
  if (depth > 8) return error;
  if (error instanceof AggregateError) {
    const last = error.errors[error.errors.length - 1];
    if (last instanceof Error) return innermost(last, depth + 1);
  }
  if (error.cause instanceof Error) return innermost(error.cause, depth + 1);
  return error;
}
