import type {
  Annotation,
  AssignmentStatement,
  BinaryOperator,
  Block,
  CallStatement,
  ConstantDeclaration,
  Expression,
  FunctionDeclaration,
  IfStatement,
  InstanceDeclaration,
  ParserState,
  SelectCase,
  Statement,
  SwitchCase,
  Transition,
  TypeNode,
  VariableDeclaration,
} from './ast.js';
import { ExpressionParser } from './expression-parser.js';
import { SyntaxFailure } from './token-cursor.js';
import { isNameToken, type Token, words } from './tokens.js';

/** Each but the first is a binary operator and `=`. */
const ASSIGNMENTS: ReadonlySet<string> = /* @__PURE__ */ words('= += -= *= /= %= <<= >>= &= |= ^= |+|= |-|=');

/** Most branches of one `if ... else if ...`. Each is a level of the tree. */
const MAX_BRANCHES = 512;

/** Statements, parser states, and the declarations that stand among statements. */
export abstract class StatementParser extends ExpressionParser {
  /** Within a parser state, which does not allow all statements. */
  #inState = false;

  protected abstract functionDeclaration(
    annotations: readonly Annotation[],
    start: Token,
    returnType: TypeNode,
  ): FunctionDeclaration;

  /** `{...}` with a scope of its own. */
  protected block(annotations: readonly Annotation[] = []): Block {
    const start = this.openBrace();
    this.enter();
    this.scopes.push();
    const statements = this.#statements();
    this.closeBrace();
    this.scopes.pop();
    this.leave();
    return { kind: 'block', statements, annotations, span: this.spanFrom(start) };
  }

  /** Statements up to the closing token, which is not read. Wrong ones are left out. */
  #statements(): Statement[] {
    const statements: Statement[] = [];
    while (!this.at('}') && !this.at('end') && !this.atStructure) {
      if (this.#inState && this.at('transition')) break;
      const { index } = this;
      const statement = this.recovering(() => this.#statement());
      if (statement !== undefined) statements.push(statement);
      if (this.index === index && !this.atStructure) this.advance();
    }
    return statements;
  }

  #statement(): Statement {
    this.enter();
    const statement = this.#statementOrDeclaration();
    this.leave();
    return statement;
  }

  #statementOrDeclaration(): Statement {
    const annotations = this.annotations();
    const start = this.token;
    switch (start.kind) {
      case '{':
        return this.block(annotations);
      case 'const':
        return this.constant(annotations);
      case 'for':
        this.#notInState();
        return this.#for(annotations);
      default:
    }
    if (this.#declarationFollows()) return this.#variableOrInstance(annotations);
    if (annotations.length > 0) this.fail('a declaration, a block or a loop behind an annotation');
    switch (start.kind) {
      case ';':
        this.advance();
        return { kind: 'empty', span: start.span };
      case 'if':
        return this.#if();
      case 'switch':
        this.#notInState();
        return this.#switch();
      case 'return': {
        this.#notInState();
        this.advance();
        const value = this.at(';') || this.at('}') ? undefined : this.expression();
        this.semicolon();
        return { kind: 'return', value, span: this.spanFrom(start) };
      }
      case 'exit':
      case 'break':
      case 'continue':
        this.#notInState();
        this.advance();
        this.semicolon();
        return { kind: start.kind, span: this.spanFrom(start) };
      default: {
        const statement = this.#assignmentOrCall();
        this.semicolon();
        return { ...statement, span: this.spanFrom(start) };
      }
    }
  }

  #notInState(): void {
    if (!this.#inState) return;
    this.report('not-in-state', this.token.span, `'${this.token.text}' cannot stand in a parser state`);
    throw new SyntaxFailure();
  }

  /** Whether a type comes next, followed by a name or a constructor's arguments. */
  #declarationFollows(): boolean {
    const { token } = this;
    if (this.isTypeAt(0)) {
      if (!isNameToken(token) && token.kind !== '.') return true;
      // `T.apply()`, and `T<U>.apply()`, are statements.
      const behind = token.kind === '.' ? 2 : 1;
      const { kind } = this.peek(behind);
      if (kind === '.') return false;
      return kind !== '<' || this.peek(this.#behindAngles(behind)).kind !== '.';
    }
    // Of two names in a row, the first must be a type.
    return isNameToken(token) && isNameToken(this.peek()) && !this.peek().lineStart;
  }

  /**
   * The distance of the token after the `>` that closes the `<` at `distance`. It looks a few hundred tokens ahead at
   * most.
   */
  #behindAngles(distance: number): number {
    let depth = 0;
    for (let at = distance; at < distance + 256; at++) {
      const { kind } = this.peek(at);
      if (kind === '<') depth++;
      else if (kind === '>' && --depth === 0) return at + 1;
      else if (kind === ';' || kind === '{' || kind === 'end') break;
    }
    return distance;
  }

  #variableOrInstance(annotations: readonly Annotation[]): VariableDeclaration | InstanceDeclaration {
    const start = this.token;
    const type = this.type();
    if (this.at('(')) return this.instance(annotations, start, type);
    const variable = this.#variable(annotations, start, type);
    this.semicolon();
    return { ...variable, span: this.spanFrom(start) };
  }

  #variable(annotations: readonly Annotation[], start: Token, written: TypeNode): VariableDeclaration {
    const { name, type } = this.declarator(written, 'the name of a variable');
    const value = this.accept('=') === undefined ? undefined : this.expression();
    this.scopes.declareValue(name.text);
    return { kind: 'variable', name, annotations, type, value, span: this.spanFrom(start) };
  }

  /** A variable or an instance among the declarations of a control or parser. */
  protected localDeclaration(annotations: readonly Annotation[]): VariableDeclaration | InstanceDeclaration {
    if (!this.isTypeAt(0) && !this.atName && !this.at('.')) this.fail('a declaration');
    return this.#variableOrInstance(annotations);
  }

  protected constant(annotations: readonly Annotation[]): ConstantDeclaration {
    const start = this.expect('const');
    const { name, type } = this.declarator(this.type(), 'the name of a constant');
    this.expect('=');
    const value = this.expression();
    this.scopes.declareValue(name.text);
    this.semicolon();
    return { kind: 'constant', name, annotations, type, value, span: this.spanFrom(start) };
  }

  /** `Type(arguments) name;`, of which the type is read. */
  protected instance(annotations: readonly Annotation[], start: Token, constructed: TypeNode): InstanceDeclaration {
    this.enter();
    const found = this.arguments();
    const { name, type } = this.declarator(constructed, 'the name of an instance');
    let initializer: InstanceDeclaration['initializer'];
    if (this.accept('=') !== undefined) {
      this.openBrace();
      this.scopes.push();
      initializer = this.itemsToBrace(() => this.#initializerItem());
      this.scopes.pop();
    }
    this.scopes.declareValue(name.text);
    this.semicolon();
    this.leave();
    const span = this.spanFrom(start);
    return { kind: 'instance', name, annotations, type, arguments: found, initializer, span };
  }

  #initializerItem(): FunctionDeclaration | InstanceDeclaration {
    const annotations = this.annotations();
    const start = this.token;
    const type = this.type();
    return this.at('(') ? this.instance(annotations, start, type) : this.functionDeclaration(annotations, start, type);
  }

  #assignmentOrCall(): AssignmentStatement | CallStatement {
    return this.#assignmentOrCallOf(this.token, this.#target(), "an assignment or '('");
  }

  /** What begins with an l-value or callee. */
  #assignmentOrCallOf(start: Token, target: Expression, expected: string): AssignmentStatement | CallStatement {
    const { kind } = this.token;
    if (ASSIGNMENTS.has(kind)) {
      this.advance();
      if (target.kind === 'call') this.report('not-assignable', target.span, 'a call cannot be assigned to');
      const operator = kind === '=' ? undefined : (kind.slice(0, -1) as BinaryOperator);
      return { kind: 'assign', operator, target, value: this.expression(), span: this.spanFrom(start) };
    }
    if (target.kind !== 'call') this.fail(expected);
    return { kind: 'call-statement', call: target, span: this.spanFrom(start) };
  }

  /** The beginning of a statement: an l-value or a callee. */
  #target(): Expression {
    const { token } = this;
    if (token.kind === '(') {
      this.enter();
      this.advance();
      const inner = this.bracketed(() => this.#target());
      this.expect(')');
      this.leave();
      return this.postfix(inner, true);
    }
    if (token.kind === 'this') {
      this.advance();
      return this.postfix({ kind: 'this', span: token.span }, true);
    }
    if (this.isTypeAt(0) && this.peek(token.kind === '.' ? 2 : 1).kind === '<') {
      const type = this.type();
      return this.postfix(this.node(type, { kind: 'type-expression', type }), true);
    }
    const isAbsolute = this.accept('.') !== undefined;
    const name = this.name('a statement');
    return this.postfix({ kind: 'path', name, isAbsolute, span: this.spanFrom(token) }, true);
  }

  /** A chain of `else if` is read in a loop, without recursion. */
  #if(): IfStatement {
    const branches: { start: Token; condition: Expression; whenTrue: Statement }[] = [];
    let whenFalse: Statement | undefined;
    for (;;) {
      const start = this.expect('if');
      this.expect('(');
      const condition = this.expression();
      this.expect(')');
      branches.push({ start, condition, whenTrue: this.#statement() });
      if (branches.length > MAX_BRANCHES) this.tooDeep(start.span);
      if (this.accept('else') === undefined) break;
      if (this.at('if')) continue;
      whenFalse = this.#statement();
      break;
    }
    for (const { start, condition, whenTrue } of branches.reverse()) {
      whenFalse = { kind: 'if', condition, whenTrue, whenFalse, span: this.spanFrom(start) };
    }
    return whenFalse as IfStatement;
  }

  #switch(): Statement {
    const start = this.expect('switch');
    this.expect('(');
    const subject = this.expression();
    this.expect(')');
    const cases = this.members(() => this.#switchCase());
    return { kind: 'switch', subject, cases, span: this.spanFrom(start) };
  }

  #switchCase(): SwitchCase {
    const start = this.token;
    if (start.kind === '{') this.fail('a label');
    const label: Expression =
      this.accept('default') === undefined ? this.expression() : { kind: 'default', span: start.span };
    this.expect(':');
    const annotations = this.at('@') ? this.annotations() : [];
    const body = this.at('{') ? this.block(annotations) : undefined;
    return { kind: 'switch-case', label, body, span: this.spanFrom(start) };
  }

  #for(annotations: readonly Annotation[]): Statement {
    const start = this.expect('for');
    this.expect('(');
    this.scopes.push();
    const initial: Statement[] = [];
    if (!this.at(';')) {
      do {
        const { token } = this;
        const first = this.#forInitial();
        if (initial.length === 0 && this.at('in')) {
          this.advance();
          const collection = this.rangeFrom(this.expression());
          this.expect(')');
          const body = this.#statement();
          this.scopes.pop();
          return { kind: 'for-in', variable: first, collection, body, annotations, span: this.spanFrom(start) };
        }
        initial.push(
          first.kind === 'variable' ? first : this.#assignmentOrCallOf(token, first, "an assignment or 'in'"),
        );
      } while (this.accept(',') !== undefined);
    }
    this.expect(';');
    const condition = this.expression();
    this.expect(';');
    const update = this.at(')') ? [] : this.items(() => this.#assignmentOrCall());
    this.expect(')');
    const body = this.#statement();
    this.scopes.pop();
    return { kind: 'for', initial, condition, update, body, annotations, span: this.spanFrom(start) };
  }

  /** A variable with its type, or the target of an assignment, at the beginning of a loop. */
  #forInitial(): VariableDeclaration | Expression {
    const annotations = this.annotations();
    const start = this.token;
    if (!this.#declarationFollows()) return this.#target();
    return this.#variable(annotations, start, this.type());
  }

  // Parser states

  protected state(annotations: readonly Annotation[]): ParserState {
    const start = this.expect('state');
    const name = this.name('the name of a state');
    this.openBrace();
    this.scopes.push();
    this.#inState = true;
    const body = this.#statements();
    this.#inState = false;
    const transition = this.at('transition') ? this.recovering(() => this.#transition()) : undefined;
    const isAtEnd = (): boolean => this.at('}') || this.atStructure || this.at('end');
    if (!isAtEnd()) {
      this.report('unexpected-token', this.token.span, `expected '}' behind a transition, found '${this.token.text}'`);
      while (!isAtEnd()) this.advance();
    }
    this.closeBrace();
    this.scopes.pop();
    return { kind: 'state', name, annotations, body, transition, span: this.spanFrom(start) };
  }

  #transition(): Transition {
    const start = this.expect('transition');
    if (this.accept('select') === undefined) {
      const state = this.name('the name of a state');
      this.semicolon();
      return { kind: 'goto', state, span: this.spanFrom(start) };
    }
    this.expect('(');
    const keys = this.at(')') ? [] : this.items(() => this.expression(), ')');
    this.expect(')');
    const cases = this.members(() => this.#selectCase());
    return { kind: 'select', keys, cases, span: this.spanFrom(start) };
  }

  #selectCase(): SelectCase {
    const start = this.token;
    const keys = this.keyset();
    this.expect(':');
    const state = this.name('the name of a state');
    this.semicolon();
    return { kind: 'select-case', keys, state, span: this.spanFrom(start) };
  }
}
