import type { CounterValue } from '../externs/counter.js';
import type { MeterRate } from '../externs/meter.js';
import type { Action, ActionCall, KeyMatch, Table } from '../ir/program.js';
import { refuse } from '../tables/control-error.js';
import { dataParameters } from '../tables/data-width.js';
import type { MatchTable } from '../tables/match-table.js';
import type { EntryTarget, TableEntry } from '../tables/table-entry.js';
import { NameIndex } from './names.js';
import {
  formatMatch,
  type MatchInput,
  parseMatch,
  parseValue,
  type ValueInput,
  type ValueNames,
} from './value-input.js';

/** Parameters by name, or all in order. */
export type ParameterInput = readonly ValueInput[] | Readonly<Record<string, ValueInput>>;

/**
 * The target of an entry: an action with its parameters, or for indirect tables a member or group of the action
 * profile.
 */
export interface TargetInput {
  readonly action?: string;
  readonly params?: ParameterInput;
  readonly member?: number;
  readonly group?: number;
}

export interface EntryInput extends TargetInput {
  /** Matches by key name (or an end of it that only one key has), or all in order. Omitted keys match anything. */
  readonly match?: readonly MatchInput[] | Readonly<Record<string, MatchInput>>;
  /** The smallest priority wins. Only for tables with ternary, range or optional keys. Default 0. */
  readonly priority?: number;
}

/** An entry as names and numbers. */
export interface EntryView {
  readonly handle: number;
  /** Matches by key name, as text that `TableControl.add` accepts. */
  readonly match: Readonly<Record<string, string>>;
  readonly keys: readonly KeyMatch[];
  readonly priority: number;
  readonly action: string | undefined;
  readonly params: Readonly<Record<string, bigint>>;
  readonly member: number | undefined;
  readonly group: number | undefined;
  readonly isConst: boolean;
}

/**
 * Reads the parameters of an action.
 *
 * @throws ControlError `ERR_CONTROL_WRONG_ARITY`, `ERR_CONTROL_UNKNOWN_PARAMETER`, `ERR_CONTROL_BAD_VALUE`, `ERR_CONTROL_VALUE_TOO_WIDE`
 */
export function readParameters(action: Action, input: ParameterInput | undefined, names: ValueNames): bigint[] {
  const parameters = dataParameters(action.parameters);
  const given = input ?? [];
  const values = Array.isArray(given) ? (given as readonly ValueInput[]) : undefined;
  if (values !== undefined && values.length !== parameters.length)
    refuse(
      'ERR_CONTROL_WRONG_ARITY',
      `action ${action.name} needs ${parameters.length} parameters, not ${values.length}`,
    );
  const byName = values === undefined ? (given as Readonly<Record<string, ValueInput>>) : {};
  for (const name of Object.keys(byName)) {
    if (!parameters.some((parameter) => parameter.variable.name === name))
      refuse('ERR_CONTROL_UNKNOWN_PARAMETER', `action ${action.name} has no parameter ${name}`);
  }
  return parameters.map(({ variable }, i) => {
    const { name } = variable;
    const value = values !== undefined ? values[i] : Object.hasOwn(byName, name) ? byName[name] : undefined;
    if (value === undefined)
      refuse('ERR_CONTROL_WRONG_ARITY', `parameter ${variable.name} of action ${action.name} is missing`);
    return parseValue(variable.type, value, `parameter ${variable.name}`, names);
  });
}

/** Access to one table by the names of its keys, actions and parameters. */
export class TableControl {
  readonly #names: ValueNames;
  readonly #actions: NameIndex<{ readonly position: number; readonly action: Action }>;
  readonly #keys: NameIndex<number>;
  readonly #keyTypes: readonly Table['keys'][number][];

  constructor(
    readonly runtime: MatchTable,
    names: ValueNames,
  ) {
    this.#names = names;
    const { actions, keys } = runtime.declaration;
    this.#actions = new NameIndex(
      actions.map(({ action }, position) => ({ position, action })),
      ({ action }) => action.name,
    );
    this.#keyTypes = keys.filter((key) => key.matchKind !== 'selector');
    this.#keys = new NameIndex(this.#keyTypes.keys(), (position) => this.#keyTypes[position]!.name);
  }

  get name(): string {
    return this.runtime.declaration.name;
  }

  /** Number of entries. */
  get count(): number {
    return this.runtime.count;
  }

  /** Largest number of entries. */
  get size(): number {
    return this.runtime.size;
  }

  /**
   * Position and declaration of an action of this table, by its name or the end of it.
   *
   * @throws ControlError `ERR_CONTROL_UNKNOWN_ACTION`
   */
  action(name: string): { readonly position: number; readonly action: Action } {
    return this.#actions.get(name, 'ERR_CONTROL_UNKNOWN_ACTION', `action of table ${this.name} called`);
  }

  /**
   * Adds an entry and returns its handle.
   *
   * @throws ControlError for wrong names and values: `ERR_CONTROL_DUPLICATE_ENTRY`, `ERR_CONTROL_TABLE_FULL`,
   *   `ERR_CONTROL_CONST_TABLE`, ...
   */
  add(entry: EntryInput): number {
    return this.runtime.add(this.match(entry.match), this.#target(entry, 'entry'), entry.priority);
  }

  /** Changes the target of an entry. */
  modify(handle: number, target: TargetInput): void {
    this.runtime.modify(handle, this.#target(target, 'entry'));
  }

  delete(handle: number): void {
    this.runtime.delete(handle);
  }

  /** Removes all entries; the default action stays. */
  clear(): void {
    this.runtime.clear();
  }

  entries(): readonly EntryView[] {
    return this.runtime.entries().map((entry) => this.#view(entry));
  }

  entry(handle: number): EntryView {
    return this.#view(this.runtime.entry(handle));
  }

  /** Handle of the entry with this match (and priority); undefined if there is none. */
  find(match: EntryInput['match'], priority = 0): number | undefined {
    return this.runtime.find(this.match(match), priority);
  }

  setDefault(target: TargetInput): void {
    this.runtime.setDefault(this.#target(target, 'default'));
  }

  resetDefault(): void {
    this.runtime.resetDefault();
  }

  /** The target of a miss; undefined: a miss does nothing. */
  get default(): Pick<EntryView, 'action' | 'params' | 'member' | 'group'> | undefined {
    const target = this.runtime.defaultTarget;
    return target === undefined ? undefined : this.#targetView(target);
  }

  /** Sets an entry's timeout: the milliseconds without a hit after which {@link expired} lists it; 0: never. */
  setTimeout(handle: number, milliseconds: number): void {
    this.runtime.setTimeout(handle, milliseconds * 1000);
  }

  expired(): readonly number[] {
    return this.runtime.expired();
  }

  /**
   * Reads the entry's direct counter.
   *
   * @throws ControlError `ERR_CONTROL_NO_COUNTER`, `ERR_CONTROL_BAD_HANDLE`, `ERR_CONTROL_EXPIRED_HANDLE`
   */
  counter(handle: number): CounterValue {
    return this.runtime.readCounter(handle);
  }

  /**
   * Sets committed and peak rate of the entry's direct meter.
   *
   * @throws ControlError `ERR_CONTROL_NO_METER`, `ERR_CONTROL_BAD_HANDLE`, `ERR_CONTROL_BAD_RATES`
   */
  setMeterRates(handle: number, rates: readonly MeterRate[]): void {
    this.runtime.setMeterRates(handle, rates);
  }

  /**
   * One match per key, without selector keys.
   *
   * @throws ControlError `ERR_CONTROL_UNKNOWN_KEY`, `ERR_CONTROL_WRONG_ARITY`, ...
   */
  match(input: EntryInput['match']): KeyMatch[] {
    const { shapes } = this.runtime;
    if (Array.isArray(input)) {
      const list = input as readonly MatchInput[];
      if (list.length !== shapes.length)
        refuse('ERR_CONTROL_WRONG_ARITY', `table ${this.name} needs ${shapes.length} keys, not ${list.length}`);
      return list.map((each, i) => parseMatch(shapes[i]!, this.#keyTypes[i]!.type, each, this.#names));
    }
    const matches: KeyMatch[] = shapes.map(() => ({ kind: 'any' }));
    for (const [name, each] of Object.entries((input ?? {}) as Readonly<Record<string, MatchInput>>)) {
      const at = this.#keys.get(name, 'ERR_CONTROL_UNKNOWN_KEY', `key of table ${this.name} called`);
      matches[at] = parseMatch(shapes[at]!, this.#keyTypes[at]!.type, each, this.#names);
    }
    return matches;
  }

  #target(input: TargetInput, where: 'entry' | 'default'): EntryTarget {
    const given = [input.action, input.member, input.group].filter((each) => each !== undefined).length;
    if (given !== 1) refuse('ERR_CONTROL_WRONG_ARITY', 'give one of action, member and group');
    if (input.member !== undefined) return { kind: 'member', handle: input.member };
    if (input.group !== undefined) return { kind: 'group', handle: input.group };
    const { position, action } = this.action(input.action ?? '');
    const use = this.runtime.declaration.actions[position]!;
    if (where === 'entry' ? use.isDefaultOnly : use.isTableOnly)
      refuse('ERR_CONTROL_UNKNOWN_ACTION', `action ${action.name} of table ${this.name} is not for the ${where}`);
    const call: ActionCall = { action: position, data: readParameters(action, input.params, this.#names) };
    return { kind: 'action', call };
  }

  #view(entry: TableEntry): EntryView {
    const { handle, keys, priority, isConst } = entry;
    const match = Object.fromEntries(keys.map((each, i) => [this.#keyTypes[i]!.name, formatMatch(each)]));
    return { handle, match, keys, priority, isConst, ...this.#targetView(entry.target) };
  }

  #targetView(target: EntryTarget): Pick<EntryView, 'action' | 'params' | 'member' | 'group'> {
    const none = { action: undefined, params: {}, member: undefined, group: undefined };
    if (target.kind !== 'action') return { ...none, [target.kind]: target.handle };
    const action = this.runtime.declaration.actions[target.call.action]?.action;
    // A parameter may have any name: `__proto__` must be a property like others.
    const params = Object.fromEntries(
      dataParameters(action?.parameters ?? []).map(({ variable }, i) => [variable.name, target.call.data[i] ?? 0n]),
    );
    return { ...none, action: action?.name, params };
  }
}
