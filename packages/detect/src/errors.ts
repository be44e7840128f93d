const BRAND: unique symbol = /* @__PURE__ */ Symbol.for('@int/detect.RulesError') as never;

/** What is wrong with a rule, and where in the object or file that describes it. */
export interface RuleProblem {
  /** Short and stable, such as `UNKNOWN_METRIC`; for programs. */
  readonly code: RuleProblemCode;
  /** Keys and indices from the root of the rules: `['rules', 0, 'detect', 'perHop', 'metric']`. */
  readonly path: readonly (string | number)[];
  /** What was found, and what was expected. */
  readonly message: string;
  /** Characters from the start of the text at `path`: the piece of an expression that is wrong. */
  readonly span?: { readonly start: number; readonly end: number };
  /** 1-based; only of rules read from text. */
  readonly line?: number;
  /** 1-based, in characters. */
  readonly column?: number;
  /** Another place that belongs to the problem, such as the rule that hides this one. */
  readonly other?: { readonly path: readonly (string | number)[]; readonly line?: number; readonly column?: number };
}

export const RULE_PROBLEM_CODES = [
  /** The text is no YAML. */
  'SYNTAX',
  /** A key that means nothing here. */
  'UNKNOWN_KEY',
  /** A key that must be there. */
  'MISSING_KEY',
  /** Not the expected type: text for a number, a list for a mapping. */
  'WRONG_TYPE',
  /** A value out of its range or not one of the choices. */
  'BAD_VALUE',
  'UNKNOWN_METRIC',
  /** A quantity that cannot be read. */
  'BAD_QUANTITY',
  /** A unit that does not fit the metric. */
  'WRONG_UNIT',
  /** A quantity with a unit, of a metric whose scale `units` does not declare. */
  'UNDECLARED_UNIT',
  /** A quantity that must be a whole number of device units and is none, or does not fit into 32 bits. */
  'INEXACT_QUANTITY',
  'BAD_ADDRESS',
  'BAD_PORT',
  'BAD_MAC',
  'DUPLICATE_NAME',
  /** Two rules of equal priority that can both match. */
  'OVERLAP',
  /** An expression that cannot be parsed. */
  'BAD_EXPRESSION',
  /** The conjunctive normal form of an expression exceeds the data plane's limits. */
  'EXPRESSION_TOO_LARGE',
  /** The detector has no room for so many rules, or so many kinds of state. */
  'CAPACITY',
  /** A warning: a rule that never decides, because another one matches all that it matches. */
  'UNREACHABLE',
] as const;
export type RuleProblemCode = (typeof RULE_PROBLEM_CODES)[number];

function place(problem: RuleProblem): string {
  if (problem.line !== undefined) return `${problem.line}:${problem.column ?? 1}: `;
  const path = problem.path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${key}`)).join('');
  return path === '' ? '' : `${path.replace(/^\./, '')}: `;
}

/** Rules that cannot be used. `problems` has all problems found; the message lists them. */
export class RulesError extends Error {
  override readonly name = 'RulesError';
  readonly code = 'ERR_RULES';
  /** At least one. */
  readonly problems: readonly RuleProblem[];

  constructor(problems: readonly RuleProblem[]) {
    super(problems.map((problem) => place(problem) + problem.message).join('\n'));
    this.problems = problems;
    Object.defineProperty(this, BRAND, { value: true });
  }

  /** Works across the ESM and the CommonJS copy of this package, where `instanceof` does not. */
  static is(value: unknown): value is RulesError {
    return typeof value === 'object' && value !== null && BRAND in value;
  }
}
