import { MAX_BITS } from '../budget/limits.js';
import type {
  Argument,
  BinaryOperator,
  CallExpression,
  Expression,
  IntegerLiteral,
  StructExpression,
  TypeNode,
} from './ast.js';
import { BINARY_OPERATORS, isNameToken, type Token } from './tokens.js';
import { TypeParser } from './type-parser.js';

/** Higher binds tighter. */
const PRECEDENCE: ReadonlyMap<string, number> = /* @__PURE__ */ precedences();

function precedences(): Map<string, number> {
  return new Map(BINARY_OPERATORS.flatMap((operators, level) => operators.map((operator) => [operator, level + 1])));
}

/** Most digits of a number. The largest `int` has as many bits. */
const MAX_DIGITS = 8192;

/** Whether an expression is allowed only in a select, an entry or a case. */
function isKeysetOnly(expression: Expression): boolean {
  const { kind } = expression;
  return kind === 'mask' || kind === 'range' || kind === 'default' || kind === 'any';
}

/** Expressions, key sets and arguments. */
export abstract class ExpressionParser extends TypeParser {
  /** An expression. `a ? b : c ? d : e` groups to the left, as the grammar's precedences say. */
  protected expression(): Expression {
    this.enter();
    const expression = this.#conditionalFrom(this.#binary(1));
    this.leave();
    return expression;
  }

  #conditionalFrom(first: Expression): Expression {
    let condition = first;
    while (this.accept('?') !== undefined) {
      const whenTrue = this.bracketed(() => this.expression());
      this.expect(':');
      const whenFalse = this.#binary(1);
      condition = this.node(condition, { kind: 'conditional', condition, whenTrue, whenFalse });
    }
    return condition;
  }

  #binary(least: number): Expression {
    this.enter();
    const expression = this.#binaryFrom(this.#unary(), least);
    this.leave();
    return expression;
  }

  #binaryFrom(first: Expression, least: number): Expression {
    let left = first;
    for (;;) {
      const operator = this.#binaryOperator();
      const precedence = operator === undefined ? 0 : (PRECEDENCE.get(operator) ?? 0);
      if (operator === undefined || precedence < least) return left;
      this.advance();
      if (operator === '>>') this.advance();
      const right = this.#binary(precedence + 1);
      left = this.node(left, { kind: 'binary', operator, left, right });
    }
  }

  #binaryOperator(): BinaryOperator | undefined {
    const { token } = this;
    if (token.kind === '>') {
      if (this.noGreater) return undefined;
      return token.joined && this.peek().kind === '>' ? '>>' : '>';
    }
    if (token.kind === '>=' && this.noGreater) return undefined;
    return PRECEDENCE.has(token.kind) ? (token.kind as BinaryOperator) : undefined;
  }

  #unary(): Expression {
    const { token } = this;
    switch (token.kind) {
      case '-':
      case '+':
      case '~':
      case '!': {
        this.enter();
        this.advance();
        const operand = this.#unary();
        this.leave();
        return this.node(token, { kind: 'unary', operator: token.kind, operand });
      }
      case '(':
        return this.#parenthesised();
      default:
        return this.postfix(this.#primary(), false);
    }
  }

  /** `(T) operand` or `(expression)` with what follows it. */
  #parenthesised(): Expression {
    const open = this.token;
    if (this.#castFollows()) {
      this.advance();
      const typeStart = this.token;
      const type = this.bracketed(() => this.type());
      if (this.at(')')) {
        this.advance();
        return this.#castOperand(type, open);
      }
      // A type's member, or a constructor call, in parentheses.
      const base = this.node(typeStart, { kind: 'type-expression', type });
      return this.#closed(open, () => this.#conditionalFrom(this.#binaryFrom(this.postfix(base, false), 1)));
    }
    this.advance();
    return this.#closed(open, () => this.expression());
  }

  #castOperand(type: TypeNode, open: Token): Expression {
    this.enter();
    const operand = this.#unary();
    this.leave();
    return this.node(open, { kind: 'cast', type, operand });
  }

  /** An expression, its `)` and what follows that. The parentheses are in its span. */
  #closed(open: Token, inner: () => Expression): Expression {
    const expression = this.bracketed(inner);
    this.expect(')');
    return this.postfix(this.node(open, expression), false);
  }

  #castFollows(): boolean {
    const token = this.peek();
    if (!this.isTypeAt(1)) {
      // The name is not a known type: the next tokens tell whether a type was meant.
      if (!isNameToken(token) || this.peek(2).kind !== ')') return false;
      const following = this.peek(3);
      return following.kind === 'integer' || following.kind === '{' || following.kind === 'name';
    }
    const behind = this.peek(token.kind === '.' ? 3 : 2);
    if (token.kind !== '.' && !isNameToken(token)) return true;
    return behind.kind === ')' || behind.kind === '<' || behind.kind === '[';
  }

  #primary(): Expression {
    const { token } = this;
    const { span } = token;
    switch (token.kind) {
      case 'integer':
        return this.integer();
      case 'text':
        this.advance();
        return { kind: 'string', value: token.text, span };
      case 'true':
      case 'false':
        this.advance();
        return { kind: 'boolean', value: token.kind === 'true', span };
      case 'this':
        this.advance();
        return { kind: 'this', span };
      case '...':
        this.advance();
        return { kind: 'dots', span };
      case '{#}':
        this.advance();
        return { kind: 'invalid', span };
      case '{':
        return this.#braced();
      case 'error':
        this.advance();
        if (!this.at('.')) this.fail("'.'");
        return { kind: 'type-expression', type: { kind: 'error-type', span }, span };
      default:
    }
    if (this.isTypeAt(0) && (!isNameToken(token) || token.kind === 'list' || this.peek().kind === '<')) {
      if (token.kind !== '.' || this.peek(2).kind === '<') return this.#typeExpression();
    }
    return this.#path();
  }

  #typeExpression(): Expression {
    const start = this.token;
    const type = this.bracketed(() => this.type());
    if (!this.at('.') && !this.at('(')) this.fail("'(' or '.' behind a type");
    return this.node(start, { kind: 'type-expression', type });
  }

  #path(): Expression {
    const start = this.token;
    const isAbsolute = this.accept('.') !== undefined;
    const name = this.name(isAbsolute ? 'a name' : 'an expression');
    return { kind: 'path', name, isAbsolute, span: this.spanFrom(start) };
  }

  /** Members, indices, slices and calls behind an expression. A statement's `f < T` can only be the start of a call. */
  protected postfix(first: Expression, isStatement: boolean): Expression {
    let base = first;
    for (;;) {
      if (this.at('.')) {
        this.advance();
        const member = this.name('the name of a member');
        base = this.node(base, { kind: 'member', base, member });
      } else if (this.at('[')) {
        base = this.#indexed(base);
      } else if (this.at('(')) {
        base = this.call(base, []);
      } else if (this.at('<') && this.#typeArgumentsFollow(isStatement)) {
        const types = this.bracketed(() => this.typeArguments());
        if (!this.at('(')) this.fail("'('");
        base = this.call(base, types);
      } else {
        return base;
      }
    }
  }

  /** Whether the `<` here opens type arguments and is not an operator. */
  #typeArgumentsFollow(isStatement: boolean): boolean {
    const token = this.peek();
    if (isStatement || token.kind === '_') return true;
    if (this.isTypeAt(1)) {
      if (token.kind !== '.' && !isNameToken(token)) return true;
      const behind = this.peek(token.kind === '.' ? 3 : 2).kind;
      return token.kind === 'list' || (behind !== '.' && behind !== '(');
    }
    // A comparison of a comparison makes no sense, so the unknown name must be a type.
    return isNameToken(token) && this.peek(2).kind === '>' && this.peek(3).kind === '(' && !this.noGreater;
  }

  protected call(callee: Expression, typeArguments: readonly TypeNode[]): CallExpression {
    return this.node(callee, { kind: 'call', callee, typeArguments, arguments: this.arguments() });
  }

  #indexed(base: Expression): Expression {
    this.expect('[');
    const first = this.bracketed(() => this.expression());
    const isPlus = this.at('+:');
    if (!isPlus && !this.at(':')) {
      this.expect(']');
      return this.node(base, { kind: 'index', base, index: first });
    }
    this.advance();
    const low = this.bracketed(() => this.expression());
    this.expect(']');
    return this.node(base, { kind: 'slice', base, high: first, low, isPlus });
  }

  /** `(...)` of a call. */
  protected arguments(): Argument[] {
    return this.list('(', () => this.bracketed(() => this.#argument()), ')');
  }

  #argument(): Argument {
    const start = this.token;
    const name = this.atName && this.peek().kind === '=' ? this.name() : undefined;
    if (name !== undefined) this.advance();
    const any = this.accept('_');
    const value: Expression = any === undefined ? this.expression() : { kind: 'any', span: any.span };
    return this.node(start, { kind: 'argument', name, value });
  }

  /** `{...}`: a list, or fields with names. */
  #braced(): Expression {
    const start = this.expect('{');
    const isStruct = this.atName && this.peek().kind === '=';
    const elements: Expression[] = [];
    const fields: StructExpression['fields'][number][] = [];
    let hasDots = false;
    while (!this.at('}')) {
      if (this.at('...') && (this.peek().kind === '}' || (this.peek().kind === ',' && this.peek(2).kind === '}'))) {
        this.advance();
        hasDots = true;
      } else if (isStruct) {
        this.oneMore(fields.length);
        const name = this.name('the name of a field');
        this.expect('=');
        const value = this.bracketed(() => this.expression());
        fields.push(this.node(name, { name, value }));
      } else {
        elements.push(this.bracketed(() => this.expression()));
      }
      if (this.accept(',') === undefined) break;
    }
    this.expect('}');
    return this.node(
      start,
      isStruct ? { kind: 'struct-expression', fields, hasDots } : { kind: 'list', elements, hasDots },
    );
  }

  protected integer(): IntegerLiteral {
    const token = this.token;
    if (token.kind !== 'integer') this.fail('a number');
    this.advance();
    const match = /^(?:([0-9]+)([ws]))?(?:0([xXdDoObB]))?([0-9a-fA-F_]+)$/.exec(token.text);
    const digits = (match?.[4] ?? '0').replaceAll('_', '');
    const base = (match?.[3] ?? 'd').toLowerCase();
    const width = match?.[1] === undefined ? undefined : Number(match[1]);
    if (digits.length > MAX_DIGITS || (width !== undefined && width > MAX_BITS)) {
      this.report('number-too-large', token.span, 'a number too large to calculate with');
      return { kind: 'integer', value: 0n, width: undefined, isSigned: false, span: token.span };
    }
    const value = BigInt(base === 'd' ? digits : `0${base}${digits}`);
    return { kind: 'integer', value, width, isSigned: match?.[2] === 's', span: token.span };
  }

  /** A value, mask, range, `default` or `_`. */
  protected simpleKeyset(): Expression {
    const { token } = this;
    if (token.kind === 'default' || token.kind === '_') {
      this.advance();
      return { kind: token.kind === '_' ? 'any' : 'default', span: token.span };
    }
    return this.rangeFrom(this.expression());
  }

  /** The rest of `value &&& mask` or `low .. high` after the first part, which may also stand alone. */
  protected rangeFrom(first: Expression): Expression {
    if (this.accept('&&&') !== undefined)
      return this.node(first, { kind: 'mask', value: first, mask: this.expression() });
    if (this.accept('..') !== undefined)
      return this.node(first, { kind: 'range', low: first, high: this.expression() });
    return first;
  }

  /** The keys of a select case or an entry: one, or several in parentheses. */
  protected keyset(): Expression[] {
    if (!this.at('(') || this.#castFollows()) return [this.simpleKeyset()];
    const open = this.advance();
    const keys = this.items(() => this.bracketed(() => this.simpleKeyset()), ')');
    this.expect(')');
    const [only] = keys;
    if (keys.length > 1 || only === undefined || isKeysetOnly(only)) return keys;
    // One expression in parentheses may be the start of a longer one.
    const start = this.postfix(this.node(open, only), false);
    return [this.rangeFrom(this.#conditionalFrom(this.#binaryFrom(start, 1)))];
  }
}
