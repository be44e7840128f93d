const BRAND = 'GatewayError';

/** A socket of a gateway could not be opened; `cause` is the system's error. */
export class GatewayError extends Error {
  override readonly name = BRAND;
  readonly code = 'SOCKET';
  /** Switch whose socket it is. */
  readonly entry: number;

  constructor(entry: number, message: string, cause: unknown) {
    super(message, { cause });
    this.entry = entry;
  }

  /** Whether `value` is an error of this class, of any copy of this package. */
  static is(value: unknown): value is GatewayError {
    return value instanceof Error && value.name === BRAND && (value as Partial<GatewayError>).code === 'SOCKET';
  }
}
