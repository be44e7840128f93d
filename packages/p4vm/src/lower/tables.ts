import type { BoundArgument, CheckedActionCall, CheckedTable } from '../check/checked-program.js';
import type {
  ActionCall,
  ConstEntry,
  Expression,
  ExternInstance,
  KeyMatch,
  Table,
  TableAction,
  TableKey,
} from '../ir/program.js';
import { keyBits, tableBytes } from '../ir/state-bytes.js';
import type { Span } from '../source/position.js';
import type { ActionDeclaration, TableDeclaration, TableEntry, TableProperty } from '../syntax/ast.js';
import { ControlError } from '../tables/control-error.js';
import { canonicalMatch, type KeyShape, matchText, shapeOf } from '../tables/key-match.js';
import { hasPriorities } from '../tables/match-index.js';
import { actionFor } from './actions.js';
import { lowerArgument } from './calls.js';
import { constantNumber } from './constants.js';
import { isScalar, printType } from './data-types.js';
import { type EntryPriorities, lowerEntryKeys, lowerPriorities } from './entries.js';
import { Evaluator } from './evaluate.js';
import { lowerExpression } from './expressions.js';
import { annotationTexts, givenName, type Lowering } from './lowering.js';
import { matchKindOf } from './parsers.js';
import type { Scope } from './scope.js';
import { makeInline, staticValue } from './statics.js';

/** Default size of a table in entries. */
const DEFAULT_SIZE = 1024;
/** Most keys of one table: a lookup has one argument per key or word. */
const MAX_KEYS = 1024;
const MAX_KEY_BITS = 65_536;

/** The table of a declaration in a scope, made on first use. */
export function tableFor(lowering: Lowering, scope: Scope, declaration: TableDeclaration): Table {
  const known = scope.table(declaration);
  if (known !== undefined) return known;
  const checked =
    lowering.checked.tables.get(declaration) ?? lowering.missing(declaration.span, 'this table is not resolved');
  const made = lowering.callable(declaration.span, () => new TableMaker(lowering, scope, declaration, checked).make());
  lowering.tables.push(made);
  lowering.notes.annotations.set(made, declaration.annotations);
  scope.tables.set(declaration, made);
  return made;
}

class TableMaker {
  readonly #evaluator: Evaluator;
  readonly #entryKeys = new Map<string, Span>();
  readonly #keys: readonly TableKey[];
  readonly #actions: TableAction[];
  /** Those of `#actions`. */
  readonly #declarations: ActionDeclaration[];

  constructor(
    readonly lowering: Lowering,
    readonly scope: Scope,
    readonly declaration: TableDeclaration,
    readonly checked: CheckedTable,
  ) {
    this.#evaluator = new Evaluator(lowering, scope);
    this.#keys = this.#lowerKeys();
    this.#actions = this.#lowerActions();
    this.#declarations = checked.actions.map(({ action }) => action);
  }

  make(): Table {
    const { declaration, checked, lowering, scope } = this;
    const keys = this.#keys;
    const defaultAction = this.#defaultAction();
    const priorities = lowering.attempt(() => this.#priorities(), { list: [], sum: 0 });
    const entries = lowering.attempt(() => this.#entries(priorities.list), []);
    lowering.budget.spend('stateBytes', tableBytes({ keys, entries }), declaration.span);
    const table: Table = {
      id: lowering.tables.length,
      name: lowering.controlName(scope.prefix, declaration),
      keys,
      actions: this.#actions,
      defaultAction,
      isDefaultConst: checked.isDefaultConst,
      entries,
      areEntriesConst: checked.areEntriesConst,
      prioritySum: entries.length === 0 ? undefined : priorities.sum,
      size: this.#size(entries.length),
      implementation: this.#object('implementation', ['action_profile', 'action_selector']),
      counter: this.#owned('counters', ['direct_counter']),
      meter: this.#owned('meters', ['direct_meter']),
      supportsTimeout: this.#number('support_timeout') === 1,
      annotations: annotationTexts(declaration.annotations),
      span: declaration.span,
    };
    const size = this.#number('size');
    if (size !== undefined) lowering.notes.sizes.set(table, size);
    return table;
  }

  #lowerKeys(): readonly TableKey[] {
    const { lowering, scope, declaration } = this;
    const keys = (declaration.key ?? []).map((key, index): TableKey => {
      const matchKind =
        matchKindOf(key.matchKind.text) ??
        lowering.refuse(key.matchKind.span, `the match kind ${key.matchKind.text} is not supported`);
      const expression = lowerExpression(lowering, scope, key.expression);
      const { type } = expression;
      if (!isScalar(type)) {
        lowering.refuse(key.expression.span, `a key of type ${printType(type)} is not supported`);
      }
      const made = { expression, type, matchKind, name: this.checked.keys[index]?.name ?? `key${index}` };
      lowering.notes.annotations.set(made, key.annotations);
      lowering.notes.types.set(made, lowering.typeOf(key.expression));
      return made;
    });
    if (keys.length > MAX_KEYS || keyBits(keys) > MAX_KEY_BITS) {
      const most = `at most ${MAX_KEYS} keys of ${MAX_KEY_BITS} bits together`;
      const message = `more keys than a table can be looked up with: ${most}`;
      lowering.refuse(declaration.span, message, 'too-many-keys');
    }
    return keys;
  }

  #lowerActions(): TableAction[] {
    const { lowering, scope } = this;
    return this.checked.actions.map(({ reference, action, bound, isTableOnly, isDefaultOnly }) => {
      const made = lowering.called(actionFor(lowering, scope, action), action.span);
      lowering.spend(1, action.span);
      const listed = { action: made, bound: this.#bound(action, bound), isTableOnly, isDefaultOnly };
      lowering.notes.annotations.set(listed, reference.annotations);
      return listed;
    });
  }

  /** The arguments from the table's list for the directional parameters, in order. */
  #bound(action: ActionDeclaration, bound: readonly BoundArgument[]): Expression[] {
    const directional = action.parameters.filter((parameter) => parameter.direction !== 'none');
    return directional.map((parameter) => {
      const given = bound.find((each) => each.parameter === parameter);
      const value = given && lowerArgument(this.lowering, this.scope, given).value;
      return value ?? this.lowering.refuse(parameter.span, `the table gives no argument for ${parameter.name.text}`);
    });
  }

  #defaultAction(): ActionCall | undefined {
    const { defaultAction } = this.checked;
    if (defaultAction !== undefined) return this.#call(defaultAction);
    const { declarations: all } = this.lowering.checked.program;
    const nothing = all.find(
      (each): each is ActionDeclaration => each.kind === 'action' && each.name.text === 'NoAction',
    );
    if (nothing === undefined) return undefined;
    return { action: this.#position(nothing), data: [] };
  }

  /** Position of an action. One that the table's list leaves out is added, for misses only. */
  #position(action: ActionDeclaration): number {
    const listed = this.#declarations.indexOf(action);
    if (listed !== -1) return listed;
    const made = actionFor(this.lowering, this.scope, action);
    this.#actions.push({ action: made, bound: [], isTableOnly: false, isDefaultOnly: true });
    return this.#declarations.push(action) - 1;
  }

  #call(call: CheckedActionCall): ActionCall {
    const { lowering } = this;
    const data = call.data.map((each): bigint => {
      const expression = each.argument?.value ?? each.parameter.defaultValue;
      const value = expression && this.#evaluator.value(expression);
      const number =
        (value && constantNumber(value)) ??
        lowering.refuse(expression?.span ?? this.declaration.span, 'data of an action must be known at compile time');
      const type = lowering.dataType(each.type, each.parameter.span);
      return type.kind === 'bits' ? BigInt.asUintN(type.width, number) : number;
    });
    return { action: this.#position(call.action), data };
  }

  #priorities(): EntryPriorities {
    return lowerPriorities(this.checked.entries, this.#evaluator, {
      largestWins: this.#number('largest_priority_wins') !== 0,
      delta: this.#number('priority_delta') ?? 1,
    });
  }

  #entries(priorities: readonly number[]): ConstEntry[] {
    const { lowering, checked } = this;
    const keys = this.#keys;
    return checked.entries.map(({ entry, call }, index) => {
      lowering.spend(1 + keys.length, entry.span);
      return {
        keys: this.#distinct(entry, lowerEntryKeys(lowering, this.#evaluator, entry, keys), priorities[index]),
        call: this.#call(call),
        priority: priorities[index] ?? index + 1,
        isConst: checked.areEntriesConst || entry.isConst,
        span: entry.span,
      };
    });
  }

  /** The keys of an entry. They must be valid, and differ from those of earlier entries with the same priority. */
  #distinct({ span }: TableEntry, matches: readonly KeyMatch[], priority: number | undefined): readonly KeyMatch[] {
    const shapes = this.#keys.map(shapeOf);
    const canonical = matches.map((match, at) => {
      if (match.kind === 'range' && match.low > match.high) {
        this.lowering.refuse(span, `the range ${match.low}..${match.high} of an entry is empty`, 'empty-range');
      }
      return this.#canonical(span, shapes[at]!, match);
    });
    const texts = canonical.map((match, at) => matchText(shapes[at]!.width, match));
    const key = `${hasPriorities(shapes.map(({ kind }) => kind)) ? priority : ''} ${texts.join()}`;
    const first = this.#entryKeys.get(key);
    if (first !== undefined) {
      const { diagnostics } = this.lowering;
      const related = { message: 'the first', span: first };
      const message = 'there is an entry with this key already';
      diagnostics.error('target', 'ERR_CONTROL_DUPLICATE_ENTRY', span, message, related);
    } else this.#entryKeys.set(key, span);
    return matches;
  }

  #canonical(span: Span, shape: KeyShape, match: KeyMatch): KeyMatch {
    try {
      return canonicalMatch(shape, match);
    } catch (error) {
      if (!(error instanceof ControlError)) throw error;
      return this.lowering.refuse(span, error.message, 'entry-label');
    }
  }

  #property(name: string): TableProperty | undefined {
    return this.declaration.properties.find((each) => each.name.text === name);
  }

  /** Value of a property as a number, 0 and 1 for booleans. */
  #number(name: string): number | undefined {
    const property = this.#property(name);
    if (property === undefined) return undefined;
    const value = this.#evaluator.value(property.value);
    const number = value && constantNumber(value);
    return number === undefined
      ? this.lowering.refuse(property.value.span, `${name} must be known at compile time`)
      : Number(number);
  }

  /** The table's size: at least the number of the program's entries, and exactly that if they are constant. */
  #size(entries: number): number {
    if (this.checked.areEntriesConst && entries > 0) return entries;
    return Math.max(this.#number('size') ?? DEFAULT_SIZE, entries);
  }

  #object(name: string, types: readonly string[]): ExternInstance | undefined {
    const { lowering, scope } = this;
    const property = this.#property(name);
    if (property === undefined) return undefined;
    const { value } = property;
    const resolved = value.kind === 'call' ? lowering.checked.calls.get(value) : undefined;
    const object =
      value.kind === 'call' && resolved?.kind === 'constructor'
        ? makeInline(lowering, scope, value, resolved.constructor, this.#inlineName(property), property.annotations)
        : staticValue(lowering, scope, value);
    return object.kind === 'extern' && types.includes(object.instance.type)
      ? object.instance
      : lowering.refuse(value.span, `${name} must be ${types.join(' or ')}`);
  }

  /** A direct counter or meter, which has one state per entry of a table. */
  #owned(name: string, types: readonly string[]): ExternInstance | undefined {
    const { owners } = this.lowering;
    const object = this.#object(name, types);
    if (object === undefined) return undefined;
    const owner = owners.get(object);
    if (owner !== undefined) {
      const span = this.#property(name)?.value.span ?? this.declaration.span;
      this.lowering.refuse(span, `${object.name} belongs to the table ${owner} already`);
    }
    owners.set(object, this.lowering.controlName(this.scope.prefix, this.declaration));
    return object;
  }

  /** Name of an object made in a property: that of the property's `@name`, otherwise a new one, both at top level. */
  #inlineName({ annotations, name: property }: TableProperty): string {
    const base = property.text === 'implementation' ? 'action_profile' : property.text.replace(/s$/, '');
    const name = givenName(annotations) ?? this.lowering.numberedName(base);
    return name.startsWith('.') ? name : `.${name}`;
  }
}
