import type { Diagnostics } from '../source/diagnostics.js';
import type {
  ActionDeclaration,
  Annotation,
  ControlDeclaration,
  Declaration,
  Direction,
  EnumDeclaration,
  EnumMember,
  ErrorDeclaration,
  ExternDeclaration,
  ExternMethod,
  FunctionDeclaration,
  Identifier,
  ObjectTypeDeclaration,
  Parameter,
  ParserDeclaration,
  ParserState,
  Program,
  StructDeclaration,
  StructField,
  TypedefDeclaration,
  TypeNode,
  TypeParameter,
  ValueSetDeclaration,
} from './ast.js';
import { TableParser } from './table-parser.js';
import { isNameToken, type Token } from './tokens.js';

type Annotations = readonly Annotation[];

/** Parses whole programs: the declarations, on top of the other parts of the parser. */
class ProgramParser extends TableParser {
  program(): Program {
    const start = this.tokens.at(-1)!;
    const declarations: Declaration[] = [];
    while (!this.at('end')) {
      if (this.accept(';') !== undefined) continue;
      const { index } = this;
      const declaration = this.recovering(() => this.#declaration());
      if (declaration !== undefined) declarations.push(declaration);
      if (this.index === index) {
        // An extra `}`, or a token that cannot begin a declaration; the latter has been reported.
        if (this.at('}')) this.report('unexpected-token', this.token.span, "expected a declaration, found '}'");
        this.advance();
      }
    }
    return { kind: 'program', declarations, span: { ...start.span, start: 0 } };
  }

  #declaration(): Declaration | undefined {
    const annotations = this.annotations();
    switch (this.token.kind) {
      case 'const':
        return this.constant(annotations);
      case 'extern':
        return this.#extern(annotations);
      case 'action':
        return this.#action(annotations);
      case 'parser':
      case 'control':
      case 'package':
        return this.#object(annotations);
      case 'header':
      case 'struct':
      case 'header_union':
        return this.#struct(annotations);
      case 'enum':
        return this.#enum(annotations);
      case 'typedef':
      case 'type':
        return this.#typedef(annotations);
      case 'error':
      case 'match_kind':
        if (this.peek().kind === '{') return this.#members(annotations);
        break;
      default:
    }
    if (!this.isTypeAt(0) && !this.atName && !this.at('.')) this.fail('a declaration');
    const start = this.token;
    const type = this.type();
    if (this.at('(')) return this.instance(annotations, start, type);
    return this.functionDeclaration(annotations, start, type);
  }

  protected functionDeclaration(annotations: Annotations, start: Token, returnType: TypeNode): FunctionDeclaration {
    const name = this.name("'(' or the name of a function");
    this.scopes.declareValue(name.text);
    this.scopes.push();
    const typeParameters = this.typeParameters();
    const parameters = this.#parameters();
    const body = this.block();
    this.scopes.pop();
    const span = this.spanFrom(start);
    return { kind: 'function', name, annotations, typeParameters, returnType, parameters, body, span };
  }

  /** `(...)` of a declaration; the names are values from here on. */
  #parameters(): Parameter[] {
    const parameters: Parameter[] = [];
    this.expect('(');
    this.recovering(
      () => {
        if (!this.at(')')) this.items(() => parameters.push(this.#parameter()));
        this.expect(')');
      },
      (start) => this.skipBehindParenthesis(start),
    );
    for (const { name } of parameters) this.scopes.declareValue(name.text);
    return parameters;
  }

  #parameter(): Parameter {
    const start = this.token;
    const annotations = this.annotations();
    const { kind } = this.token;
    const direction: Direction = kind === 'in' || kind === 'out' || kind === 'inout' ? kind : 'none';
    if (direction !== 'none') this.advance();
    const { name, type } = this.declarator(this.type(), 'the name of a parameter');
    const defaultValue = this.accept('=') === undefined ? undefined : this.expression();
    return { kind: 'parameter', name, annotations, direction, type, defaultValue, span: this.spanFrom(start) };
  }

  #action(annotations: Annotations): ActionDeclaration {
    const start = this.expect('action');
    const name = this.name('the name of an action');
    this.scopes.push();
    const parameters = this.#parameters();
    const body = this.block();
    this.scopes.pop();
    return { kind: 'action', name, annotations, parameters, body, span: this.spanFrom(start) };
  }

  #typeHead(what: string): { name: Identifier; typeParameters: TypeParameter[] } {
    const name = this.name(what);
    this.scopes.declareType(name.text);
    this.scopes.push();
    return { name, typeParameters: this.typeParameters() };
  }

  /** A parser, control or package. Packages have no body; parsers and controls without one are types. */
  #object(annotations: Annotations): ObjectTypeDeclaration | ParserDeclaration | ControlDeclaration {
    const start = this.advance();
    const kind = start.kind as 'parser' | 'control' | 'package';
    const { name, typeParameters } = this.#typeHead(`the name of a ${kind}`);
    const head = { name, annotations, typeParameters, parameters: this.#parameters() };
    if (kind === 'package' || !(this.at('(') || this.at('{'))) {
      this.scopes.pop();
      this.semicolon();
      return { kind: kind === 'package' ? kind : `${kind}-type`, ...head, span: this.spanFrom(start) };
    }
    const constructorParameters = this.at('(') ? this.#parameters() : [];
    const brace = this.openBrace();
    this.inContainer = true;
    const body = kind === 'parser' ? this.#parserBody(name, brace) : this.#controlBody(name, brace);
    this.inContainer = false;
    this.scopes.pop();
    return { ...head, constructorParameters, ...body, span: this.spanFrom(start) };
  }

  #parserBody(name: Identifier, brace: Token): Pick<ParserDeclaration, 'kind' | 'locals' | 'states'> {
    const locals: ParserDeclaration['locals'][number][] = [];
    const states: ParserState[] = [];
    this.itemsToBrace(() => this.#parserItem(locals, states), 'state', 'action', 'table');
    if (states.length === 0 && !this.diagnostics.hasErrors) {
      this.report('missing-state', brace.span, `parser '${name.text}' has no states`);
    }
    return { kind: 'parser', locals, states };
  }

  #parserItem(locals: ParserDeclaration['locals'][number][], states: ParserState[]): undefined {
    const annotations = this.annotations();
    if (this.at('state') && isNameToken(this.peek()) && this.peek(2).kind === '{') {
      this.oneMore(states.length);
      states.push(this.state(annotations));
      return;
    }
    if (states.length > 0) this.fail("a state or '}'");
    if (this.at('const')) locals.push(this.constant(annotations));
    else if (this.at('value_set')) locals.push(this.#valueSet(annotations));
    else locals.push(this.localDeclaration(annotations));
  }

  #valueSet(annotations: Annotations): ValueSetDeclaration {
    const start = this.expect('value_set');
    this.expect('<');
    const type = this.type();
    this.expect('>');
    this.expect('(');
    const size = this.expression();
    this.expect(')');
    const name = this.name('the name of a value set');
    this.scopes.declareValue(name.text);
    this.semicolon();
    return { kind: 'value-set', name, annotations, type, size, span: this.spanFrom(start) };
  }

  #controlBody(name: Identifier, brace: Token): Pick<ControlDeclaration, 'kind' | 'locals' | 'apply'> {
    const locals: ControlDeclaration['locals'][number][] = [];
    let apply: ControlDeclaration['apply'] | undefined;
    const item = (): undefined => {
      if (apply !== undefined) this.fail("'}' behind the apply block");
      const annotations = this.annotations();
      if (this.at('const')) locals.push(this.constant(annotations));
      else if (this.at('action')) locals.push(this.#action(annotations));
      else if (this.at('table')) locals.push(this.table(annotations));
      else if (this.at('apply') && (this.peek().kind === '{' || this.peek().kind === '@')) {
        this.advance();
        apply = this.block(this.annotations());
      } else locals.push(this.localDeclaration(annotations));
    };
    this.itemsToBrace(item, 'action', 'table', 'apply', 'state');
    if (apply === undefined && !this.diagnostics.hasErrors) {
      this.report('missing-apply', brace.span, `control '${name.text}' has no apply block`);
    }
    apply ??= { kind: 'block', statements: [], annotations: [], span: brace.span };
    return { kind: 'control', locals, apply };
  }

  /** An extern object or function; undefined for `extern Name;`, which only announces a type. */
  #extern(annotations: Annotations): ExternDeclaration | undefined {
    const start = this.expect('extern');
    if (this.atName && this.peek().kind === ';') {
      this.scopes.declareType(this.name().text);
      this.advance();
      return undefined;
    }
    const isFunction = !this.#externObjectFollows();
    const { name, typeParameters, methods } = isFunction ? this.#externFunction() : this.#externObject();
    return { kind: 'extern', name, annotations, isFunction, typeParameters, methods, span: this.spanFrom(start) };
  }

  #externFunction(): Pick<ExternDeclaration, 'name' | 'typeParameters' | 'methods'> {
    const method = this.#method([], undefined);
    return { name: method.name, typeParameters: [], methods: [method] };
  }

  #externObject(): Pick<ExternDeclaration, 'name' | 'typeParameters' | 'methods'> {
    const { name, typeParameters } = this.#typeHead('the name of an extern');
    const methods = this.members(() => this.#method(this.annotations(), name));
    this.scopes.pop();
    return { name, typeParameters, methods };
  }

  /** `Name {`, or `Name<A, B> {`, rather than a function's return type. */
  #externObjectFollows(): boolean {
    if (!this.atName) return false;
    if (this.peek().kind !== '<') return this.peek().kind === '{';
    let at = 2;
    while (isNameToken(this.peek(at)) && this.peek(at + 1).kind === ',') at += 2;
    return isNameToken(this.peek(at)) && this.peek(at + 1).kind === '>' && this.peek(at + 2).kind === '{';
  }

  /** A method or constructor of an extern, or, without an `owner`, an extern function. */
  #method(annotations: Annotations, owner: Identifier | undefined): ExternMethod {
    const start = this.token;
    const isAbstract = owner !== undefined && this.accept('abstract') !== undefined;
    const isConstructor = owner !== undefined && this.atName && this.peek().kind === '(';
    if (isConstructor && this.token.text !== owner.text) {
      const message = `a constructor of '${owner.text}' has its name; a method has a type before its name`;
      this.report('constructor-name', this.token.span, message);
    }
    const returnType = isConstructor ? undefined : this.type();
    const name = this.name('the name of a function');
    if (owner === undefined) this.scopes.declareValue(name.text);
    this.scopes.push();
    const typeParameters = isConstructor ? [] : this.typeParameters();
    const parameters = this.#parameters();
    this.scopes.pop();
    this.semicolon();
    return {
      kind: 'method',
      name,
      annotations,
      isConstructor,
      isAbstract,
      typeParameters,
      returnType,
      parameters,
      span: this.spanFrom(start),
    };
  }

  #struct(annotations: Annotations): StructDeclaration {
    const start = this.advance();
    const kind = start.kind === 'header_union' ? 'union' : start.kind === 'header' ? 'header' : 'struct';
    const { name, typeParameters } = this.#typeHead('the name of a type');
    const fields = this.members(() => this.#field());
    this.scopes.pop();
    return { kind, name, annotations, typeParameters, fields, span: this.spanFrom(start) };
  }

  #field(): StructField {
    const annotations = this.annotations();
    const start = this.token;
    const { name, type } = this.declarator(this.type(), 'the name of a field');
    this.semicolon();
    return { kind: 'field', name, annotations, type, span: this.spanFrom(start) };
  }

  #enum(annotations: Annotations): EnumDeclaration {
    const start = this.expect('enum');
    const underlying = this.atName && this.peek().kind === '{' ? undefined : this.type();
    const name = this.name('the name of a type');
    this.scopes.declareType(name.text);
    const members = this.#names((member): EnumMember => {
      const value = this.accept('=') === undefined ? undefined : this.expression();
      if (value === undefined && underlying !== undefined) this.fail("'='");
      if (value !== undefined && underlying === undefined) {
        this.report('enum-without-type', member.span, 'members have values only in an enum with a type');
      }
      return { kind: 'enum-member', name: member, value, span: this.spanFrom(member) };
    }, true);
    return { kind: 'enum', name, annotations, underlying, members, span: this.spanFrom(start) };
  }

  /** `error {...}` or `match_kind {...}`. */
  #members(annotations: Annotations): ErrorDeclaration {
    const start = this.advance();
    const members = this.#names((member) => member, start.kind === 'match_kind');
    const name: Identifier = { text: start.text, span: start.span };
    const kind = start.kind === 'error' ? 'error' : 'match-kind';
    return { kind, name, annotations, members, span: this.spanFrom(start) };
  }

  /** `{ a, b, c }`. With `mayEndWithComma`, a final comma is allowed. */
  #names<T>(memberOf: (name: Identifier) => T, mayEndWithComma: boolean): T[] {
    this.expect('{');
    const member = (): T => {
      this.annotations();
      return memberOf(this.name());
    };
    const members = mayEndWithComma && this.at('}') ? [] : this.items(member, mayEndWithComma ? '}' : '');
    this.expect('}');
    return members;
  }

  #typedef(annotations: Annotations): TypedefDeclaration {
    const start = this.advance();
    const written = this.#typedefType(start.kind === 'type');
    const { name, type } = this.declarator(written, 'the name of a type');
    this.scopes.declareType(name.text);
    this.semicolon();
    return { kind: 'typedef', isNew: start.kind === 'type', name, annotations, type, span: this.spanFrom(start) };
  }

  #typedefType(isNew: boolean): TypeNode {
    const start = this.token;
    const annotations = this.annotations();
    const { kind } = this.token;
    if (isNew) return this.type();
    if (kind === 'enum') {
      return { kind: 'declared-type', declaration: this.#enum(annotations), span: this.spanFrom(start) };
    }
    if (kind === 'struct' || kind === 'header' || kind === 'header_union') {
      return { kind: 'declared-type', declaration: this.#struct(annotations), span: this.spanFrom(start) };
    }
    return this.type();
  }
}

/**
 * Parses tokens (the last of kind `end`) into a program. A part that does not fit the grammar is reported, with the
 * expected tokens, and left out of the tree. Never fails and never recurses deeper than a fixed limit, whatever the
 * tokens.
 */
export function parseTokens(tokens: readonly Token[], diagnostics: Diagnostics, onToken?: () => void): Program {
  return new ProgramParser(tokens, diagnostics, onToken).program();
}
