import { Budget } from '../budget/budget.js';
import { coreFile } from '../include/core.js';
import { v1modelFile } from '../include/v1model.js';
import type { Diagnostics } from '../source/diagnostics.js';
import type { SourceFile, Span } from '../source/position.js';
import { evaluateCondition } from './condition.js';
import { type HeaderName, Lexer, tokensOf } from './lexer.js';
import { expandTokens, isSameMacro, MacroExpansion, MacroTable, parseMacro } from './macros.js';
import { isWord, type Token } from './tokens.js';

const MAX_INCLUDE_DEPTH = 64;

/** The form of an `#include`, and the file that contains it. */
export interface IncludeRequest {
  /** `<path>` rather than `"path"`. */
  readonly isSystem: boolean;
  /** The file with the `#include`. */
  readonly from: SourceFile;
}

/** Why a file may not be included, such as `it is no regular file`. */
export interface IncludeRefusal {
  readonly refused: string;
}

/** Finds the file of an `#include`; undefined if there is none. */
export type IncludeResolver = (path: string, request: IncludeRequest) => SourceFile | IncludeRefusal | undefined;

export interface PreprocessOptions {
  /** Finds included files. `<core.p4>` and `<v1model.p4>` need no resolver. */
  readonly resolve?: IncludeResolver | undefined;
  /** Macros by name, as with `-D`; a name may have parameters: `F(x)`. */
  readonly defines?: Readonly<Record<string, string>> | undefined;
  readonly diagnostics: Diagnostics;
  /** Budget of the program. Default: a new one with the default limits. */
  readonly budget?: Budget | undefined;
}

/** Macros that p4c defines for this target. */
const PREDEFINED: Readonly<Record<string, string>> = { __p4c__: '1', __TARGET_BMV2__: '1' };

interface Conditional {
  readonly span: Span;
  /** One of its branches was or is taken. */
  taken: boolean;
  sawElse: boolean;
}

interface Input {
  readonly file: SourceFile;
  readonly lexer: Lexer;
  readonly conditionals: Conditional[];
  /** A token read too far. */
  pending: Token | undefined;
}

/**
 * Runs the preprocessor over a file: includes, macros with and without arguments, conditionals. Returns the program's
 * tokens, the last of kind `end`; their spans refer to the files that contain them. Source: P4_16 specification,
 * "Preprocessing"; what it leaves open follows C.
 */
export function preprocess(file: SourceFile, options: PreprocessOptions): Token[] {
  return new Preprocessor(file, options).run();
}

class Preprocessor {
  readonly #diagnostics: Diagnostics;
  readonly #table: MacroTable;
  readonly #inputs: Input[] = [];
  readonly #once = new Set<string>();
  readonly #resolve: IncludeResolver | undefined;
  readonly #budget: Budget;
  /** Includes were nested too deep. No further file is included. */
  #isClosed = false;

  constructor(file: SourceFile, options: PreprocessOptions) {
    this.#diagnostics = options.diagnostics;
    this.#resolve = options.resolve;
    this.#budget = options.budget ?? new Budget();
    this.#table = new MacroTable(options.diagnostics, this.#budget);
    for (const [name, value] of Object.entries({ ...PREDEFINED, ...options.defines })) {
      const text: SourceFile = { name: '<defines>', text: `${name} ${value}` };
      this.#define(tokensOf(text, this.#diagnostics, this.#budget), { file: text, start: 0, end: name.length });
    }
    this.#enter(file, { file, start: 0, end: 0 });
  }

  run(): Token[] {
    const expansion = new MacroExpansion(this.#table, () => this.#raw());
    const out: Token[] = [];
    for (;;) {
      const token = expansion.next();
      out.push(token);
      if (token.kind === 'end') return out;
    }
  }

  #enter(file: SourceFile, where: Span): void {
    this.#budget.spend('files', 1, where);
    this.#budget.spend('characters', file.text.length, where);
    const lexer = new Lexer(file, this.#diagnostics, this.#budget);
    this.#inputs.push({ file, lexer, conditionals: [], pending: undefined });
  }

  /** The next token outside of directives, macros not expanded. Enters and leaves included files. */
  #raw(): Token {
    for (;;) {
      const input = this.#inputs.at(-1)!;
      const token = input.pending ?? input.lexer.next();
      input.pending = undefined;
      if (token.kind === '#' && token.lineStart) {
        this.#directive(input, token);
      } else if (token.kind === 'end') {
        for (const { span } of input.conditionals.splice(0)) {
          this.#error('unterminated-conditional', span, "a condition without '#endif'");
        }
        if (this.#inputs.length === 1) return token;
        this.#inputs.pop();
      } else {
        return token;
      }
    }
  }

  #error(code: string, span: Span, message: string): undefined {
    this.#diagnostics.error('preprocessor', code, span, message);
  }

  #directive(input: Input, hash: Token): void {
    const word = input.lexer.directiveWord();
    if (word === undefined) {
      // `#` alone, or a line number as a preprocessor leaves it.
      input.lexer.takeLine();
      return;
    }
    const span = { file: hash.span.file, start: hash.span.start, end: word.span.end };
    switch (word.text) {
      case 'include':
        this.#include(input, span);
        break;
      case 'define':
        this.#define(this.#line(input), span);
        break;
      case 'undef':
        this.#undefine(this.#line(input), span);
        break;
      case 'if':
      case 'ifdef':
      case 'ifndef':
        this.#if(input, word.text, span);
        break;
      case 'elif':
      case 'else':
      case 'endif':
        this.#branch(input, word.text, span);
        break;
      case 'error':
      case 'warning':
        this.#message(input, word.text, span);
        break;
      case 'pragma':
        if (/^once\b/.test(input.lexer.takeLine().text)) this.#once.add(input.file.name);
        break;
      case 'line':
        input.lexer.takeLine();
        break;
      default:
        input.lexer.takeLine();
        this.#diagnostics.warning('preprocessor', 'unknown-directive', span, `'#${word.text}' is ignored`);
    }
  }

  /** The tokens left on the line of a directive. */
  #line(input: Input): Token[] {
    const tokens: Token[] = [];
    for (;;) {
      const token = input.lexer.next();
      if (token.kind === 'end' || token.lineStart) {
        input.pending = token;
        return tokens;
      }
      tokens.push(token);
    }
  }

  #define(line: readonly Token[], span: Span): void {
    const macro = parseMacro(line, span, this.#diagnostics);
    if (macro === undefined) return;
    const before = this.#table.macros.get(macro.name);
    if (before !== undefined && !isSameMacro(before, macro)) {
      const message = `macro '${macro.name}' is defined again, and differently`;
      this.#diagnostics.warning('preprocessor', 'macro-redefined', line[0]?.span ?? span, message);
    }
    this.#table.macros.set(macro.name, macro);
  }

  #undefine(line: readonly Token[], span: Span): void {
    const name = line[0];
    if (name !== undefined && isWord(name)) this.#table.macros.delete(name.text);
    else this.#error('bad-directive', name?.span ?? span, 'expected the name of a macro');
  }

  #message(input: Input, kind: 'error' | 'warning', span: Span): void {
    const { text } = input.lexer.takeLine();
    if (kind === 'error') this.#error('error-directive', span, `#error ${text}`.trim());
    else this.#diagnostics.warning('preprocessor', 'warning-directive', span, `#warning ${text}`.trim());
  }

  #include(input: Input, span: Span): void {
    const written = input.lexer.headerName();
    if (written !== undefined) input.lexer.takeLine();
    const header = written ?? this.#expandedHeader(this.#line(input), input, span);
    if (header === undefined) return;
    const { path, isSystem, span: where } = header;
    const file = this.#find(path, isSystem, input.file);
    if (file === undefined) this.#error('missing-include', where, `there is no file '${path}'`);
    else if ('refused' in file) this.#error('refused-include', where, `'${path}' is not included: ${file.refused}`);
    else if (!this.#once.has(file.name)) this.#enterInclude(file, where);
  }

  /** The file of an `#include` that macros name. */
  #expandedHeader(line: readonly Token[], input: Input, span: Span): HeaderName | undefined {
    const tokens = this.#expanded(line, input);
    const [first] = tokens;
    const where = line[0]?.span ?? span;
    if (first?.kind === 'text' && tokens.length === 1) return { path: first.text, isSystem: false, span: where };
    if (first?.kind !== '<' || tokens.at(-1)?.kind !== '>') {
      return this.#error('bad-directive', where, 'expected "FILE" or <FILE> behind #include');
    }
    const inner = tokens.slice(1, -1);
    return { path: inner.map((token) => token.text).join(''), isSystem: true, span: where };
  }

  /** The tokens of a directive's line with macros expanded. */
  #expanded(line: readonly Token[], input: Input): Token[] {
    return expandTokens(this.#table, line, { ...(input.pending as Token), kind: 'end', text: '' });
  }

  #enterInclude(file: SourceFile, where: Span): void {
    // Files that include themselves twice would never end.
    if (this.#isClosed) return;
    if (this.#inputs.length > MAX_INCLUDE_DEPTH) {
      this.#isClosed = true;
      const isCycle = this.#inputs.some((input) => input.file === file || input.file.name === file.name);
      if (isCycle) this.#error('include-cycle', where, `'${file.name}' includes itself without end`);
      else this.#error('include-too-deep', where, 'too many files are included');
      return;
    }
    this.#enter(file, where);
  }

  /** The standard files come first for `<...>`, so that a program has the same meaning everywhere. */
  #find(path: string, isSystem: boolean, from: SourceFile): ReturnType<IncludeResolver> {
    const embedded = path === coreFile.name ? coreFile : path === v1modelFile.name ? v1modelFile : undefined;
    if (isSystem && embedded !== undefined) return embedded;
    return this.#resolve?.(path, { isSystem, from }) ?? embedded;
  }

  #if(input: Input, kind: 'if' | 'ifdef' | 'ifndef', span: Span): void {
    const line = this.#line(input);
    let holds: boolean;
    if (kind === 'if') {
      holds = this.#condition(line, input, span);
    } else {
      const name = line[0];
      if (name === undefined || !isWord(name)) {
        this.#error('bad-directive', name?.span ?? span, 'expected the name of a macro');
      }
      holds = name !== undefined && this.#table.macros.has(name.text) === (kind === 'ifdef');
    }
    input.conditionals.push({ span, taken: holds, sawElse: false });
    if (!holds) this.#skipGroup(input);
  }

  /** `#elif`, `#else` or `#endif` behind a group that was taken. */
  #branch(input: Input, kind: 'elif' | 'else' | 'endif', span: Span): void {
    const conditional = input.conditionals.at(-1);
    if (conditional === undefined) {
      input.lexer.takeLine();
      this.#error('unbalanced-conditional', span, `'#${kind}' without '#if'`);
      return;
    }
    if (this.#continues(input, conditional, kind, span)) this.#skipGroup(input);
  }

  /**
   * Applies a branch directive to its conditional. Returns whether the group after it is skipped. `#endif` closes the
   * conditional.
   */
  #continues(input: Input, conditional: Conditional, kind: string, span: Span): boolean {
    if (kind === 'endif') {
      input.lexer.takeLine();
      input.conditionals.pop();
      return false;
    }
    if (conditional.sawElse) {
      this.#error('unbalanced-conditional', span, `'#${kind}' behind '#else'`);
    }
    if (kind === 'else') {
      input.lexer.takeLine();
      conditional.sawElse = true;
    }
    if (conditional.taken) {
      if (kind === 'elif') input.lexer.takeLine();
      return true;
    }
    conditional.taken = kind === 'else' || this.#condition(this.#line(input), input, span);
    return !conditional.taken;
  }

  #condition(line: readonly Token[], input: Input, span: Span): boolean {
    return evaluateCondition(this.#expanded(this.#resolveDefined(line), input), span, this.#diagnostics);
  }

  /** `defined NAME` and `defined(NAME)` become 0 and 1 before names are expanded. */
  #resolveDefined(line: readonly Token[]): Token[] {
    const out: Token[] = [];
    for (let i = 0; i < line.length; i++) {
      const token = line[i]!;
      const hasParentheses = line[i + 1]?.kind === '(';
      const name = line[hasParentheses ? i + 2 : i + 1];
      const isUse = token.text === 'defined' && token.kind === 'name' && name !== undefined && isWord(name);
      if (isUse && (!hasParentheses || line[i + 3]?.kind === ')')) {
        out.push({ ...token, kind: 'integer', text: this.#table.macros.has(name.text) ? '1' : '0' });
        i += hasParentheses ? 3 : 1;
      } else {
        out.push(token);
      }
    }
    return out;
  }

  /** Skips the group behind a condition that does not hold, up to a branch that is taken or to the end. */
  #skipGroup(input: Input): void {
    let depth = 0;
    // The condition's line was read up to the next token, which may be the `#` of the next directive.
    let pending = input.pending;
    input.pending = undefined;
    for (;;) {
      const hash = pending?.kind === '#' && pending.lineStart ? pending : input.lexer.skipToDirective();
      pending = undefined;
      if (hash.kind === 'end') {
        input.pending = hash;
        return;
      }
      const word = input.lexer.directiveWord();
      const name = word?.text ?? '';
      if (name === 'if' || name === 'ifdef' || name === 'ifndef') depth++;
      else if (name === 'endif' && depth > 0) depth--;
      else if (depth === 0 && (name === 'elif' || name === 'else' || name === 'endif')) {
        const conditional = input.conditionals.at(-1);
        const span = { file: hash.span.file, start: hash.span.start, end: word?.span.end ?? hash.span.end };
        if (conditional === undefined || !this.#continues(input, conditional, name, span)) return;
        pending = input.pending;
        input.pending = undefined;
        continue;
      }
      input.lexer.takeLine();
    }
  }
}
