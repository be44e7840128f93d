const BRAND: unique symbol = /* @__PURE__ */ Symbol.for('@int/traffic.TopologyError') as never;

/** Code of a refused topology text. */
export type TopologyErrorCode = 'ERR_TOPOLOGY_UNKNOWN' | 'ERR_TOPOLOGY_SIZE' | 'ERR_TOPOLOGY_RANGE';

/**
 * The error for a topology text that this package cannot build.
 *
 * `offset` is the position of the wrong part in UTF-16 code units from the start of the text.
 */
export class TopologyError extends Error {
  override readonly name = 'TopologyError';

  constructor(
    readonly code: TopologyErrorCode,
    readonly offset: number,
    message: string,
  ) {
    super(message);
    Object.defineProperty(this, BRAND, { value: true });
  }

  /** Works across the ESM and the CommonJS copy of this package, where `instanceof` does not. */
  static is(value: unknown): value is TopologyError {
    return typeof value === 'object' && value !== null && BRAND in value;
  }
}
