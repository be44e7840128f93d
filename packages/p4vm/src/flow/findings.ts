import type { Diagnostics } from '../source/diagnostics.js';
import type { Span } from '../source/position.js';

/** Kinds of warnings. They have p4c's names where p4c has one. */
export const WARNING_KINDS = [
  'invalid_header',
  'uninitialized_use',
  'uninitialized_out_param',
  'uninitialized_metadata',
  'unreachable',
  'unused',
  'unsupported',
  'duplicate',
  'incomplete',
] as const;

/** A kind of warning. */
export type WarningKind = (typeof WARNING_KINDS)[number];

interface Finding {
  readonly kind: WarningKind;
  readonly span: Span;
  readonly name: string;
  /** Right in packets of at least one path. */
  isRight: boolean;
  isWrong: boolean;
  /** Wrong also in packets that the parser read to the end. */
  isWrongInWhole: boolean;
}

/** The findings at the places of a program, over all paths of packets. */
export class Findings {
  readonly #found = new Map<Span, Finding[]>();
  readonly #others: { readonly kind: WarningKind; readonly span: Span; readonly message: string }[] = [];

  /** Notes whether something at a place is right or wrong in packets of one path. */
  note(kind: WarningKind, span: Span, name: string, is: { right: boolean; wrong: boolean; isCut: boolean }): void {
    let here = this.#found.get(span);
    let found = here?.find((each) => each.kind === kind && each.name === name);
    if (found === undefined) {
      found = { kind, span, name, isRight: false, isWrong: false, isWrongInWhole: false };
      if (here === undefined) {
        here = [];
        this.#found.set(span, here);
      }
      here.push(found);
    }
    found.isRight ||= is.right;
    found.isWrong ||= is.wrong;
    found.isWrongInWhole ||= is.wrong && !is.isCut;
  }

  /** Whether something is wrong at any place. */
  get isAnyWrong(): boolean {
    return [...this.#found.values()].some((here) => here.some((each) => each.isWrong));
  }

  /** Forgets what is right after another analysis of the same program, which saw all packets too. */
  confirm(other: Findings): void {
    for (const [span, here] of this.#found) {
      const there = other.#found.get(span) ?? [];
      for (const each of here) {
        const same = there.find(({ kind, name }) => kind === each.kind && name === each.name);
        each.isRight &&= same?.isRight === true;
        each.isWrong &&= same?.isWrong === true;
        each.isWrongInWhole &&= same?.isWrongInWhole === true;
      }
    }
  }

  add(kind: WarningKind, span: Span, message: string): void {
    this.#others.push({ kind, span, message });
  }

  /** Adds a warning for each place where something is wrong, in the order of the text. */
  report(diagnostics: Diagnostics, without: ReadonlySet<WarningKind>): void {
    const wrong = [...this.#found.values()].flat().filter((each) => each.isWrong);
    const all = [...wrong.map((each) => ({ ...each, message: messageOf(each) })), ...this.#others];
    const files = [...new Set(all.map(({ span }) => span.file))];
    all.sort((a, b) => files.indexOf(a.span.file) - files.indexOf(b.span.file) || a.span.start - b.span.start);
    for (const { kind, span, message } of all) {
      if (!without.has(kind)) diagnostics.warning('flow', kind, span, message);
    }
  }
}

function messageOf({ kind, name, isRight, isWrongInWhole }: Finding): string {
  const where = isWrongInWhole ? '' : ', where the packet ends before the parser does';
  switch (kind) {
    case 'invalid_header':
      return `accessing a field of ${isRight ? 'a potentially' : 'an'} invalid header ${name}${where}`;
    case 'uninitialized_out_param':
      return `out parameter ${name} ${isRight ? 'may be' : 'is'} uninitialized at the end${where}`;
    case 'unsupported':
      return `p4c does not take ${name}`;
    case 'uninitialized_metadata':
      return `metadata ${name} ${isRight ? 'may be read before it is' : 'is read and never'} written${where}`;
    default:
      return `${name} ${isRight ? 'may be' : 'is'} uninitialized${where}`;
  }
}
