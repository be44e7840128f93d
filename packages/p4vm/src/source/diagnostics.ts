import { lineColumn, lineText, type Span } from './position.js';

export type Severity = 'error' | 'warning';

/** The part of the front end that speaks. */
export type DiagnosticLayer = 'preprocessor' | 'lexer' | 'parser' | 'types' | 'program' | 'target';

/** Something wrong, or doubtful, in a program. */
export interface Diagnostic {
  readonly severity: Severity;
  /** Stable name, such as `unknown-name`. */
  readonly code: string;
  readonly layer: DiagnosticLayer;
  readonly message: string;
  readonly span: Span;
  /** Another place that belongs to it, such as the first declaration of a name declared twice. */
  readonly related?: { readonly message: string; readonly span: Span };
}

/**
 * Collects diagnostics. Two errors at one place are one (the first): what follows from an error says nothing new.
 * After `limit` errors the rest is counted only.
 */
export class Diagnostics {
  readonly #list: Diagnostic[] = [];
  readonly #places = new Set<string>();
  #errors = 0;
  #suppressed = 0;

  constructor(readonly limit = 50) {}

  get list(): readonly Diagnostic[] {
    return this.#list;
  }

  get hasErrors(): boolean {
    return this.#errors > 0;
  }

  /** Errors, those beyond the limit included. */
  get errors(): number {
    return this.#errors;
  }

  /** Diagnostics left out because of the limit. */
  get suppressed(): number {
    return this.#suppressed;
  }

  add(diagnostic: Diagnostic): void {
    const place = `${diagnostic.severity} ${diagnostic.span.file.name} ${diagnostic.span.start}`;
    if (this.#places.has(place)) return;
    this.#places.add(place);
    if (diagnostic.severity === 'error') this.#errors++;
    if (this.#list.length >= this.limit) this.#suppressed++;
    else this.#list.push(diagnostic);
  }

  error(layer: DiagnosticLayer, code: string, span: Span, message: string, related?: Diagnostic['related']): void {
    this.add({ severity: 'error', layer, code, span, message, ...(related && { related }) });
  }

  warning(layer: DiagnosticLayer, code: string, span: Span, message: string): void {
    this.add({ severity: 'warning', layer, code, span, message });
  }
}

function caret(span: Span): string {
  const { line, column } = lineColumn(span.file, span.start);
  const text = lineText(span.file, line);
  const length = Math.max(1, Math.min(span.end - span.start, text.length - column + 1));
  // Tabs stay tabs, so that the caret stands below its text whatever their width.
  const indent = text.slice(0, column - 1).replace(/[^\t]/g, ' ');
  return `${text}\n${indent}${'^'.repeat(length)}`;
}

/** `file:line:column: error: message [code]`, the line and a caret below, as compilers print it. */
export function formatDiagnostic(diagnostic: Diagnostic): string {
  const { span, related } = diagnostic;
  const at = (where: Span): string => {
    const { line, column } = lineColumn(where.file, where.start);
    return `${where.file.name}:${line}:${column}`;
  };
  const text = `${at(span)}: ${diagnostic.severity}: ${diagnostic.message} [${diagnostic.code}]\n${caret(span)}`;
  return related === undefined
    ? text
    : `${text}\n${at(related.span)}: note: ${related.message}\n${caret(related.span)}`;
}

/** Thrown where a program with errors was to be run. `diagnostics` holds all of them; `message` shows them. */
export class P4Error extends Error {
  override readonly name = 'P4Error';
  readonly code = 'P4';

  constructor(readonly diagnostics: readonly Diagnostic[]) {
    super(diagnostics.map(formatDiagnostic).join('\n'));
  }
}
