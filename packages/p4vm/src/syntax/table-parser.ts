import type {
  ActionReference,
  Annotation,
  CallExpression,
  Expression,
  PathExpression,
  TableDeclaration,
  TableEntry,
  TableKey,
  TableProperty,
} from './ast.js';
import { StatementParser } from './statement-parser.js';

/** The properties of a table as they are found. */
type TableParts = { -readonly [Part in 'key' | 'actions' | 'entries']: TableDeclaration[Part] } & {
  readonly properties: TableProperty[];
};

/** Tables. */
export abstract class TableParser extends StatementParser {
  protected table(annotations: readonly Annotation[]): TableDeclaration {
    const start = this.expect('table');
    const name = this.name('the name of a table');
    const parts: TableParts = { key: undefined, actions: undefined, entries: undefined, properties: [] };
    // `#property` stores the properties, so the list is unused.
    this.members(() => this.#property(parts));
    return { kind: 'table', name, annotations, ...parts, span: this.spanFrom(start) };
  }

  #property(parts: TableParts): undefined {
    const annotations = this.annotations();
    const start = this.token;
    const isConst = this.accept('const') !== undefined;
    const property = this.token;
    const name = this.name('a property of a table');
    this.expect('=');
    const isTwice =
      (property.kind === 'key' && parts.key !== undefined) ||
      (property.kind === 'actions' && parts.actions !== undefined) ||
      (property.kind === 'entries' && parts.entries !== undefined) ||
      parts.properties.some((other) => other.name.text === name.text);
    if (isTwice) this.report('duplicate-property', name.span, `property '${name.text}' is given twice`);
    switch (property.kind) {
      case 'key':
        parts.key = this.members(() => this.#key());
        break;
      case 'actions':
        parts.actions = this.members(() => this.#action());
        break;
      case 'entries': {
        this.openBrace();
        const entries = this.itemsToBrace(() => this.#entry());
        parts.entries = { kind: 'table-entries', isConst, entries, span: this.spanFrom(start) };
        break;
      }
      default: {
        const value = this.expression();
        this.semicolon();
        const span = this.spanFrom(start);
        parts.properties.push({ kind: 'table-property', name, isConst, value, annotations, span });
        return;
      }
    }
    // Many write a `;` behind the braces; it means nothing.
    this.accept(';');
  }

  #key(): TableKey {
    const start = this.token;
    const expression = this.expression();
    this.expect(':');
    const matchKind = this.name('a match kind');
    const annotations = this.annotations();
    this.semicolon();
    return { kind: 'table-key', expression, matchKind, annotations, span: this.spanFrom(start) };
  }

  #action(): ActionReference {
    const annotations = this.annotations();
    const start = this.token;
    const expression = this.#actionReference();
    this.semicolon();
    return { kind: 'action-reference', expression, annotations, span: this.spanFrom(start) };
  }

  #actionReference(): PathExpression | CallExpression {
    const start = this.token;
    const isAbsolute = this.accept('.') !== undefined;
    const name = this.name('the name of an action');
    const path: PathExpression = { kind: 'path', name, isAbsolute, span: this.spanFrom(start) };
    return this.at('(') ? this.call(path, []) : path;
  }

  #entry(): TableEntry {
    const start = this.token;
    const isConst = this.accept('const') !== undefined;
    let priority: Expression | undefined;
    if (this.at('priority') && this.peek().kind === '=') {
      this.advance();
      this.advance();
      priority = this.at('(') ? this.expression() : this.integer();
      this.expect(':');
    }
    const keys = this.keyset();
    this.expect(':');
    const action = this.#actionReference();
    const annotations = this.annotations();
    this.semicolon();
    return { kind: 'table-entry', isConst, priority, keys, action, annotations, span: this.spanFrom(start) };
  }
}
