const BRAND: unique symbol = /* @__PURE__ */ Symbol.for('@int/flowcache.DistributionError') as never;

export const DISTRIBUTION_ERROR_CODES = [
  /** Metrics that are unknown, named twice, none or too many. */
  'ERR_DISTRIBUTION_METRICS',
  /** Bins that are empty, reversed, no integers, beyond 32 bits or too many; bins of a metric that is not followed. */
  'ERR_DISTRIBUTION_BINS',
  /** A number of switches or a seed out of range, or more memory than a table of words can address. */
  'ERR_DISTRIBUTION_SIZE',
  /** A buffer that is too small, or an offset that is not a multiple of 8. */
  'ERR_DISTRIBUTION_BUFFER',
  /** Attaching: the buffer ends before the distributions do. */
  'ERR_DISTRIBUTION_TRUNCATED',
  /** Attaching: no distributions. */
  'ERR_DISTRIBUTION_MAGIC',
  /** Attaching: distributions of another layout version. */
  'ERR_DISTRIBUTION_VERSION',
  /** Attaching: a word of the header that does not fit the others. */
  'ERR_DISTRIBUTION_LAYOUT',
  /** Attaching: a table of switches that contradicts itself. */
  'ERR_DISTRIBUTION_TABLE',
  /** Attaching: a counter that holds no count. */
  'ERR_DISTRIBUTION_COUNT',
  /** Merging: other metrics, or other bins. */
  'ERR_DISTRIBUTION_OTHER_BINS',
  /** Merging: switches that there is no room for. */
  'ERR_DISTRIBUTION_SWITCHES',
] as const;
export type DistributionErrorCode = (typeof DISTRIBUTION_ERROR_CODES)[number];

/** Distributions that cannot be made, attached to, or merged. */
export class DistributionError extends RangeError {
  override readonly name = 'DistributionError';
  readonly code: DistributionErrorCode;
  /** Attaching: the byte, from the start of the buffer, at which the defect is. Else `null`. */
  readonly offset: number | null;

  constructor(code: DistributionErrorCode, message: string, offset: number | null = null) {
    super(offset === null ? message : `at byte ${offset}: ${message}`);
    this.code = code;
    this.offset = offset;
    Object.defineProperty(this, BRAND, { value: true });
  }

  /** Works across the ESM and the CommonJS copy of this package, where `instanceof` does not. */
  static is(value: unknown): value is DistributionError {
    return typeof value === 'object' && value !== null && BRAND in value;
  }
}

/** @throws DistributionError if a value is no integer of its range */
export function checkedInteger(
  code: DistributionErrorCode,
  name: string,
  value: unknown,
  least: number,
  most: number,
): number {
  if (Number.isInteger(value) && (value as number) >= least && (value as number) <= most) return value as number;
  throw new DistributionError(code, `${name} must be an integer from ${least} to ${most}, not ${String(value)}`);
}
