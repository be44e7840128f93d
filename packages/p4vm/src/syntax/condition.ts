import type { Diagnostics } from '../source/diagnostics.js';
import type { Span } from '../source/position.js';
import { describeToken, isWord, type Token } from './tokens.js';

const MAX_NESTING = 100;
/** Most digits of a number. Its value is cut to 64 bits. */
const MAX_DIGITS = 256;

type Operation = (left: bigint, right: bigint) => bigint;

const truth = (value: boolean): bigint => (value ? 1n : 0n);

/** The operators of two numbers, those that bind weakest first. */
const LEVELS: readonly Readonly<Record<string, Operation>>[] = [
  { '||': (left, right) => truth(left !== 0n || right !== 0n) },
  { '&&': (left, right) => truth(left !== 0n && right !== 0n) },
  { '|': (left, right) => left | right },
  { '^': (left, right) => left ^ right },
  { '&': (left, right) => left & right },
  { '==': (left, right) => truth(left === right), '!=': (left, right) => truth(left !== right) },
  {
    '<': (left, right) => truth(left < right),
    '>': (left, right) => truth(left > right),
    '<=': (left, right) => truth(left <= right),
    '>=': (left, right) => truth(left >= right),
  },
  { '<<': shift, '>>': (left, right) => shift(left, -right) },
  { '+': (left, right) => left + right, '-': (left, right) => left - right },
  { '*': (left, right) => left * right, '/': (left, right) => left / right, '%': (left, right) => left % right },
];

class BadCondition extends Error {
  constructor(
    readonly code: string,
    readonly span: Span,
    message: string,
  ) {
    super(message);
  }
}

/** Evaluates the tokens of one `#if`, macros already expanded, as C does: integers of 64 bits, unknown names are 0. */
class ConditionEvaluator {
  #at = 0;
  #depth = 0;

  constructor(
    readonly tokens: readonly Token[],
    readonly line: Span,
  ) {}

  run(): bigint {
    if (this.tokens.length === 0) throw new BadCondition('bad-condition', this.line, 'a condition is missing');
    const value = this.#conditional(true);
    const rest = this.tokens[this.#at];
    if (rest !== undefined) throw this.#unexpected(rest);
    return value;
  }

  #unexpected(token: Token | undefined): BadCondition {
    const found = token === undefined ? 'the end of the line' : describeToken(token);
    return new BadCondition('bad-condition', token?.span ?? this.line, `unexpected ${found} in a condition`);
  }

  #operator(): string | undefined {
    const token = this.tokens[this.#at];
    if (token?.kind === '>' && token.joined && this.tokens[this.#at + 1]?.kind === '>') return '>>';
    return token?.kind;
  }

  #expect(kind: string): void {
    const token = this.tokens[this.#at];
    if (token?.kind !== kind) throw this.#unexpected(token);
    this.#at++;
  }

  #enter(): void {
    if (++this.#depth > MAX_NESTING) {
      const span = this.tokens[this.#at]?.span ?? this.line;
      throw new BadCondition('nesting-too-deep', span, 'a condition nested too deep');
    }
  }

  #conditional(live: boolean): bigint {
    this.#enter();
    const condition = this.#binary(0, live);
    let value = condition;
    if (this.#operator() === '?') {
      this.#at++;
      const whenTrue = this.#conditional(live && condition !== 0n);
      this.#expect(':');
      const whenFalse = this.#conditional(live && condition === 0n);
      value = condition !== 0n ? whenTrue : whenFalse;
    }
    this.#depth--;
    return value;
  }

  #binary(level: number, live: boolean): bigint {
    const operators = LEVELS[level];
    if (operators === undefined) return this.#unary(live);
    let left = this.#binary(level + 1, live);
    for (;;) {
      const operator = this.#operator() ?? '';
      if (!Object.hasOwn(operators, operator)) return left;
      const { span } = this.tokens[this.#at]!;
      this.#at += operator === '>>' ? 2 : 1;
      const needed = live && !(operator === '&&' && left === 0n) && !(operator === '||' && left !== 0n);
      const right = this.#binary(level + 1, needed);
      if (needed && right === 0n && (operator === '/' || operator === '%')) {
        throw new BadCondition('division-by-zero', span, 'division by zero in a condition');
      }
      left = needed ? BigInt.asIntN(64, operators[operator]!(left, right)) : left === 0n ? 0n : 1n;
    }
  }

  #unary(live: boolean): bigint {
    const token = this.tokens[this.#at];
    const operator = token?.kind;
    if (operator === '-' || operator === '+' || operator === '~' || operator === '!') {
      this.#enter();
      this.#at++;
      const value = this.#unary(live);
      this.#depth--;
      if (operator === '-') return BigInt.asIntN(64, -value);
      if (operator === '~') return ~value;
      return operator === '!' ? (value === 0n ? 1n : 0n) : value;
    }
    if (operator === '(') {
      this.#at++;
      const value = this.#conditional(live);
      this.#expect(')');
      return value;
    }
    if (token === undefined) throw this.#unexpected(token);
    this.#at++;
    if (isWord(token)) return 0n;
    if (token.text.length > MAX_DIGITS || token.problem?.code === 'number-too-large') {
      throw new BadCondition('number-too-large', token.span, 'a number too large for a condition');
    }
    const value = numberOf(token.text);
    if (value === undefined || (token.kind !== 'integer' && token.kind !== 'bad')) throw this.#unexpected(token);
    return BigInt.asIntN(64, value);
  }
}

/** A number as C writes it: a leading zero means octal, and suffixes of `u` and `l` are ignored. */
function numberOf(text: string): bigint | undefined {
  const digits = text.replace(/_/g, '').replace(/[uUlL]+$/, '');
  if (/^0[0-7]+$/.test(digits)) return BigInt(`0o${digits.slice(1)}`);
  if (/^(?:[0-9]+|0[xX][0-9a-fA-F]+|0[oO][0-7]+|0[bB][01]+)$/.test(digits)) return BigInt(digits.toLowerCase());
  return undefined;
}

/** Shifts to the left by `by`, to the right if it is negative. Amounts beyond the width shift out all bits. */
function shift(value: bigint, by: bigint): bigint {
  if (by >= 0n) return by > 63n ? 0n : value << by;
  return by < -63n ? (value < 0n ? -1n : 0n) : value >> -by;
}

/** Whether the condition of an `#if` holds. A condition that cannot be evaluated is reported and counts as false. */
export function evaluateCondition(tokens: readonly Token[], line: Span, diagnostics: Diagnostics): boolean {
  try {
    return new ConditionEvaluator(tokens, line).run() !== 0n;
  } catch (error) {
    if (!(error instanceof BadCondition)) throw error;
    diagnostics.error('preprocessor', error.code, error.span, error.message);
    return false;
  }
}
