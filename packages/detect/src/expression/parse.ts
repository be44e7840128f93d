import { isMetricName, METRIC_NAMES, type MetricName } from '@int/codec';
import { nearestName } from '@int/network/internals';
import { ExpressionError } from './errors.js';
import { Lexer, type Token } from './lexer.js';
import {
  AGGREGATES,
  type Aggregate,
  type Expression,
  MAX_NESTING,
  MAX_WRITTEN_CONDITIONS,
  OPERATORS,
  type Operator,
  type Span,
} from './model.js';

/** What other languages write, and what to write here. */
const REPLACEMENTS: ReadonlyMap<string, string> = /* @__PURE__ */ new Map(
  Object.entries({
    '==': ['=', '==='],
    '!=': ['!==', '<>', '\u2260'],
    '<=': ['=<', '\u2264'],
    '>=': ['=>', '\u2265'],
    and: ['&&', '&', '\u2227'],
    or: ['||', '|', '\u2228'],
    not: ['!', '\u00ac'],
    '(': ['[', '{'],
    ')': [']', '}'],
  }).flatMap(([here, others]) => others.map((other): [string, string] => [other, here])),
);
const KEYWORDS: readonly string[] = ['and', 'or', 'not'];
const COMPARISONS = '<, <=, ==, !=, >= or >';
const EXAMPLE = 'max(hopLatency) > 100';
/** Longest piece of the text that a message shows. */
const LONGEST_QUOTE = 60;

/**
 * Parses the text of an expression.
 *
 * ```text
 * expression = term { "or" term }                  term  = factor { "and" factor }
 * factor     = "not" factor | "(" expression ")" | condition
 * condition  = aggregate "(" metric ")" operator quantity | "count" "(" ")" operator quantity
 * aggregate  = "any" | "all" | "sum" | "max" | "min" | "last" | "delta"
 * operator   = "<" | "<=" | "==" | "!=" | ">=" | ">"
 * quantity   = digits [ "." digits ] [ unit ]      unit  = "%" | letters
 * ```
 *
 * Blanks, line ends included, may stand between any two of these. Units stay as written; who compiles the expression
 * interprets them. Spans leave out the parentheses around a part. Groups stay as written: `a and (b and c)` is another
 * tree than `a and b and c`.
 *
 * @throws ExpressionError `BAD_EXPRESSION`, `BAD_QUANTITY` or `UNKNOWN_METRIC` with what to write instead;
 *   `EXPRESSION_TOO_LARGE` beyond 64 levels or 256 conditions
 * @throws TypeError if `text` is no string
 */
export function parseExpression(text: string): Expression {
  if (typeof text !== 'string') throw new TypeError(`an expression is text, not ${typeof text}`);
  return new Parser(text).parse();
}

class Parser {
  readonly #text: string;
  readonly #lexer: Lexer;
  /** End of the piece taken last. */
  #end = 0;
  #conditions = 0;

  constructor(text: string) {
    this.#text = text;
    this.#lexer = new Lexer(text);
  }

  parse(): Expression {
    if (this.#lexer.peek().type === 'end') {
      throw bad(`empty expression: write a condition, such as ${EXAMPLE}`, { start: 0, end: this.#text.length });
    }
    const expression = this.#or(0);
    const rest = this.#lexer.peek();
    if (rest.type === 'end') return expression;
    if (rest.text === ')') throw bad("')' without a '(' before it", rest);
    throw unexpectedAfterCondition(rest, "'and', 'or' or the end");
  }

  #or(depth: number): Expression {
    return this.#joined('or', () => this.#joined('and', () => this.#factor(depth)));
  }

  #joined(type: 'and' | 'or', operand: () => Expression): Expression {
    const { start } = this.#lexer.peek();
    const first = operand();
    if (!isWord(this.#lexer.peek(), type)) return first;
    const operands = [first];
    while (isWord(this.#lexer.peek(), type)) {
      this.#take();
      operands.push(operand());
    }
    return { type, operands, span: { start, end: this.#end } };
  }

  #factor(depth: number): Expression {
    const token = this.#lexer.peek();
    const isNot = isWord(token, 'not');
    if (!isNot && token.text !== '(') return this.#condition();
    if (depth === MAX_NESTING) {
      throw new ExpressionError('EXPRESSION_TOO_LARGE', `more than ${MAX_NESTING} levels of '(' and 'not'`, token);
    }
    this.#take();
    if (isNot) {
      const operand = this.#factor(depth + 1);
      return { type: 'not', operand, span: { start: token.start, end: this.#end } };
    }
    const inner = this.#or(depth + 1);
    const close = this.#lexer.peek();
    if (close.type === 'end') throw bad("'(' is never closed", token);
    if (close.text !== ')') throw unexpectedAfterCondition(close, "'and', 'or' or ')'");
    this.#take();
    return inner;
  }

  #condition(): Expression {
    const name = this.#take();
    const call = this.#lexer.peek();
    if (name.type !== 'name') throw noCondition(name);
    if (call.text !== '(') throw bareName(name);
    const aggregate = aggregateOf(name);
    this.#take();
    const metric = this.#metric(aggregate);
    const written = this.#text.slice(name.start, this.#end);
    const operator = operatorOf(this.#take(), written);
    const quantity = this.#take();
    if (quantity.type !== 'quantity') throw noQuantity(quantity, operator);
    const span = { start: name.start, end: quantity.end };
    this.#conditions++;
    if (this.#conditions > MAX_WRITTEN_CONDITIONS) {
      throw new ExpressionError('EXPRESSION_TOO_LARGE', `more than ${MAX_WRITTEN_CONDITIONS} conditions`, span);
    }
    return {
      type: 'condition',
      aggregate,
      metric,
      operator,
      quantity: { number: quantity.number, unit: quantity.unit },
      span,
      quantitySpan: { start: quantity.start, end: quantity.end },
    };
  }

  /** What stands between the parentheses of an aggregate; takes the closing one, too. */
  #metric(aggregate: Aggregate): MetricName | null {
    const token = this.#take();
    if (aggregate === 'count') {
      if (token.text === ')') return null;
      if (token.type === 'name') throw bad('count() takes no metric: it counts the reports of the flow', token);
      throw bad(`expected ')' after 'count(', found ${describe(token)}`, token);
    }
    if (token.type !== 'name') {
      throw bad(`${aggregate}() needs a metric, such as ${aggregate}(hopLatency); found ${describe(token)}`, token);
    }
    if (!isMetricName(token.text)) {
      const near = nearestName(token.text, METRIC_NAMES);
      const hint = near === null ? `metrics are ${METRIC_NAMES.join(', ')}` : `did you mean '${near}'?`;
      throw new ExpressionError('UNKNOWN_METRIC', `unknown metric ${describe(token)}: ${hint}`, token);
    }
    const close = this.#take();
    if (close.text === ',') throw bad(`${aggregate}() takes one metric; join two conditions with 'and' or 'or'`, close);
    if (close.text !== ')') {
      throw bad(`expected ')' after '${aggregate}(${token.text}', found ${describe(close)}`, close);
    }
    return token.text;
  }

  #take(): Token {
    const token = this.#lexer.next();
    this.#end = token.end;
    return token;
  }
}

/** A piece of text for a message; of long text, its beginning. */
export function quote(text: string): string {
  return `'${text.length > LONGEST_QUOTE ? `${text.slice(0, LONGEST_QUOTE - 3).trimEnd()}...` : text}'`;
}

function bad(message: string, { start, end }: Span): ExpressionError {
  return new ExpressionError('BAD_EXPRESSION', message, { start, end });
}

function isWord(token: Token, word: string): boolean {
  return token.type === 'name' && token.text === word;
}

function describe(token: Token): string {
  if (token.type === 'end') return 'the end';
  if (token.type !== 'stray') return quote(token.text);
  const code = token.text.codePointAt(0)!;
  const number = `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
  // Only characters that can be seen, and no half of a pair: others would make the message unreadable.
  return /^[\p{L}\p{N}\p{P}\p{S}]$/u.test(token.text) ? `'${token.text}' (${number})` : number;
}

/** What to write instead of a symbol of another language or a keyword in upper case; `null`: it is neither. */
function replacementOf(token: Token): string | null {
  if (token.type === 'symbol') return REPLACEMENTS.get(token.text) ?? null;
  const lower = token.text.toLowerCase();
  return token.type === 'name' && token.text !== lower && KEYWORDS.includes(lower) ? lower : null;
}

function writeInstead(token: Token, replacement: string): ExpressionError {
  return bad(`write '${replacement}' instead of ${describe(token)}`, token);
}

function unexpectedAfterCondition(token: Token, expected: string): ExpressionError {
  const replacement = replacementOf(token) ?? token.text;
  if ((OPERATORS as readonly string[]).includes(replacement)) {
    return bad(`a condition has one comparison, found ${describe(token)}: join two conditions with 'and'`, token);
  }
  if (replacement !== token.text) return writeInstead(token, replacement);
  if (isWord(token, 'not')) return bad("expected 'and' or 'or' before 'not'", token);
  return bad(`expected ${expected}, found ${describe(token)}`, token);
}

/** Something that cannot begin a condition. */
function noCondition(token: Token): ExpressionError {
  const replacement = replacementOf(token);
  if (replacement === 'not' || replacement === '(') return writeInstead(token, replacement);
  if (token.type === 'quantity') {
    return bad(`a condition has its constant on the right, as in ${EXAMPLE}; found ${describe(token)} first`, token);
  }
  return bad(`expected a condition, such as ${EXAMPLE}, found ${describe(token)}`, token);
}

/** A word without parentheses where a condition should begin. */
function bareName(token: Token): ExpressionError {
  const { text } = token;
  if (KEYWORDS.includes(text)) return bad(`expected a condition, such as ${EXAMPLE}, found '${text}'`, token);
  const replacement = replacementOf(token);
  if (replacement !== null) return writeInstead(token, replacement);
  if (text === 'count') return bad("write 'count()' instead of 'count'", token);
  if (isAggregate(text)) return bad(`'${text}' needs a metric: write ${text}(hopLatency), for example`, token);
  if (isMetricName(text)) {
    return bad(`'${text}' needs an aggregate: write any(${text}), or ${AGGREGATES_OF_METRICS} in place of any`, token);
  }
  const near = nearestName(text, [...AGGREGATES, ...METRIC_NAMES]);
  const hint = near === null ? `expected a condition, such as ${EXAMPLE}` : `did you mean '${near}'?`;
  return bad(`unknown name ${describe(token)}: ${hint}`, token);
}

const AGGREGATES_OF_METRICS = 'all, sum, max, min, last or delta';

function isAggregate(text: string): text is Aggregate {
  return (AGGREGATES as readonly string[]).includes(text);
}

function aggregateOf(token: Token): Aggregate {
  const { text } = token;
  if (isAggregate(text)) return text;
  const replacement = replacementOf(token);
  if (replacement !== null) throw writeInstead(token, replacement);
  if (KEYWORDS.includes(text)) throw bad(`expected a condition before '${text}'`, token);
  if (isMetricName(text)) throw bad(`'${text}' is a metric: write any(${text}), for example`, token);
  const near = nearestName(text, AGGREGATES);
  const hint = near === null ? `aggregates are ${AGGREGATES.join(', ')}` : `did you mean '${near}'?`;
  throw bad(`unknown aggregate ${describe(token)}: ${hint}`, token);
}

function operatorOf(token: Token, left: string): Operator {
  const operator = OPERATORS.find((each) => each === token.text);
  if (operator !== undefined) return operator;
  const replacement = replacementOf(token);
  if (replacement !== null && (OPERATORS as readonly string[]).includes(replacement)) {
    throw writeInstead(token, replacement);
  }
  if (token.type === 'symbol' && '+-*/'.includes(token.text)) {
    throw bad(`no arithmetic: a condition compares one aggregate with a constant; found '${token.text}'`, token);
  }
  throw bad(`expected ${COMPARISONS} after ${quote(left)}, found ${describe(token)}`, token);
}

function noQuantity(token: Token, operator: Operator): ExpressionError {
  if (token.text === '-') return bad('constants are not negative: metrics are unsigned', token);
  if (token.text === '+') return bad('write the constant without a sign', token);
  if (token.text === '.') return bad('write a digit before the decimal point, as 0.5', token);
  if (token.type === 'name' && (isAggregate(token.text) || isMetricName(token.text))) {
    return bad(`a condition compares with a constant, such as 100 or 10us, not with ${describe(token)}`, token);
  }
  return bad(`expected a constant, such as 100 or 10us, after '${operator}', found ${describe(token)}`, token);
}
