import type { CheckedEntry } from '../check/checked-program.js';
import type { KeyMatch, TableKey } from '../ir/program.js';
import type { Expression, TableEntry } from '../syntax/ast.js';
import { onesOf, widthOf } from '../tables/data-width.js';
import { constantNumber } from './constants.js';
import { printType } from './data-types.js';
import type { Evaluator } from './evaluate.js';
import type { Lowering } from './lowering.js';

/** Whether a label matches anything. */
function isAnything(expression: Expression | undefined): boolean {
  return expression?.kind === 'any' || expression?.kind === 'default' || expression?.kind === 'dots';
}

/**
 * The matches of an entry, one per key: exact keys as `exact`; lpm as `prefix`; ternary as `mask`; range as `range`;
 * optional as `exact`; and `any` for `_` in all but exact keys. Values are cut to prefix and mask.
 */
export function lowerEntryKeys(
  lowering: Lowering,
  evaluator: Evaluator,
  entry: TableEntry,
  keys: readonly TableKey[],
): KeyMatch[] {
  // The keys may form a list: `{ a, b }: action;`.
  const listed = entry.keys.flatMap((each) => (each.kind === 'list' ? each.elements : [each]));
  const [first] = listed;
  const given = listed.length === 1 && isAnything(first) ? keys.map(() => first) : listed;
  return keys.map((key, index) => {
    const expression = given[index];
    return expression === undefined
      ? lowering.refuse(entry.span, `this entry has no value for ${key.name}`)
      : new KeySet(lowering, evaluator, key, expression).match();
  });
}

class KeySet {
  readonly #width: number;

  constructor(
    readonly lowering: Lowering,
    readonly evaluator: Evaluator,
    readonly key: TableKey,
    readonly expression: Expression,
  ) {
    this.#width = widthOf(key.type);
  }

  match(): KeyMatch {
    const { expression, key, lowering } = this;
    const { matchKind } = key;
    if (isAnything(expression)) {
      return matchKind === 'exact' ? lowering.refuse(expression.span, 'an exact key needs a value') : { kind: 'any' };
    }
    if (expression.kind === 'mask') return this.#mask(this.#pattern(expression.value), this.#pattern(expression.mask));
    if (expression.kind === 'range') {
      if (matchKind !== 'range') return this.#mismatch('a range');
      return { kind: 'range', low: this.#pattern(expression.low), high: this.#pattern(expression.high) };
    }
    const value = this.#pattern(expression);
    switch (matchKind) {
      case 'lpm':
        return { kind: 'prefix', value, length: this.#width };
      case 'ternary':
        return { kind: 'mask', value, mask: onesOf(this.#width) };
      case 'range':
        return { kind: 'range', low: value, high: value };
      default:
        return { kind: 'exact', value };
    }
  }

  #mask(value: bigint, mask: bigint): KeyMatch {
    if (this.key.matchKind === 'ternary') return { kind: 'mask', value: value & mask, mask };
    if (this.key.matchKind !== 'lpm') return this.#mismatch('a mask');
    const rest = ~mask & onesOf(this.#width);
    // The mask of a prefix ends in zeros only: its complement is one less than a power of two.
    if ((rest & (rest + 1n)) !== 0n) {
      this.lowering.refuse(this.expression.span, 'the mask of an lpm key must be a prefix');
    }
    return { kind: 'prefix', value: value & mask, length: this.#width - (rest === 0n ? 0 : rest.toString(2).length) };
  }

  #mismatch(what: string): never {
    return this.lowering.refuse(this.expression.span, `${what} does not go with the match kind ${this.key.matchKind}`);
  }

  #pattern(expression: Expression): bigint {
    const value = this.evaluator.value(expression);
    const number = value && constantNumber(value);
    if (number === undefined) {
      const type = printType(this.key.type);
      return this.lowering.refuse(expression.span, `this key of type ${type} is not known at compile time`);
    }
    return BigInt.asUintN(this.#width, number);
  }
}

/** Priorities of a table's entries. */
export interface EntryPriorities {
  /** One per entry; the smallest wins. */
  readonly list: readonly number[];
  /** What P4Runtime's priority of an entry, of which the largest wins, and the priority here sum up to. */
  readonly sum: number;
}

/**
 * Priorities of a table's entries, smaller wins. Without any in the program: the order of the entries, from 1. An
 * annotation `@priority(n)` counts as it stands, in place of the order.
 */
export function lowerPriorities(
  entries: readonly CheckedEntry[],
  evaluator: Evaluator,
  { largestWins, delta }: { readonly largestWins: boolean; readonly delta: number },
): EntryPriorities {
  const largestOf = (priorities: readonly number[]): number =>
    priorities.reduce((most, priority) => Math.max(most, priority), 0);
  if (entries.every((each) => each.priority === undefined)) {
    const list = entries.map(({ entry }, index) => annotatedPriority(entry, evaluator) ?? index + 1);
    return { list, sum: largestOf(list) + 1 };
  }
  let last = 0;
  const priorities = entries.map(({ priority }) => {
    last = priority ?? (largestWins ? last - delta : last + delta);
    return last;
  });
  const sum = largestOf(priorities) + 1;
  return { list: largestWins ? priorities.map((priority) => sum - priority) : priorities, sum };
}

function annotatedPriority({ annotations }: TableEntry, evaluator: Evaluator): number | undefined {
  const annotation = annotations.find((each) => each.name === 'priority');
  const [value] = annotation?.values ?? [];
  if (value === undefined) return undefined;
  if (value.kind === 'integer') return Number(value.value);
  const known = evaluator.value(value);
  return known?.kind === 'integer' ? Number(known.value) : undefined;
}
