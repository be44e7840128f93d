import type { Budget } from '../budget/budget.js';
import { Diagnostics } from '../source/diagnostics.js';
import { lineColumn, type Span, spanning } from '../source/position.js';
import { tokensOf } from './lexer.js';
import { isWord, MAX_NAME, MAX_NUMBER, MAX_TEXT, type Token } from './tokens.js';

/** Deepest nesting of macro calls in arguments of macro calls. */
const MAX_ARGUMENT_NESTING = 64;

const VARIADIC = '__VA_ARGS__';

export interface Macro {
  readonly name: string;
  /** Names by position; undefined for an object-like macro. */
  readonly parameters: ReadonlyMap<string, number> | undefined;
  /** The last parameter takes all remaining arguments. */
  readonly isVariadic: boolean;
  readonly body: readonly Token[];
}

/** Reads a definition after `#define`; undefined, with a diagnostic, if it is wrong. */
export function parseMacro(line: readonly Token[], span: Span, diagnostics: Diagnostics): Macro | undefined {
  const fail = (token: Token | undefined, message: string): undefined => {
    diagnostics.error('preprocessor', 'bad-macro', token?.span ?? span, message);
  };
  const name = line[0];
  if (name === undefined || !isWord(name)) return fail(name, 'expected the name of a macro');
  if (name.text === 'defined') return fail(name, "a macro cannot be named 'defined'");
  const open = line[1];
  if (open === undefined || open.kind !== '(' || open.spaced) {
    return { name: name.text, parameters: undefined, isVariadic: false, body: line.slice(1) };
  }
  const parameters = new Map<string, number>();
  let isVariadic = false;
  let at = 2;
  if (line[at]?.kind === ')') at++;
  else {
    for (;;) {
      const parameter = line[at];
      if (parameter?.kind === '...') {
        isVariadic = true;
        parameters.set(VARIADIC, parameters.size);
      } else if (parameter === undefined || !isWord(parameter)) {
        return fail(parameter, 'expected the name of a macro parameter');
      } else if (parameters.has(parameter.text)) {
        return fail(parameter, `two macro parameters are named '${parameter.text}'`);
      } else {
        parameters.set(parameter.text, parameters.size);
      }
      at++;
      const separator = line[at++];
      if (separator?.kind === ')') break;
      if (separator?.kind !== ',' || isVariadic) return fail(separator, "expected ')' behind the macro parameters");
    }
  }
  return { name: name.text, parameters, isVariadic, body: line.slice(at) };
}

/** Whether two definitions are equal, apart from their place. */
export function isSameMacro(a: Macro, b: Macro): boolean {
  const written = ({ parameters, isVariadic, body }: Macro): string =>
    JSON.stringify([isVariadic, parameters && [...parameters.keys()], body.map(({ kind, text }) => [kind, text])]);
  return written(a) === written(b);
}

/** The macros of one run, and the state that its expansions share. */
export class MacroTable {
  readonly macros = new Map<string, Macro>();
  /** Macros being expanded: not expanded again within themselves. */
  readonly active = new Set<string>();
  /** Tokens found in the expansion of their own macro. They are never expanded again. */
  readonly painted = new WeakSet<Token>();

  constructor(
    readonly diagnostics: Diagnostics,
    readonly budget: Budget,
  ) {}
}

interface Frame {
  readonly tokens: readonly Token[];
  at: number;
  readonly macro: string | undefined;
}

/** A stream of tokens with macros expanded, over a stream without. */
export class MacroExpansion {
  readonly #frames: Frame[] = [];

  constructor(
    readonly table: MacroTable,
    /** Gives the next token not yet expanded, of kind `end` when there is none. */
    readonly base: () => Token,
    readonly nesting = 0,
  ) {}

  /** The next token with macros expanded; of kind `end` when there is none. */
  next(): Token {
    for (;;) {
      const token = this.#pull();
      if (!isWord(token) || this.table.painted.has(token)) return token;
      const macro = this.table.macros.get(token.text);
      if (macro === undefined) {
        if (token.text === '__LINE__' || token.text === '__FILE__') return builtIn(token);
        return token;
      }
      if (this.table.active.has(macro.name)) {
        this.table.painted.add(token);
        return token;
      }
      const replacement = this.#replacement(macro, token);
      if (replacement === undefined) return token;
      this.table.active.add(macro.name);
      this.#frames.push({ tokens: replacement, at: 0, macro: macro.name });
    }
  }

  #pull(): Token {
    for (;;) {
      const frame = this.#frames.at(-1);
      if (frame === undefined) return this.base();
      const token = frame.tokens[frame.at];
      if (token !== undefined) {
        frame.at++;
        return token;
      }
      this.#frames.pop();
      if (frame.macro !== undefined) this.table.active.delete(frame.macro);
    }
  }

  /** The replacement for a use of a macro; undefined for a function-like macro without arguments after it. */
  #replacement(macro: Macro, name: Token): Token[] | undefined {
    if (macro.parameters === undefined) return substitute(this, macro, [], name, name.span);
    const open = this.#pull();
    if (open.kind !== '(') {
      this.#frames.push({ tokens: [open], at: 0, macro: undefined });
      return undefined;
    }
    const { arguments: found, close } = this.#arguments(macro, name);
    const use = name.expanded || close === undefined || close.expanded ? name.span : spanning(name.span, close.span);
    return substitute(this, macro, found, name, use);
  }

  #arguments(macro: Macro, name: Token): { arguments: Token[][]; close: Token | undefined } {
    const wanted = macro.parameters?.size ?? 0;
    const found: Token[][] = [[]];
    let depth = 0;
    let close: Token | undefined;
    for (;;) {
      const token = this.#pull();
      if (token.kind === 'end') {
        this.#frames.push({ tokens: [token], at: 0, macro: undefined });
        const message = `the arguments of macro '${macro.name}' have no end`;
        this.table.diagnostics.error('preprocessor', 'unterminated-macro-call', name.span, message);
        break;
      }
      if (token.kind === ')' && depth === 0) {
        close = token;
        break;
      }
      if (token.kind === '(') depth++;
      else if (token.kind === ')') depth--;
      const takesRest = macro.isVariadic && found.length === wanted;
      if (token.kind === ',' && depth === 0 && !takesRest) found.push([]);
      else found.at(-1)?.push(token);
    }
    const given = wanted === 0 && found.length === 1 && found[0]?.length === 0 ? 0 : found.length;
    if (close !== undefined && given !== wanted && !(macro.isVariadic && given === wanted - 1)) {
      const message = `macro '${macro.name}' takes ${wanted} argument${wanted === 1 ? '' : 's'}, not ${given}`;
      this.table.diagnostics.error('preprocessor', 'macro-arguments', name.span, message);
    }
    return { arguments: found, close };
  }
}

/** Expands all macros in a list of tokens. */
export function expandTokens(table: MacroTable, tokens: readonly Token[], end: Token, nesting = 0): Token[] {
  if (nesting > MAX_ARGUMENT_NESTING) {
    const at = tokens[0]?.span ?? end.span;
    table.diagnostics.error('preprocessor', 'nesting-too-deep', at, 'macro calls nested too deep');
    return [...tokens];
  }
  let at = 0;
  const expansion = new MacroExpansion(table, () => tokens[at++] ?? end, nesting);
  const out: Token[] = [];
  for (let token = expansion.next(); token.kind !== 'end'; token = expansion.next()) {
    table.budget.spend('tokens', 1, token.span);
    out.push(token);
  }
  return out;
}

function substitute(
  expansion: MacroExpansion,
  macro: Macro,
  found: readonly Token[][],
  name: Token,
  use: Span,
): Token[] {
  const { table } = expansion;
  const end: Token = { ...name, kind: 'end', text: '' };
  const expandedArguments: (Token[] | undefined)[] = [];
  const indexOf = (token: Token | undefined): number =>
    token === undefined || !isWord(token) ? -1 : (macro.parameters?.get(token.text) ?? -1);
  const expanded = (index: number): Token[] => {
    expandedArguments[index] ??= expandTokens(table, found[index] ?? [], end, expansion.nesting + 1);
    return expandedArguments[index];
  };
  const placed = (token: Token): Token => ({ ...token, span: use, lineStart: false, expanded: true });
  // Undefined stands for an argument without tokens beside `##`.
  const out: (Token | undefined)[] = [];
  let counted = 0;
  table.budget.spend('tokens', 1, use);
  for (let i = 0; i < macro.body.length; i++) {
    const token = macro.body[i]!;
    const following = macro.body[i + 1];
    const index = indexOf(token);
    if (token.kind === '#' && indexOf(following) >= 0) {
      // A '#' alone would be a problem.
      const { problem: _, ...sign } = token;
      out.push(placed({ ...sign, kind: 'text', text: stringOf(table, found[indexOf(following)] ?? [], use) }));
      i++;
    } else if (token.kind === '##' && out.length > 0 && following !== undefined) {
      const right = indexOf(following) >= 0 ? (found[indexOf(following)] ?? []) : [placed(following)];
      const left = out.pop();
      const first = right[0];
      if (left !== undefined && first !== undefined) out.push(...pasted(table, left, first, use));
      else out.push(left ?? first);
      for (let at = 1; at < right.length; at++) out.push(right[at]);
      i++;
    } else if (index >= 0 && following?.kind === '##') {
      const raw = found[index] ?? [];
      if (raw.length === 0) out.push(undefined);
      else for (const argument of raw) out.push(argument);
    } else if (index >= 0) {
      // One by one: an argument may have more tokens than a call may have arguments.
      for (const argument of expanded(index)) out.push(argument);
    } else {
      out.push(placed(token));
    }
    table.budget.spend('tokens', out.length - counted, use);
    counted = out.length;
  }
  const tokens = out.filter((token) => token !== undefined);
  const first = tokens[0];
  if (first !== undefined) {
    tokens[0] = { ...first, lineStart: name.lineStart, spaced: name.spaced };
    if (table.painted.has(first)) table.painted.add(tokens[0]);
  }
  return tokens;
}

/** `#parameter`: the argument as a string literal. */
function stringOf(table: MacroTable, tokens: readonly Token[], use: Span): string {
  let characters = 0;
  // A quote or backslash of a string becomes two characters.
  for (const { kind, text } of tokens) characters += kind === 'text' ? 2 * text.length + 4 : text.length + 1;
  table.budget.spend('characters', characters, use);
  if (characters > 2 * MAX_TEXT) return tooLong(table, 'string', MAX_TEXT, use);
  const texts = tokens.map((token, i) => {
    const text = token.kind === 'text' ? `"${token.text}"`.replace(/["\\]/g, '\\$&') : token.text;
    return i > 0 && (token.spaced || token.lineStart) ? ` ${text}` : text;
  });
  const string = texts.join('');
  return string.length > MAX_TEXT ? tooLong(table, 'string', MAX_TEXT, use) : string;
}

/** Reports a macro whose result is too long for a token, and returns a replacement. */
function tooLong(table: MacroTable, what: string, most: number, use: Span): '' {
  const message = `a macro makes a ${what} of more than ${most} characters`;
  table.diagnostics.error('preprocessor', `${what}-too-long`, use, message);
  return '';
}

/** `left ## right`: the token of the joined text, or the two tokens if the text is not a single token (`a.##b`). */
function pasted(table: MacroTable, left: Token, right: Token, use: Span): Token[] {
  const length = left.text.length + right.text.length;
  table.budget.spend('characters', length, use);
  if (length > Math.max(MAX_NAME, MAX_NUMBER)) {
    tooLong(table, 'name', MAX_NAME, use);
    return [{ ...left, span: use }];
  }
  const text = left.text + right.text;
  const isText = left.kind === 'text' || right.kind === 'text';
  const tokens = isText ? [] : tokensOf({ name: '', text }, new Diagnostics(), table.budget);
  const made = tokens[0];
  if (made === undefined || tokens.length > 1) return [left, { ...right, spaced: false }];
  return [{ ...made, span: use, lineStart: false, spaced: left.spaced, expanded: true }];
}

function builtIn(token: Token): Token {
  if (token.text === '__FILE__') return { ...token, kind: 'text', text: token.span.file.name, expanded: true };
  const { line } = lineColumn(token.span.file, token.span.start);
  return { ...token, kind: 'integer', text: String(line), expanded: true };
}
