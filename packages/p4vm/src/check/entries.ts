import type { Span } from '../source/position.js';
import type { Expression, TableDeclaration, TableEntries, TableEntry } from '../syntax/ast.js';
import { typeSize } from '../types/measure.js';
import type { Type } from '../types/type.js';
import type { CheckedActionReference, CheckedEntry, CheckedTable } from './checked-program.js';
import type { Checker } from './checker.js';
import { checkLabels, flatLabels } from './sets.js';
import type { CheckedProperties } from './table-properties.js';
import { checkActionCall } from './tables.js';
import { constantInteger } from './type-nodes.js';
import { valueKey } from './values.js';

type Key = CheckedTable['keys'][number];

/** Priorities are numbers of 32 bits, as in control planes. */
const MAXIMUM_PRIORITY = (1n << 31n) - 1n;

function isPrefix(mask: bigint, width: number): boolean {
  const rest = BigInt.asUintN(width, ~mask);
  return (rest & (rest + 1n)) === 0n;
}

function checkPrefix(c: Checker, label: Expression, type: Type): void {
  if (label.kind !== 'mask') return;
  const mask = c.found.constants.get(label.mask);
  const width = typeSize(type)?.maximum;
  if (mask?.kind !== 'integer' || width === undefined) return;
  if (!isPrefix(BigInt.asUintN(width, mask.value), width)) {
    c.error('entry-label', label.span, 'the mask of a key that is matched by "lpm" must be a prefix: ones, then zeros');
  }
}

/** The kinds of labels that keys cannot have in an entry, by match kind. */
const REFUSED: Readonly<Record<string, readonly Expression['kind'][]>> = {
  exact: ['mask', 'range', 'any', 'default'],
  optional: ['mask', 'range'],
  lpm: ['range'],
  ternary: ['range'],
  range: ['mask'],
};

/** Whether the key's match kind allows a label of this kind. */
function checkMatch(c: Checker, label: Expression, { matchKind, type }: Key): void {
  if (matchKind === 'selector') {
    c.error('entry-label', label.span, 'a table with a "selector" key cannot have entries');
  } else if (Object.hasOwn(REFUSED, matchKind) && REFUSED[matchKind]!.includes(label.kind)) {
    const what = label.kind === 'any' || label.kind === 'default' ? '"_"' : label.kind;
    const message = `a key that is matched by "${matchKind}" cannot have a ${what} in an entry`;
    c.error('entry-label', label.span, message);
  } else if (matchKind === 'lpm') checkPrefix(c, label, type);
}

function partsOf(label: Expression): readonly Expression[] {
  if (label.kind === 'mask') return [label.value, label.mask];
  if (label.kind === 'range') return [label.low, label.high];
  return label.kind === 'any' || label.kind === 'default' ? [] : [label];
}

function checkConstantLabel(c: Checker, label: Expression): void {
  for (const part of partsOf(label)) {
    if (c.isKnown(part) || c.found.types.get(part)?.kind === 'unknown') continue;
    c.error('not-constant', part.span, 'keys of entries must be known at compile time');
  }
}

function priorityOf(c: Checker, entry: TableEntry, isTableConst: boolean): bigint | undefined {
  if (entry.priority === undefined) return undefined;
  const value = constantInteger(c, entry.priority, 'a priority');
  if (value === undefined) return undefined;
  if (isTableConst) {
    const message = 'entries of "const entries" have no priorities: their order counts';
    return c.error('entry-priority', entry.priority.span, message);
  }
  if (value >= 0n && value <= MAXIMUM_PRIORITY) return value;
  const message = `${value} is not a priority: it must be from 0 to ${MAXIMUM_PRIORITY}`;
  return c.error('entry-priority', entry.priority.span, message);
}

/**
 * Priorities of entries, if the program gives any. An entry without one gets it from the entry before. Source: P4_16
 * language specification, "Entry priorities".
 */
function priorities(c: Checker, entries: TableEntries, properties: CheckedProperties): readonly (number | undefined)[] {
  const given = entries.entries.map((entry) => priorityOf(c, entry, entries.isConst));
  if (given.every((priority) => priority === undefined)) return entries.entries.map(() => undefined);
  const [first] = entries.entries;
  if (first !== undefined && first.priority === undefined) {
    c.error('entry-priority', first.span, 'the first entry needs a priority, because others have one');
  }
  let last = 0n;
  return given.map((priority, i) => {
    last = priority ?? (properties.largestWins ? last - properties.priorityDelta : last + properties.priorityDelta);
    if (last < 0n || last > MAXIMUM_PRIORITY) {
      c.error('entry-priority', entries.entries[i]!.span, `the priority of this entry comes to ${last}`);
    }
    return Number(last);
  });
}

/** Reports two entries with equal values if all keys are exact: the second could never match. */
function checkDuplicate(
  c: Checker,
  entry: TableEntry,
  labels: readonly Expression[],
  keys: readonly Key[],
  before: Map<string, Span>,
): void {
  if (keys.some((key) => key.matchKind !== 'exact')) return;
  const values = labels.flatMap((label) => c.found.constants.get(label) ?? []);
  if (values.length !== keys.length) return;
  const key = values.map(valueKey).join();
  const first = before.get(key);
  if (first === undefined) before.set(key, entry.span);
  else {
    c.error('ERR_CONTROL_DUPLICATE_ENTRY', entry.span, 'there is an entry with this key already', {
      message: 'the first',
      span: first,
    });
  }
}

/** Checks the entries of a table. */
export function checkEntries(
  c: Checker,
  declaration: TableDeclaration,
  keys: readonly Key[],
  actions: readonly CheckedActionReference[],
  properties: CheckedProperties,
): CheckedEntry[] {
  const { entries } = declaration;
  if (entries === undefined) return [];
  if (keys.length === 0 && entries.entries.length === 0) return [];
  if (keys.length === 0) {
    c.error('entries-without-key', entries.span, `table "${declaration.name.text}" has no key: it cannot have entries`);
    return [];
  }
  const [first] = declaration.key ?? [];
  if (first !== undefined && first.span.file === entries.span.file && entries.span.start < first.span.start) {
    c.error('property-order', entries.span, 'entries must come after the key of the table');
  }
  const order = priorities(c, entries, properties);
  const seen = new Map<string, Span>();
  return entries.entries.flatMap((entry, i): CheckedEntry[] => {
    const types = keys.map((key) => key.type);
    const areRight = checkLabels(c, entry.keys, types, entry.span);
    const labels = flatLabels(entry.keys);
    const isAll = labels.length === 1 && keys.length > 1;
    if (areRight && !isAll) {
      labels.forEach((label, k) => {
        checkMatch(c, label, keys[k]!);
        checkConstantLabel(c, label);
      });
      checkDuplicate(c, entry, labels, keys, seen);
    }
    const checked = checkActionCall(c, entry.action, actions, declaration.name.text);
    if (checked === undefined) return [];
    if (checked.reference.isDefaultOnly) {
      const message = `action "${checked.call.action.name.text}" is @defaultonly: no entry can have it`;
      c.error('default-only', entry.action.span, message);
    }
    return [{ entry, call: checked.call, priority: order[i] }];
  });
}
