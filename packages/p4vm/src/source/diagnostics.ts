import { lineAround, lineColumn, type Span } from './position.js';
import { printable } from './printable.js';

const BRAND: unique symbol = /* @__PURE__ */ Symbol.for('@int/p4vm.P4Error') as never;

export type Severity = 'error' | 'warning';

/** The part of the front end that reports. */
export type DiagnosticLayer = 'preprocessor' | 'lexer' | 'parser' | 'types' | 'program' | 'target' | 'flow';

/** An error or a warning about a program. */
export interface Diagnostic {
  readonly severity: Severity;
  /** Stable name, such as `unknown-name`. */
  readonly code: string;
  readonly layer: DiagnosticLayer;
  readonly message: string;
  readonly span: Span;
  /** A related place, such as the first declaration of a name declared twice. */
  readonly related?: { readonly message: string; readonly span: Span };
}

/** Number of errors after which the current stage stops. */
const MAX_ERRORS = 1000;
/** Most places remembered, to avoid repeated diagnostics. */
const MAX_PLACES = 4096;
/** Longest message shown, in characters. */
const MAX_MESSAGE = 400;
const MAX_COLUMNS = 160;

/** Ends the current stage. The caller of the stage turns it into a diagnostic. */
export class Stopped extends Error {
  constructor(
    readonly code: string,
    readonly span: Span,
    message: string,
  ) {
    super(message);
  }
}

/**
 * Collects diagnostics. Of several errors at one place only the first counts, because the others follow from it. Errors
 * beyond `limit` are only counted; after 1000 the current stage stops.
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

  /** Number of errors, including those beyond the limit. */
  get errors(): number {
    return this.#errors;
  }

  /** Number of diagnostics omitted because of the limit. */
  get suppressed(): number {
    return this.#suppressed;
  }

  /** Whether another error would be shown. If not, its message does not matter. */
  get isOpen(): boolean {
    return this.#errors < this.limit;
  }

  /** @throws Stopped at the thousandth error */
  add(diagnostic: Diagnostic): void {
    const place = `${diagnostic.severity} ${diagnostic.span.file.name} ${diagnostic.span.start}`;
    if (this.#places.has(place)) return;
    if (this.#places.size < MAX_PLACES) this.#places.add(place);
    const isError = diagnostic.severity === 'error';
    if (isError) this.#errors++;
    this.#keep(diagnostic, isError);
    if (isError && this.#errors === MAX_ERRORS) {
      throw new Stopped('too-many-errors', diagnostic.span, `${MAX_ERRORS} errors: the rest is not looked at`);
    }
  }

  /** Adds the error that stopped a stage. It is shown whatever the limit. */
  stop({ code, span, message }: Stopped): void {
    this.#errors++;
    if (this.#list.length >= this.limit) {
      this.#list.pop();
      this.#suppressed++;
    }
    this.#list.push({ severity: 'error', code, layer: 'program', message, span });
  }

  #keep(diagnostic: Diagnostic, isError: boolean): void {
    if (this.#list.length >= this.limit) {
      this.#suppressed++;
      // An error replaces a warning.
      const warning = isError ? this.#list.find(({ severity }) => severity === 'warning') : undefined;
      if (warning === undefined) return;
      this.#list.splice(this.#list.indexOf(warning), 1);
    }
    this.#list.push({ ...diagnostic, message: shortened(diagnostic.message) });
  }

  error(layer: DiagnosticLayer, code: string, span: Span, message: string, related?: Diagnostic['related']): void {
    this.add({ severity: 'error', layer, code, span, message, ...(related && { related }) });
  }

  warning(layer: DiagnosticLayer, code: string, span: Span, message: string): void {
    this.add({ severity: 'warning', layer, code, span, message });
  }
}

function shortened(message: string): string {
  return message.length <= MAX_MESSAGE ? message : `${message.slice(0, MAX_MESSAGE)}...`;
}

/** The line of a span with a caret below, shortened to fit. */
function caret(span: Span): string {
  const { text: whole, start: from } = lineAround(span.file, span.start);
  const column = Math.min(span.start - from, whole.length);
  const first = whole.length <= MAX_COLUMNS ? 0 : Math.max(0, Math.min(column - 60, whole.length - MAX_COLUMNS));
  const line = printable(whole.slice(first, first + MAX_COLUMNS));
  const before = first > 0 ? '...' : '';
  const behind = first + MAX_COLUMNS < whole.length ? '...' : '';
  const at = column - first;
  const length = Math.max(1, Math.min(span.end - span.start, line.length - at));
  // Tabs stay tabs, so that the caret stands below its text whatever their width.
  const indent = `${before}${line.slice(0, at)}`.replace(/[^\t]/g, ' ');
  return `${before}${line}${behind}\n${indent}${'^'.repeat(length)}`;
}

/** Formats a diagnostic as compilers do: `file:line:column: error: message [code]`, then the line and a caret. */
export function formatDiagnostic(diagnostic: Diagnostic): string {
  const { span, related } = diagnostic;
  const at = (where: Span): string => {
    const { line, column } = lineColumn(where.file, where.start);
    return `${printable(where.file.name)}:${line}:${column}`;
  };
  const text = `${at(span)}: ${diagnostic.severity}: ${printable(diagnostic.message)} [${diagnostic.code}]\n${caret(span)}`;
  return related === undefined
    ? text
    : `${text}\n${at(related.span)}: note: ${printable(related.message)}\n${caret(related.span)}`;
}

/** Thrown instead of running a program with errors. `diagnostics` holds them all; `message` shows them. */
export class P4Error extends Error {
  override readonly name = 'P4Error';
  readonly code = 'ERR_P4';

  constructor(readonly diagnostics: readonly Diagnostic[]) {
    super(diagnostics.map(formatDiagnostic).join('\n'));
    Object.defineProperty(this, BRAND, { value: true });
  }

  /** Works across the ESM and the CommonJS copy of this package, where `instanceof` does not. */
  static is(value: unknown): value is P4Error {
    return typeof value === 'object' && value !== null && BRAND in value;
  }
}
