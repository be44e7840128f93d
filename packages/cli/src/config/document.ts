/** A YAML file as values, and where in the text each of them stands. */
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

/** Values that aliases may stand for, altogether. */
const MAX_ALIASES = 1000;

/** Levels of lists and mappings: a configuration has 8, and the library ends the process where its stack is too small. */
const MAX_NESTING = 64;
/** Signs, words, blanks and ends of lines: the library takes some microseconds for each. */
const MAX_LEXEMES = 100_000;
/** Mistakes of syntax of which one knows where they stand: each tends to cause others. */
const MOST_SYNTAX = 200;

/** `${NAME}` and nothing else. */
const VARIABLE = /^\$\{([A-Za-z_][A-Za-z0-9_]*)\}$/;

/** What is wrong with a file, and where. */
export interface Problem {
  readonly path: ValuePath;
  /** Point at the key, not at its value. */
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
   * @param env where `${NAME}` is looked up
   * @param exitCode of the error
   * @throws FileProblems if it is no YAML, or a variable is not set
   */
  constructor(
    file: string,
    text: string,
    env: Readonly<Record<string, string | undefined>>,
    readonly exitCode: number,
  ) {
    this.#file = file;
    this.#lines = new LineCounter();
    const document = this.#parse(text);
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

  /** Tokens first, so that nesting is bounded before anything recurses over it. */
  #parse(text: string): Document.Parsed {
    this.#lines.addNewLine(0);
    const parser = new Parser(this.#lines.addNewLine);
    const tokens = [];
    let lexemes = 0;
    for (const lexeme of new Lexer().lex(text)) {
      for (const token of parser.next(lexeme)) tokens.push(token);
      if (++lexemes > MAX_LEXEMES) throw this.#beyond(parser, `${MAX_LEXEMES} words and signs`);
      if (parser.stack.length > MAX_NESTING) {
        throw this.#beyond(parser, `${MAX_NESTING} levels of lists and mappings: a configuration needs 8`);
      }
    }
    for (const token of parser.end()) tokens.push(token);
    // That keys are unique is seen below, where it does not take the square of their number.
    const composer = new Composer({ lineCounter: this.#lines, uniqueKeys: false });
    const [document, second] = composer.compose(tokens, true, text.length) as Iterable<Document.Parsed>;
    if (second === undefined) return document!;
    throw new FileProblems([this.#line(second.range[0], 'a second document begins here')], undefined, this.exitCode);
  }

  #beyond({ offset }: Parser, limit: string): FileProblems {
    return new FileProblems([this.#line(offset - 1, `more than ${limit}`)], undefined, this.exitCode);
  }

  /** Problems as compilers write them. */
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

  /** Where a value stands; of one that is not there, what it should be in. */
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
