import { tooManyMembers } from '../budget/budget.js';
import { MAX_MEMBERS } from '../budget/limits.js';
import type { Diagnostics } from '../source/diagnostics.js';
import { type Span, spanning } from '../source/position.js';
import type { Identifier } from './ast.js';
import { NameScopes } from './name-scopes.js';
import { describeToken, isNameToken, type Token } from './tokens.js';

/** Deepest nesting of brackets, blocks and operators. */
const MAX_NESTING = 256;
/** Largest height of an expression's tree. Chains of operators grow without nesting in the text. */
const MAX_HEIGHT = 512;

/** Thrown after the report of a syntax error; caught where parsing can go on. */
export class SyntaxFailure extends Error {}

/**
 * Keywords that begin something which an action, block or table cannot contain, with the tokens that may follow the
 * next name. Such a keyword means that a `}` is missing before it.
 */
const STRUCTURES: ReadonlyMap<string, string> = /* @__PURE__ */ new Map([
  ['action', '('],
  ['control', '(<'],
  ['parser', '(<'],
  ['package', '(<'],
  ['header', '{<'],
  ['header_union', '{<'],
  ['struct', '{<'],
  ['enum', '{<'],
]);

/** Reads tokens, reports errors and finds a place to go on. The base of the parser's parts. */
export class TokenCursor {
  protected index = 0;
  protected depth = 0;
  /** Within `bit<...>`: a `>` closes the bracket. */
  protected noGreater = false;
  /** Within the braces of a control or parser: tables, states and an apply block may follow a block. */
  protected inContainer = false;
  protected readonly scopes = new NameScopes();
  readonly #heights = new WeakMap<object, number>();

  constructor(
    /** The last is of kind `end`. */
    protected tokens: readonly Token[],
    protected diagnostics: Diagnostics,
    /** Called for each token. */
    readonly onToken: () => void = () => {},
  ) {}

  protected get token(): Token {
    return this.tokens[this.index]!;
  }

  protected peek(distance = 1): Token {
    return this.tokens[Math.min(this.index + distance, this.tokens.length - 1)]!;
  }

  /** The token read last. */
  protected get previous(): Token {
    return this.tokens[Math.max(this.index - 1, 0)]!;
  }

  protected advance(): Token {
    const token = this.token;
    this.onToken();
    if (token.kind !== 'end') this.index++;
    return token;
  }

  protected at(kind: string): boolean {
    return this.token.kind === kind;
  }

  protected accept(kind: string): Token | undefined {
    return this.token.kind === kind ? this.advance() : undefined;
  }

  protected expect(kind: string): Token {
    return this.accept(kind) ?? this.fail(`'${kind}'`);
  }

  protected get atName(): boolean {
    return isNameToken(this.token);
  }

  protected name(what = 'a name'): Identifier {
    if (!this.atName) this.fail(what);
    const token = this.advance();
    return { text: token.text, span: token.span };
  }

  /** The span from a token, or node, up to what was read last. */
  protected spanFrom(start: { readonly span: Span }): Span {
    return spanning(start.span, this.previous.span);
  }

  /** Reports the expected token, and gives up the current part. */
  protected fail(expected: string): never {
    this.report('unexpected-token', this.token.span, `expected ${expected}, found ${describeToken(this.token)}`);
    throw new SyntaxFailure(expected);
  }

  protected report(code: string, span: Span, message: string): void {
    this.diagnostics.error('parser', code, span, message);
  }

  /** The `;` behind a statement. If only that is missing, it is reported and parsing goes on as if it were there. */
  protected semicolon(): void {
    if (this.accept(';') !== undefined) return;
    const { token, previous } = this;
    // A string without end has swallowed it.
    if (previous.problem !== undefined && token.lineStart) return;
    if (!token.lineStart && token.kind !== '}' && token.kind !== 'end') this.fail("';'");
    const span = { file: previous.span.file, start: previous.span.end, end: previous.span.end };
    this.report('missing-semicolon', span, `expected ';' before ${describeToken(token)}`);
  }

  /** Goes one level deeper. Call `leave` after it, unless parsing fails. */
  protected enter(): void {
    if (++this.depth > MAX_NESTING) this.tooDeep(this.token.span);
  }

  protected leave(): void {
    this.depth--;
  }

  protected tooDeep(span: Span): never {
    this.report('nesting-too-deep', span, `nested deeper than ${MAX_NESTING} levels`);
    throw new SyntaxFailure();
  }

  /**
   * Makes the parts of an expression or type a node, from a token or node up to what was read last. Notes its height, so
   * that no later stage gets a tree too high to walk.
   */
  protected node<const Parts extends object>(
    start: { readonly span: Span },
    parts: Parts,
  ): Parts & { readonly span: Span } {
    const node = parts as Parts & { span: Span };
    node.span = this.spanFrom(start);
    let height = 0;
    for (const name in parts) {
      const part: unknown = parts[name];
      if (typeof part !== 'object') continue;
      for (const each of Array.isArray(part) ? part : [part]) height = Math.max(height, this.#heights.get(each) ?? 0);
    }
    if (height >= MAX_HEIGHT) {
      this.report('nesting-too-deep', node.span, `an expression of more than ${MAX_HEIGHT} levels`);
      throw new SyntaxFailure();
    }
    this.#heights.set(node, height + 1);
    return node;
  }

  /** Whether the token begins something that can only stand outside of the block being parsed. */
  protected get atStructure(): boolean {
    const { kind } = this.token;
    const isNamed = isNameToken(this.peek());
    const behind = this.peek(2).kind;
    if (kind === 'typedef' || kind === 'extern') return true;
    if (STRUCTURES.get(kind)?.includes(behind)) return isNamed || kind === 'enum';
    if (!this.inContainer) return false;
    if (kind === 'apply') return this.peek().kind === '{' || this.peek().kind === '@';
    return (kind === 'table' || kind === 'state') && isNamed && behind === '{';
  }

  /** Runs a part of the parser. If it fails, skips to a place where parsing can go on, and returns undefined. */
  protected recovering<T>(part: () => T, skip = (start: number): void => this.#synchronise(start)): T | undefined {
    const { index, depth, noGreater } = this;
    const level = this.scopes.level;
    try {
      return part();
    } catch (error) {
      if (!(error instanceof SyntaxFailure)) throw error;
      this.depth = depth;
      this.noGreater = noGreater;
      this.scopes.restore(level);
      skip(index);
      return undefined;
    }
  }

  /**
   * Items up to and including a `}`. Wrong ones are left out. The list also ends before a token that can only stand
   * further out, except the given keywords.
   */
  protected itemsToBrace<T>(item: () => T | undefined, ...structures: readonly string[]): T[] {
    const items: T[] = [];
    while (!this.at('}') && !this.at('end')) {
      if (this.atStructure && !structures.includes(this.token.kind)) break;
      const { index } = this;
      const found = this.recovering(item);
      if (found !== undefined) items.push(found);
      if (this.index === index) this.advance();
    }
    this.closeBrace();
    return items;
  }

  /** At most `MAX_MEMBERS` items in braces, as of `itemsToBrace`. */
  protected members<T>(item: () => T | undefined): T[] {
    this.openBrace();
    let count = 0;
    return this.itemsToBrace(() => {
      this.oneMore(count++);
      return item();
    });
  }

  /** One or more items with commas between. A comma may also stand before `close`, if that is given. */
  protected items<T>(item: () => T, close = ''): T[] {
    const items: T[] = [];
    do {
      this.oneMore(items.length);
      items.push(item());
    } while (this.accept(',') !== undefined && !this.at(close));
    return items;
  }

  /** Items with commas between, in brackets. There may be none. */
  protected list<T>(open: string, item: () => T, close: string): T[] {
    this.expect(open);
    const items = this.at(close) ? [] : this.items(item);
    this.expect(close);
    return items;
  }

  /** Called before each member, with the number of members so far. @throws Stopped if there are too many */
  protected oneMore(count: number): void {
    if (count >= MAX_MEMBERS) throw tooManyMembers(this.token.span);
  }

  /** The `{` of a block. If only that is missing, it is reported and parsing goes on as if it were there. */
  protected openBrace(): Token {
    const { token } = this;
    if (token.kind === '{') return this.advance();
    if (!token.lineStart || token.kind === 'end') this.fail("'{'");
    this.report('unexpected-token', token.span, `expected '{', found ${describeToken(token)}`);
    return token;
  }

  /** Skips past the `)` that closes a list begun at `start`, or to a `{` or `;` that comes first. */
  protected skipBehindParenthesis(start: number): void {
    let depth = 0;
    for (this.index = start; !this.at('end'); this.advance()) {
      const { kind, lineStart } = this.token;
      if (kind === '{' || kind === ';' || kind === '}' || (lineStart && this.atStructure)) return;
      if (kind === '(') depth++;
      else if (kind === ')' && depth-- === 0) {
        this.advance();
        return;
      }
    }
  }

  /** The `}` of a block. A missing one is reported and assumed here. */
  protected closeBrace(): void {
    if (this.accept('}') !== undefined) return;
    this.report('missing-brace', this.token.span, `expected '}', found ${describeToken(this.token)}`);
  }

  /**
   * Skips to a place where parsing can go on: after the `;` or block that ends the part begun at `start`, before the
   * `}` of the part around it, or before a token that can only stand further out.
   */
  #synchronise(start: number): void {
    if (this.diagnostics.errors >= this.diagnostics.limit) {
      this.index = this.tokens.length - 1;
      return;
    }
    let braces = 0;
    let brackets = 0;
    for (let i = start; i < this.index; i++) {
      const { kind } = this.tokens[i]!;
      if (kind === '{') braces++;
      else if (kind === '}') braces--;
      else if (kind === '(' || kind === '[') brackets++;
      else if (kind === ')' || kind === ']') brackets--;
    }
    for (; !this.at('end'); this.advance()) {
      const { kind, lineStart } = this.token;
      if (this.index > start && lineStart && this.atStructure) return;
      if (kind === '{') braces++;
      else if (kind === '}') {
        if (braces <= 0) return;
        if (--braces === 0 && !this.#continuesBehindBrace()) {
          this.advance();
          this.accept(';');
          return;
        }
      } else if (kind === '(' || kind === '[') brackets++;
      else if (kind === ')' || kind === ']') brackets--;
      else if (kind === ';' && braces <= 0 && (brackets <= 0 || this.peek().lineStart)) {
        this.advance();
        return;
      }
    }
  }

  #continuesBehindBrace(): boolean {
    const following = this.peek();
    return !following.lineStart && [')', ']', ',', 'else', '.', ':'].includes(following.kind);
  }
}
