const BRAND: unique symbol = /* @__PURE__ */ Symbol.for('@int/netsim.GatewayError') as never;

/** The failure to open a socket of a gateway. `cause` is the system's error. */
export class GatewayError extends Error {
  override readonly name = 'GatewayError';
  readonly code = 'ERR_GATEWAY_SOCKET';

  /** @param entry the socket's switch */
  constructor(
    readonly entry: number,
    message: string,
    cause: unknown,
  ) {
    super(message, { cause });
    Object.defineProperty(this, BRAND, { value: true });
  }

  /** Works across the ESM and the CommonJS copy of this package, where `instanceof` does not. */
  static is(value: unknown): value is GatewayError {
    return typeof value === 'object' && value !== null && BRAND in value;
  }
}
