const BRAND: unique symbol = /* @__PURE__ */ Symbol.for('@int/network.NetworkError') as never;

/** What is wrong with a description of a network, and where. */
export interface NetworkProblem {
  /** Keys from the root of the description: `['units', 'hopLatency']`. */
  readonly path: readonly (string | number)[];
  /** What was found, and what was expected. */
  readonly message: string;
}

/** A device profile or a topology that cannot be used. All problems found are in `problems`; the message lists them. */
export class NetworkError extends Error {
  override readonly name = 'NetworkError';
  readonly code = 'ERR_NETWORK';
  /** At least one. */
  readonly problems: readonly NetworkProblem[];

  constructor(problems: readonly NetworkProblem[]) {
    super(problems.map(({ path, message }) => `${path.join('.')}: ${message}`).join('\n'));
    this.problems = problems;
    Object.defineProperty(this, BRAND, { value: true });
  }

  /** Works across the ESM and the CommonJS copy of this package, where `instanceof` does not. */
  static is(value: unknown): value is NetworkError {
    return typeof value === 'object' && value !== null && BRAND in value;
  }
}
