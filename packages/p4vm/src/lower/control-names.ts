import type { Span } from '../source/position.js';
import type { Lowering } from './lowering.js';

interface Named {
  readonly name: string;
  readonly span: Span;
}

/**
 * Reports control-plane names shared by two tables, two extern objects, two value sets, or actions of two declarations:
 * no command could distinguish them.
 */
export function checkControlNames(lowering: Lowering): void {
  unique(lowering, 'tables', lowering.tables);
  unique(lowering, 'extern objects', lowering.externs);
  unique(lowering, 'value sets', lowering.valueSets);
  // An action with an absolute name in a control with two instances is one action to the control plane: the table
  // distinguishes them.
  unique(lowering, 'actions', onePerDeclaration(lowering.actions));
}

function onePerDeclaration(all: readonly Named[]): Named[] {
  const spans = new Set<Span>();
  return all.filter(({ span }) => {
    const isNew = !spans.has(span);
    spans.add(span);
    return isNew;
  });
}

function unique({ diagnostics }: Lowering, what: string, all: readonly Named[]): void {
  const first = new Map<string, Named>();
  for (const each of all) {
    const other = first.get(each.name);
    if (other === undefined) {
      first.set(each.name, each);
      continue;
    }
    diagnostics.error('target', 'duplicate-control-plane-name', each.span, `two ${what} have the name "${each.name}"`, {
      message: 'the other one',
      span: other.span,
    });
  }
}
