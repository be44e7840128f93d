/** A YAML file as values, with the position of each in the text. */
import {
  Composer,
  type Document,
  isMap,
  isNode,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  type Node,
  type Pair,
  Parser,
  visit,
} from 'yaml';
import { FileProblems } from '../io.js';

/** Keys and list positions from the root on. */
export type ValuePath = readonly (string | number)[];

/** Most values that all aliases together may expand to. */
const MAX_ALIASES = 1000;

/** Most levels of lists and mappings. A configuration has 8. The library ends the process if the stack is too small. */
const MAX_NESTING = 64;
/** Most lexemes: signs, words, blanks and ends of lines. The library takes some microseconds for each. */
const MOST_LEXEMES = 100_000;
/** Most syntax errors with a position: each tends to cause others. */
const MOST_SYNTAX = 200;

/** `${NAME}` and nothing else. */
const VARIABLE = /^\$\{([A-Za-z_][A-Za-z0-9_]*)\}$/;

export interface Problem {
  readonly path: ValuePath;
  /** Whether the position is that of the key, not of its value. */
  readonly atKey?: boolean;
  readonly message: string;
}

export class ConfigDocument {
  readonly value: unknown;
  readonly #file: string;
  readonly #root: Node | null;
  readonly #lines: LineCounter;

  /**
   * @param file name for messages
   * @param env variables for `${NAME}`
   * @param exitCode of the error
   * @param mostLexemes most signs, words, blanks and ends of lines
   * @throws FileProblems if it is not YAML, or a variable is not set
   */
  constructor(
    file: string,
    text: string,
    env: Readonly<Record<string, string | undefined>>,
    readonly exitCode: number,
    mostLexemes: number = MOST_LEXEMES,
  ) {
    this.#file = file;
    this.#lines = new LineCounter();
    const document = this.#parse(text, mostLexemes);
    const lines = document.errors.slice(0, MOST_SYNTAX).map(({ pos, message }) => this.#line(pos[0], message));
    const others = document.errors.length - lines.length;
    if (lines.length === 0) {
      visit(document, {
        Map: (_, { items }) => {
          const keys = new Set<unknown>();
          for (const { key } of items as Pair<unknown, unknown>[]) {
            const name = isScalar(key) ? key.value : key;
            const offset = isNode(key) ? (key.range?.[0] ?? 0) : 0;
            if (keys.has(name)) lines.push(this.#line(offset, `the key '${String(name)}' stands here twice`));
            keys.add(name);
          }
        },
        Scalar: (key, node) => {
          const name = typeof node.value === 'string' && key !== 'key' ? VARIABLE.exec(node.value)?.[1] : undefined;
          if (name === undefined) return;
          const value = env[name];
          if (value === undefined) {
            lines.push(this.#line(node.range?.[0] ?? 0, `the environment variable ${name} is not set`));
          } else node.value = value;
        },
      });
    }
    if (lines.length > 0) throw new FileProblems(lines, undefined, exitCode, lines.length + others);
    this.#root = document.contents as Node | null;
    try {
      this.value = document.toJS({ maxAliasCount: MAX_ALIASES }) as unknown;
    } catch (error) {
      throw new FileProblems([this.#line(0, (error as Error).message)], error, exitCode);
    }
  }

  /** Tokenises first, to bound the nesting before any recursion over it. */
  #parse(text: string, mostLexemes: number): Document.Parsed {
    this.#lines.addNewLine(0);
    const parser = new Parser(this.#lines.addNewLine);
    const tokens = [];
    let lexemes = 0;
    for (const lexeme of new Lexer().lex(text)) {
      for (const token of parser.next(lexeme)) tokens.push(token);
      if (++lexemes > mostLexemes) throw this.#beyond(parser, `${mostLexemes} words and signs`);
      if (parser.stack.length > MAX_NESTING) {
        throw this.#beyond(parser, `${MAX_NESTING} levels of lists and mappings: a configuration needs 8`);
      }
    }
    for (const token of parser.end()) tokens.push(token);
    // Unique keys are checked below: the library's check takes quadratic time.
    const composer = new Composer({ lineCounter: this.#lines, uniqueKeys: false });
    const [document, second] = composer.compose(tokens, true, text.length) as Iterable<Document.Parsed>;
    if (second === undefined) return document!;
    throw new FileProblems([this.#line(second.range[0], 'a second document begins here')], undefined, this.exitCode);
  }

  #beyond({ offset }: Parser, limit: string): FileProblems {
    return new FileProblems([this.#line(offset - 1, `more than ${limit}`)], undefined, this.exitCode);
  }

  /** Formats problems like a compiler. */
  problems(found: readonly Problem[], cause?: unknown, total: number = found.length): FileProblems {
    const placed = found.map(({ path, atKey = false, message }) => ({ offset: this.#offset(path, atKey), message }));
    const lines = placed.sort((a, b) => a.offset - b.offset).map(({ offset, message }) => this.#line(offset, message));
    const different = [...new Set(lines)];
    return new FileProblems(different, cause, this.exitCode, different.length + total - found.length);
  }

  #line(offset: number, message: string): string {
    const { line, col } = this.#lines.linePos(offset);
    return `${this.#file}:${Math.max(1, line)}:${Math.max(1, col)}: ${message.replaceAll(/\s*\n\s*/g, ' ')}`;
  }

  /** Position of a value; if it is missing, of its parent. */
  #offset(path: ValuePath, atKey: boolean): number {
    let node: unknown = this.#root;
    let offset = isNode(node) ? (node.range?.[0] ?? 0) : 0;
    for (const [index, step] of path.entries()) {
      let next: unknown;
      if (isMap(node)) {
        const pair = (node.items as Pair<unknown, unknown>[]).find(
          ({ key }) => String(isScalar(key) ? key.value : key) === String(step),
        );
        next = pair?.value;
        if (atKey && index === path.length - 1 && isNode(pair?.key)) next = pair.key;
        else if (!isNode(next) && isNode(pair?.key)) next = pair.key;
      } else if (isSeq(node)) next = node.items[Number(step)];
      if (!isNode(next)) return offset;
      node = next;
      offset = next.range?.[0] ?? offset;
    }
    return offset;
  }
}
