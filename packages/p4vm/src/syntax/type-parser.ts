import { Diagnostics } from '../source/diagnostics.js';
import type { Annotation, Expression, Identifier, TypeNode, TypeParameter } from './ast.js';
import { SyntaxFailure, TokenCursor } from './token-cursor.js';
import { isKeyword, isNameToken, type Token, words } from './tokens.js';

type AnnotationBody = Pick<Annotation, 'values' | 'pairs'>;

/** Keywords that begin a type and nothing else (`error` and `list` may begin other things). */
const TYPE_KEYWORDS = /* @__PURE__ */ words('bool bit int varbit string tuple void match_kind');

/** Types, type parameters and annotations. */
export abstract class TypeParser extends TokenCursor {
  protected abstract expression(): Expression;

  // Types

  /** Whether the token at a distance surely begins a type: a keyword, or the name of a known type. */
  protected isTypeAt(distance: number): boolean {
    const token = this.peek(distance);
    if (TYPE_KEYWORDS.has(token.kind)) return true;
    if (token.kind === 'error') return this.peek(distance + 1).kind !== '.';
    if (token.kind === 'list' && this.peek(distance + 1).kind === '<') return true;
    if (token.kind === '.') {
      const name = this.peek(distance + 1);
      return isNameToken(name) && this.scopes.isGlobalType(name.text);
    }
    return isNameToken(token) && this.scopes.isType(token.text);
  }

  /** A type with its array sizes. Any name counts as a type. */
  protected type(): TypeNode {
    this.enter();
    const start = this.token;
    let type = this.#elementType();
    while (this.at('[')) type = this.#arrayOf(type, start);
    this.leave();
    return type;
  }

  #arrayOf(element: TypeNode, start: { readonly span: TypeNode['span'] }): TypeNode {
    this.expect('[');
    const size = this.bracketed(() => this.expression());
    this.expect(']');
    return this.node(start, { kind: 'stack-type', element, size });
  }

  /** A name that may have array sizes behind it, as in C: `bit<8> a[4]`. */
  protected declarator(type: TypeNode, what?: string): { name: Identifier; type: TypeNode } {
    const name = this.name(what);
    let whole = type;
    while (this.at('[')) whole = this.#arrayOf(whole, type);
    return { name, type: whole };
  }

  /** Runs a part within its own brackets, in which `>` is an operator again. */
  protected bracketed<T>(part: () => T): T {
    const { noGreater } = this;
    this.noGreater = false;
    const result = part();
    this.noGreater = noGreater;
    return result;
  }

  #elementType(): TypeNode {
    const start = this.token;
    switch (start.kind) {
      case 'bool':
      case 'error':
      case 'string':
      case 'void':
        this.advance();
        return { kind: `${start.kind}-type`, span: start.span };
      case 'match_kind':
        this.advance();
        return { kind: 'match-kind-type', span: start.span };
      case 'bit':
      case 'int':
      case 'varbit':
        return this.#bits(start.kind);
      case 'tuple':
        this.advance();
        return this.node(start, { kind: 'tuple-type', elements: this.typeArguments() });
      case 'list':
        if (this.peek().kind === '<') return this.#list();
        break;
      default:
    }
    return this.#namedType();
  }

  #bits(base: 'bit' | 'int' | 'varbit'): TypeNode {
    const start = this.advance();
    if (!this.at('<')) {
      if (base === 'int') return { kind: 'integer-type', span: start.span };
      if (base === 'varbit') this.fail("'<'");
      return { kind: 'bits-type', base, width: undefined, span: start.span };
    }
    this.advance();
    const { noGreater } = this;
    this.noGreater = true;
    const width = this.expression();
    this.noGreater = noGreater;
    this.expect('>');
    return this.node(start, { kind: 'bits-type', base, width });
  }

  #list(): TypeNode {
    const start = this.advance();
    this.expect('<');
    const element = this.#typeArgument();
    this.expect('>');
    return this.node(start, { kind: 'list-type', element });
  }

  #namedType(): TypeNode {
    const start = this.token;
    const isAbsolute = this.accept('.') !== undefined;
    const name = this.name('a type');
    const typeArguments = this.at('<') ? this.typeArguments() : [];
    return this.node(start, { kind: 'named-type', name, isAbsolute, arguments: typeArguments });
  }

  /** `<...>` of types. */
  protected typeArguments(): TypeNode[] {
    return this.list('<', () => this.#typeArgument(), '>');
  }

  #typeArgument(): TypeNode {
    const start = this.token;
    if (this.accept('_') !== undefined) return { kind: 'any-type', span: start.span };
    return this.type();
  }

  /** `<T, U>` of a declaration, if present. The names are types from here on. */
  protected typeParameters(): TypeParameter[] {
    if (this.accept('<') === undefined) return [];
    const parameters = this.items((): TypeParameter => {
      const name = this.name('the name of a type parameter');
      return { kind: 'type-parameter', name, span: name.span };
    });
    this.expect('>');
    for (const { name } of parameters) this.scopes.declareType(name.text);
    return parameters;
  }

  // Annotations

  protected annotations(): Annotation[] {
    const annotations: Annotation[] = [];
    while (this.at('@')) {
      this.oneMore(annotations.length);
      annotations.push(this.#annotation());
    }
    return annotations;
  }

  #annotation(): Annotation {
    const start = this.expect('@');
    if (this.token.text === 'pragma' && !this.token.spaced) return this.#pragma(start);
    const name = this.#annotationName();
    const open = this.token;
    if (open.kind === '(') {
      this.advance();
      const tokens = this.#toClosingParenthesis(open);
      const text = textOf(tokens);
      this.expect(')');
      return { name, ...this.#tryBody(tokens), text, isStructured: false, span: this.spanFrom(start) };
    }
    if (open.kind === '[') {
      this.advance();
      const from = this.index;
      const body = this.#body(']');
      if (body.values.length > 0 && body.pairs.size > 0) {
        this.report('mixed-annotation', open.span, 'an annotation has either expressions or pairs of names and values');
      }
      const text = textOf(this.tokens.slice(from, this.index));
      this.expect(']');
      return { name, ...body, text, isStructured: true, span: this.spanFrom(start) };
    }
    return { name, values: [], pairs: new Map(), text: '', isStructured: false, span: this.spanFrom(start) };
  }

  #annotationName(): string {
    const { token } = this;
    if (!isNameToken(token) && !isKeyword(token.kind) && token.kind !== '_') this.fail('the name of an annotation');
    return this.advance().text;
  }

  /** `@pragma name ...`: what follows the name goes to the end of the line. */
  #pragma(start: Token): Annotation {
    this.advance();
    const name = this.#annotationName();
    const from = this.index;
    while (!this.token.lineStart && !this.at('end')) this.advance();
    const tokens = this.tokens.slice(from, this.index);
    return { name, ...this.#tryBody(tokens), text: textOf(tokens), isStructured: false, span: this.spanFrom(start) };
  }

  #toClosingParenthesis(open: Token): readonly Token[] {
    const from = this.index;
    for (let depth = 0; depth > 0 || !this.at(')'); this.advance()) {
      if (this.at('(')) depth++;
      else if (this.at(')')) depth--;
      else if (this.at('end')) {
        this.index = from;
        this.report('unexpected-token', open.span, "a '(' without ')'");
        throw new SyntaxFailure();
      }
    }
    return this.tokens.slice(from, this.index);
  }

  /** Expressions, or pairs, up to a token that stays. */
  #body(close: string): AnnotationBody {
    const values: Expression[] = [];
    const pairs = new Map<string, Expression>();
    while (!this.at(close)) {
      if (this.atName && this.peek().kind === '=') {
        const name = this.name();
        this.advance();
        if (pairs.has(name.text)) this.report('duplicate-key', name.span, `'${name.text}' is given twice`);
        pairs.set(name.text, this.expression());
      } else {
        values.push(this.expression());
      }
      if (this.accept(',') === undefined) break;
    }
    if (!this.at(close)) this.fail(`'${close}'`);
    return { values, pairs };
  }

  /** The tokens as expressions, or nothing if they are none: annotations may contain anything. */
  #tryBody(tokens: readonly Token[]): AnnotationBody {
    const nothing: AnnotationBody = { values: [], pairs: new Map() };
    if (tokens.length === 0) return nothing;
    const { index, depth, noGreater, diagnostics } = this;
    const all = this.tokens;
    try {
      this.diagnostics = new Diagnostics();
      this.tokens = [...tokens, { ...this.token, kind: 'end', text: '' }];
      this.index = 0;
      const body = this.#body('end');
      return this.diagnostics.hasErrors ? nothing : body;
    } catch (error) {
      if (!(error instanceof SyntaxFailure)) throw error;
      return nothing;
    } finally {
      this.tokens = all;
      this.diagnostics = diagnostics;
      this.index = index;
      this.depth = depth;
      this.noGreater = noGreater;
    }
  }
}

/** The source text of tokens; if macros are among them, their texts with spaces between. */
function textOf(tokens: readonly Token[]): string {
  const first = tokens[0];
  const last = tokens.at(-1);
  if (first === undefined || last === undefined) return '';
  const { file } = first.span;
  if (tokens.some((token) => token.expanded || token.span.file !== file)) {
    return tokens.map((token) => (token.kind === 'text' ? `"${token.text}"` : token.text)).join(' ');
  }
  return file.text.slice(first.span.start, last.span.end);
}
