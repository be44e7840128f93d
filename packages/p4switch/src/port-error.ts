const BRAND: unique symbol = /* @__PURE__ */ Symbol.for('@int/p4switch.PortError') as never;

/** Codes of {@link PortError}; appended to, never renamed. */
export type PortErrorCode =
  /** A UDP socket could not be bound, or its other side is no address. */
  | 'ERR_PORT_SOCKET'
  /** A capture could not be opened. */
  | 'ERR_PORT_CAPTURE'
  /** The switch has a port of this number already, or the number is out of range. */
  | 'ERR_PORT_NUMBER';

/** A port could not be opened or added. */
export class PortError extends Error {
  override readonly name = 'PortError';
  readonly code: PortErrorCode;

  constructor(code: PortErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    Object.defineProperty(this, BRAND, { value: true });
  }

  /** Works across the ESM and the CommonJS copy of this package, where `instanceof` does not. */
  static is(value: unknown): value is PortError {
    return typeof value === 'object' && value !== null && BRAND in value;
  }
}
