const BRAND: unique symbol = /* @__PURE__ */ Symbol.for('@int/p4runtime.P4RuntimeError') as never;

/** Codes of {@link P4RuntimeError}. */
export type P4RuntimeErrorCode =
  /** A value that its field cannot hold. */
  | 'ERR_P4RUNTIME_VALUE'
  /** A match that its field does not take, or fields that are missing. */
  | 'ERR_P4RUNTIME_MATCH'
  /** The switch refused a request, or some updates of it. */
  | 'ERR_P4RUNTIME_REFUSED'
  /** The client is not the primary of its role. */
  | 'ERR_P4RUNTIME_NOT_PRIMARY'
  /** No connection, or it broke. */
  | 'ERR_P4RUNTIME_CONNECTION'
  /** The client does not accept the switch's certificate, or the switch that of the client. The message has the reason's name. */
  | 'ERR_P4RUNTIME_CERTIFICATE'
  /** No answer in time. */
  | 'ERR_P4RUNTIME_TIMEOUT'
  /** The client is closed. */
  | 'ERR_P4RUNTIME_CLOSED'
  /** An answer of the switch that P4Runtime does not allow. */
  | 'ERR_P4RUNTIME_ANSWER';

/** The answer to one update that was refused. */
export interface UpdateError {
  /** Position in the list of updates that was written. */
  readonly index: number;
  /** Canonical code of gRPC, such as 6 for ALREADY_EXISTS. */
  readonly grpcCode: number;
  /** Such as `ALREADY_EXISTS`. */
  readonly grpcName: string;
  readonly message: string;
  /** Who gave `targetCode`. */
  readonly space: string;
  readonly targetCode: number;
}

/** What a client of P4Runtime could not do. */
export class P4RuntimeError extends Error {
  override readonly name = 'P4RuntimeError';
  /** Canonical code of gRPC of the whole request, if the switch gave one. */
  readonly grpcCode: number | undefined;
  /** Such as `PERMISSION_DENIED`. */
  readonly grpcName: string | undefined;
  /** Updates of the request that were refused, by their position. */
  readonly updates: readonly UpdateError[];

  constructor(
    readonly code: P4RuntimeErrorCode,
    message: string,
    {
      cause,
      grpcCode,
      grpcName,
      updates = [],
    }: {
      readonly cause?: unknown;
      readonly grpcCode?: number;
      readonly grpcName?: string;
      readonly updates?: readonly UpdateError[];
    } = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.grpcCode = grpcCode;
    this.grpcName = grpcName;
    this.updates = updates;
    Object.defineProperty(this, BRAND, { value: true });
  }

  /** Works across the ESM and the CommonJS copy of this package, where `instanceof` does not. */
  static is(value: unknown): value is P4RuntimeError {
    return typeof value === 'object' && value !== null && BRAND in value;
  }
}
