import { nearestName } from '@int/network/internals';
import { type Condition, conditionOf, type Operator, type Verdict } from './condition.js';
import { FilterError } from './errors.js';
import { FIELD_NAMES, type FieldInfo, fieldOf } from './fields.js';
import { type Token, tokensOf } from './lexer.js';
import { type Subject, wordsOf } from './subject.js';

/** Depth of parentheses and negations at most. */
const DEEPEST = 16;

const OPERATORS: Readonly<Record<string, Operator>> = {
  '=': '=',
  '==': '=',
  '!=': '!=',
  '<>': '!=',
  '<': '<',
  '<=': '<=',
  '>': '>',
  '>=': '>=',
  '~': '~',
  '!~': '!~',
};

const not = (verdict: Verdict): Verdict => (verdict === null ? null : !verdict);

/**
 * Reads a filter.
 * @returns the condition, and the fields that it asks; the condition of empty text is `null`
 * @throws FilterError
 */
export function parseFilter(text: string): { readonly condition: Condition | null; readonly fields: FieldInfo[] } {
  const parser = new Parser(tokensOf(text));
  return { condition: parser.whole(), fields: parser.fields };
}

class Parser {
  readonly #tokens: readonly Token[];
  #at = 0;
  #depth = 0;
  readonly fields: FieldInfo[] = [];

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  whole(): Condition | null {
    if (this.#peek().type === 'end') return null;
    const condition = this.#either();
    const rest = this.#peek();
    if (rest.type !== 'end') throw new FilterError(`${rest.text} has nothing to belong to`, rest);
    return condition;
  }

  #either(): Condition {
    const parts = [this.#both()];
    while (this.#takeWord('or', '||')) parts.push(this.#both());
    if (parts.length === 1) return parts[0]!;
    return (subject) => {
      let verdict: Verdict = false;
      for (const part of parts) {
        const one = part(subject);
        if (one === true) return true;
        if (one === null) verdict = null;
      }
      return verdict;
    };
  }

  #both(): Condition {
    const parts = [this.#negated()];
    for (;;) {
      const isJoined = this.#takeWord('and', '&&');
      const { type, text } = this.#peek();
      // Words side by side must all hold.
      if (!isJoined && (type === 'end' || text === ')' || isKeyword(this.#peek(), 'or', '||'))) break;
      parts.push(this.#negated());
    }
    if (parts.length === 1) return parts[0]!;
    return (subject) => {
      let verdict: Verdict = true;
      for (const part of parts) {
        const one = part(subject);
        if (one === false) return false;
        if (one === null) verdict = null;
      }
      return verdict;
    };
  }

  #negated(): Condition {
    if (!this.#takeWord('not', '!')) return this.#primary();
    const inner = this.#deeper(() => this.#negated());
    return (subject) => not(inner(subject));
  }

  #primary(): Condition {
    const token = this.#next();
    if (token.text === '(' && token.type === 'symbol') return this.#closed(token);
    if (token.type === 'end') throw new FilterError('something is missing at the end', token);
    if (token.type === 'symbol') throw new FilterError(`${token.text} has no field before it, as latency`, token);
    if (isKeyword(token, 'and', 'or', 'in'))
      throw new FilterError(`a condition is missing before ${token.text}`, token);
    if (token.type === 'word') {
      if (token.text === 'hop' && this.#peek().text === '(') return this.#oneHop(this.#closed(this.#next()));
      const operator = this.#operator();
      if (operator !== null) return this.#comparison(token, operator);
      const field = fieldOf(token.text);
      if (field?.kind === 'state') return this.#asked(field, '=', { ...token, text: 'true' });
    }
    return wordCondition(token.text);
  }

  /** All conditions on hops must hold at one and the same hop. */
  #oneHop(inner: Condition): Condition {
    return (subject) => {
      if (subject.hops === undefined) return null;
      return subject.hops.some((hop) => {
        const id = typeof hop.nodeId === 'number' ? hop.nodeId : null;
        return inner({ ...subject, hops: [hop], switches: [id] }) !== false;
      });
    };
  }

  #comparison(name: Token, operator: Operator | 'in'): Condition {
    const field = fieldOf(name.text);
    if (field === undefined) {
      const near = nearestName(name.text, FIELD_NAMES);
      throw new FilterError(
        `${name.text} is no field${near === null ? `; fields are ${FIELD_NAMES.slice(0, 8).join(', ')} ...` : `: did you mean ${near}?`}`,
        name,
      );
    }
    if (operator !== 'in') return this.#asked(field, operator, this.#value());
    if (this.#peek().text !== '(') return this.#asked(field, '=', this.#value());
    const open = this.#next();
    const choices = [this.#asked(field, '=', this.#value())];
    while (this.#peek().text !== ')') {
      if (this.#peek().text === ',') this.#next();
      if (this.#peek().type === 'end') throw new FilterError('the parenthesis is not closed', open);
      choices.push(this.#asked(field, '=', this.#value()));
    }
    this.#next();
    return (subject) => {
      const verdicts = choices.map((choice) => choice(subject));
      return verdicts.includes(true) ? true : verdicts.includes(null) ? null : false;
    };
  }

  #asked(field: FieldInfo, operator: Operator, value: Token): Condition {
    this.fields.push(field);
    return conditionOf(field, operator, value);
  }

  #value(): Token {
    const token = this.#next();
    if (token.type === 'word' || token.type === 'text') return token;
    throw new FilterError(
      token.type === 'end' ? 'the value is missing' : `write a value instead of ${token.text}`,
      token,
    );
  }

  #operator(): Operator | 'in' | null {
    const token = this.#peek();
    if (token.type === 'symbol' && Object.hasOwn(OPERATORS, token.text)) {
      this.#next();
      return OPERATORS[token.text]!;
    }
    return this.#takeWord('in') ? 'in' : null;
  }

  #closed(open: Token): Condition {
    const inner = this.#deeper(() => this.#either());
    if (this.#peek().text !== ')') throw new FilterError('the parenthesis is not closed', open);
    this.#next();
    return inner;
  }

  #deeper(read: () => Condition): Condition {
    if (++this.#depth > DEEPEST) throw new FilterError(`more than ${DEEPEST} levels of parentheses`, this.#peek());
    const condition = read();
    this.#depth--;
    return condition;
  }

  #takeWord(...words: readonly string[]): boolean {
    if (!isKeyword(this.#peek(), ...words)) return false;
    this.#next();
    return true;
  }

  #peek(): Token {
    return this.#tokens[this.#at]!;
  }

  /** At the end, it gives the end again. */
  #next(): Token {
    const token = this.#tokens[this.#at]!;
    if (token.type !== 'end') this.#at++;
    return token;
  }
}

function isKeyword({ type, text }: Token, ...words: readonly string[]): boolean {
  return (type === 'word' || type === 'symbol') && words.includes(text.toLowerCase());
}

/** A number is the id of a switch; anything else is a part of an address, or of the name of a switch or a rule. */
function wordCondition(text: string): Condition {
  const wanted = text.toLowerCase();
  if (/^\d{1,10}$/.test(wanted)) {
    const id = Number(wanted);
    return ({ switches }: Subject) => switches.includes(id);
  }
  return (subject: Subject) => wordsOf(subject).some((word) => word?.toLowerCase().includes(wanted) === true);
}
