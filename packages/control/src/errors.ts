const BRAND: unique symbol = /* @__PURE__ */ Symbol.for('@int/control.IntentError') as never;
const MEMORY_BRAND: unique symbol = /* @__PURE__ */ Symbol.for('@int/control.ControllerMemoryError') as never;

/** Codes of what can be wrong with intents. */
export type IntentErrorCode =
  | 'ERR_INTENT_TYPE'
  | 'ERR_INTENT_KIND'
  | 'ERR_INTENT_FIELD'
  | 'ERR_INTENT_VALUE'
  | 'ERR_INTENT_DUPLICATE';

/** What is wrong with an intent, and where. */
export interface IntentProblem {
  readonly code: IntentErrorCode;
  /** Keys from the root: `[2, 'match', 'source']`. */
  readonly path: readonly (string | number)[];
  /** What was found, and what was expected. */
  readonly message: string;
}

/** Intents that cannot be read. All problems found are in `problems`; the message lists them, `code` is that of the first. */
export class IntentError extends Error {
  override readonly name = 'IntentError';
  readonly code: IntentErrorCode;
  /** At least one. */
  readonly problems: readonly IntentProblem[];

  constructor(problems: readonly IntentProblem[]) {
    super(problems.map(({ path, message }) => `${path.join('.')}: ${message}`).join('\n'));
    this.problems = problems;
    this.code = problems[0]?.code ?? 'ERR_INTENT_VALUE';
    Object.defineProperty(this, BRAND, { value: true });
  }

  /** Works across the ESM and the CommonJS copy of this package, where `instanceof` does not. */
  static is(value: unknown): value is IntentError {
    return typeof value === 'object' && value !== null && BRAND in value;
  }
}

/** What a controller knew before a restart cannot be read. */
export class ControllerMemoryError extends Error {
  override readonly name = 'ControllerMemoryError';
  readonly code: 'ERR_MEMORY_DAMAGED' | 'ERR_MEMORY_VERSION';

  constructor(code: ControllerMemoryError['code'], message: string) {
    super(message);
    this.code = code;
    Object.defineProperty(this, MEMORY_BRAND, { value: true });
  }

  /** Works across the ESM and the CommonJS copy of this package, where `instanceof` does not. */
  static is(value: unknown): value is ControllerMemoryError {
    return typeof value === 'object' && value !== null && MEMORY_BRAND in value;
  }
}
