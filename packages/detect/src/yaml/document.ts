import {
  type Alias,
  Composer,
  CST,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  type Node,
  type Pair,
  Parser,
  type Scalar,
  type YAMLError,
} from 'yaml';
import type { RuleProblem, RuleProblemCode } from '../errors.js';
import type { Path } from '../rules/given.js';
import { scalarPlaces } from './scalar-place.js';

/** Levels of lists and mappings. Rules have 7; the limit keeps the YAML library within its stack. */
const MAX_NESTING = 64;
/**
 * Signs, words, blanks and ends of lines. The library takes some microseconds for each: seconds for so many, and
 * minutes for those of 16 MB.
 */
const MAX_LEXEMES = 250_000;
/** All values that aliases may stand for: a few lines of aliases of aliases could exceed the memory. */
const MAX_ALIASED = 1_000_000;
/** So many mistakes of syntax are reported: each tends to cause others. */
const MAX_SYNTAX_PROBLEMS = 10;

/** A value and where it stands. */
interface Place {
  readonly value: unknown;
  /** What stands at this place; for an alias, the alias itself. */
  readonly node: Node | null;
  /** The key that names it, if any. */
  key: Node | null;
  readonly children: ReadonlyMap<string | number, Place>;
  /** For an alias: what it stands for. */
  readonly target: Place | null;
  /** Values here and below, those of aliases included; 0 while it is being read. */
  size: number;
}

/** 1-based; columns in UTF-16 code units, as editors count. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** A YAML (or JSON) text as plain values, and the places of all of them. */
export class YamlText {
  readonly #text: string;
  /** Where each line starts. */
  readonly #lines: readonly number[];
  readonly #anchors = new Map<string, Place>();
  readonly #problems: RuleProblem[] = [];
  /** Of quoted text that may lack its end: where it stops -> where it starts. */
  readonly #quotes = new Map<number, number>();
  #isComplete = true;
  #aliased = 0;
  readonly #root: Place | null;

  /** @param text without a byte order mark */
  constructor(text: string) {
    this.#text = text;
    const lines = [0];
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines.push(at + 1);
    this.#lines = lines;
    const document = this.#parse();
    this.#root = document === null ? null : this.#placeOf(document.contents as Node | null, null, []);
  }

  /** What is wrong with the text itself. */
  get problems(): readonly RuleProblem[] {
    return this.#problems;
  }

  /** Whether the value is what the text says, except for keys that stand twice or are no text. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  /** Mappings are objects without prototype, lists arrays, scalars those of the YAML 1.2 core schema. */
  get value(): unknown {
    return this.#root?.value ?? null;
  }

  /** Where the value (or the key) at a path stands; where it does not exist, the place of what it would be part of. */
  position(path: Path, atKey: boolean, spanStart?: number): Position {
    let place = this.#root;
    for (const [i, step] of path.entries()) {
      const holder: Place | null = place?.target ?? place;
      const child = holder?.children.get(step);
      if (child === undefined) break;
      place = child;
      if (i === path.length - 1 && atKey) return this.#at(place.key?.range?.[0] ?? 0);
    }
    if (place === null) return { line: 1, column: 1 };
    const node = place.node ?? place.key;
    const range = node?.range;
    if (!range) return { line: 1, column: 1 };
    const scalar = place.target?.node ?? place.node;
    if (spanStart !== undefined && isScalar(scalar)) {
      const offset = scalarPlaces(this.#text, scalar)?.[spanStart];
      if (offset !== undefined) return this.#at(offset);
    }
    // An empty value stands where its key does.
    const isEmpty = isScalar(node) && node.value === null && range[0] === range[1];
    if (!isEmpty) return this.#at(range[0]);
    return this.#at(path.length === 0 ? 0 : (place.key?.range?.[0] ?? range[0]));
  }

  #at(offset: number): Position {
    const end = Math.min(offset, this.#text.length);
    let low = 0;
    for (let high = this.#lines.length; high - low > 1; ) {
      const middle = (low + high) >>> 1;
      if (this.#lines[middle]! <= end) low = middle;
      else high = middle;
    }
    return { line: low + 1, column: end - this.#lines[low]! + 1 };
  }

  #report(code: RuleProblemCode, message: string, offset: number, path: Path): void {
    this.#problems.push({ code, path, message, ...this.#at(offset) });
  }

  /** A mistake after which the value is not what the author meant. */
  #fail(message: string, offset: number, path: Path = []): void {
    this.#isComplete = false;
    this.#report('SYNTAX', message, offset, path);
  }

  /** Reads tokens first: this bounds the nesting before anything recurses over it. */
  #parse(): Document.Parsed | null {
    const lexer = new Lexer();
    const parser = new Parser();
    const tokens = [];
    let lexemes = 0;
    let unclosed = 0;
    for (const lexeme of lexer.lex(this.#text)) {
      const start = parser.offset;
      if (++lexemes > MAX_LEXEMES) {
        this.#fail(`more than ${MAX_LEXEMES} words and signs: use fewer rules, or shorter lists`, start);
        return null;
      }
      // The mistakes so far are enough.
      if (lexeme === CST.FLOW_END && ++unclosed > MAX_SYNTAX_PROBLEMS) break;
      const quote = lexeme.charAt(0);
      if ((quote === '"' || quote === "'") && (lexeme.length === 1 || !lexeme.endsWith(quote))) {
        this.#quotes.set(start + lexeme.length, start);
      }
      for (const token of parser.next(lexeme)) tokens.push(token);
      if (parser.stack.length > MAX_NESTING) {
        this.#fail(`more than ${MAX_NESTING} levels of lists and mappings: rules need 7`, parser.offset - 1);
        return null;
      }
    }
    for (const token of parser.end()) tokens.push(token);

    const composer = new Composer({
      version: '1.2',
      schema: 'core',
      merge: false,
      resolveKnownTags: false,
      // Checked here: the library compares each key with every other.
      uniqueKeys: false,
      logLevel: 'silent',
    });
    let first: Document.Parsed | null = null;
    for (const document of composer.compose(tokens, true, this.#text.length)) {
      if (first !== null) {
        this.#fail(
          "a second YAML document: a file holds one rule set; remove the line '---' before it",
          document.range[0],
        );
        break;
      }
      first = document as Document.Parsed;
      // A closing bracket in the first column is a warning; many write it there.
      const warnings = document.warnings.filter(({ code }) => code !== 'BAD_INDENT');
      const mistakes: readonly YAMLError[] = [...document.errors, ...warnings];
      let line = 0;
      for (const mistake of mistakes) {
        const { line: at } = this.#at(mistake.pos[0]);
        // One mistake in a line is reported in several ways.
        if (at === line) continue;
        line = at;
        this.#fail(syntaxMessage(mistake), this.#quotes.get(mistake.pos[0]) ?? mistake.pos[0]);
        if (this.#problems.length === MAX_SYNTAX_PROBLEMS) return null;
      }
      if (this.#problems.length > 0) return null;
    }
    return first;
  }

  /** Goes in the order of the text, so that an alias finds the last anchor of its name before it. */
  #placeOf(node: Node | null, key: Node | null, path: Path): Place {
    if (isAlias(node)) return this.#aliasPlace(node, key, path);
    const children = new Map<string | number, Place>();
    let value: unknown = null;
    if (isMap(node)) value = Object.create(null);
    else if (isSeq(node)) value = [];
    else if (isScalar(node)) value = node.value;
    const place: Place = { value, node, key, children, target: null, size: 0 };
    // Before the content: an alias within it means this place.
    if (node !== null && node.anchor !== undefined) this.#anchors.set(node.anchor, place);
    let size = 1;
    if (isMap(node)) {
      for (const pair of node.items) size += this.#addEntry(pair as Pair<Node | null, Node | null>, place, path);
    } else if (isSeq(node)) {
      for (const [index, item] of (node.items as Node[]).entries()) {
        const child = this.#placeOf(item, null, [...path, index]);
        (value as unknown[]).push(child.value);
        children.set(index, child);
        size += child.size;
      }
    }
    place.size = size;
    return place;
  }

  #aliasPlace(node: Alias, key: Node | null, path: Path): Place {
    const target = this.#anchors.get(node.source) ?? null;
    const offset = node.range?.[0] ?? 0;
    if (target === null) {
      this.#fail(`no anchor &${node.source} before the alias *${node.source}: write the value`, offset, path);
    } else if (target.size === 0) {
      this.#fail(`the alias *${node.source} is part of what it stands for: write the value`, offset, path);
    } else if (this.#aliased <= MAX_ALIASED) {
      this.#aliased += target.size;
      if (this.#aliased > MAX_ALIASED) {
        this.#fail(`aliases stand for more than ${MAX_ALIASED} values: write fewer of them`, offset, path);
      }
    }
    const size = Math.min(target?.size ?? 1, MAX_ALIASED);
    return { value: target?.value ?? null, node, key, children: new Map(), target, size };
  }

  /** Returns the size of the entry. */
  #addEntry(pair: Pair<Node | null, Node | null>, parent: Place, path: Path): number {
    const { key, value } = pair;
    const keyPlace = this.#placeOf(key, null, path);
    const named = keyPlace.target?.node ?? keyPlace.node;
    const offset = key?.range?.[0] ?? value?.range?.[0] ?? parent.node?.range?.[0] ?? 0;
    if (!isScalar(named) || (named.value === null && named.source === '')) {
      this.#report('WRONG_TYPE', "a key is text or a number: write it before the ':'", offset, path);
      return 1;
    }
    const name = keyText(named);
    const at = [...path, name];
    const place = this.#placeOf(value, key, at);
    const before = parent.children.get(name);
    if (before !== undefined) {
      const { line } = this.#at(before.key?.range?.[0] ?? 0);
      this.#report(
        'SYNTAX',
        `the key ${JSON.stringify(name.slice(0, 64))} stands here twice, first in line ${line}: remove one of them`,
        offset,
        at,
      );
      return place.size;
    }
    (parent.children as Map<string, Place>).set(name, place);
    (parent.value as Record<string, unknown>)[name] = place.value;
    return place.size;
  }
}

/** Keys are text. A number is the text of its value, so that 0x10 and 16 are the same switch. */
function keyText({ value, source }: Scalar): string {
  if (typeof value === 'string') return value;
  return typeof value === 'number' && Number.isFinite(value) ? String(value) : (source ?? String(value));
}

/** What to write instead, by the code of the library's error. */
const ADVICE: Readonly<Record<string, string>> = {
  BAD_INDENT: 'indent entries of one list or mapping alike',
  TAB_AS_INDENT: 'indent with spaces',
  BLOCK_AS_IMPLICIT_KEY: "put a value that contains ': ' in quotes",
  BAD_SCALAR_START: 'put the value in quotes',
  BAD_DQ_ESCAPE: 'write a backslash in double quotes as \\\\, or use single quotes',
  MULTILINE_IMPLICIT_KEY: "write 'key: value', with a blank after the colon",
  KEY_OVER_1024_CHARS: "write a key and its ':' closer together",
  BLOCK_IN_FLOW: 'within { } and [ ] write lists and mappings with brackets, too',
  TAG_RESOLVE_FAILED: 'remove the tag (! and what follows), or put the value in quotes',
  BAD_ALIAS: 'put a value that starts with * or & in quotes',
  BAD_DIRECTIVE: 'remove the line that starts with %',
};

/** What to write instead, by a part of the library's message, where the code says less. */
const ADVICE_BY_MESSAGE: readonly (readonly [RegExp, string])[] = [
  [/closing/, 'write the quote that ends the text'],
  [/Implicit map keys need to be followed by map values/, "write 'key: value', with a blank after the colon"],
  [/without - indicator/, 'indent the keys of one item alike, or start a new item with -'],
  [/must end with a|Expected flow/, 'close the bracket'],
  [/Comments must be separated/, 'write a blank before #, or put the value in quotes'],
  [/Unexpected .*token|Unexpected .* in/, 'remove it, or put the value in quotes'],
];

function syntaxMessage({ code, message }: YAMLError): string {
  const advice = Object.hasOwn(ADVICE, code)
    ? ADVICE[code]
    : ADVICE_BY_MESSAGE.find(([pattern]) => pattern.test(message))?.[1];
  const text = message.slice(0, 200);
  return advice === undefined ? text : `${text}: ${advice}`;
}
