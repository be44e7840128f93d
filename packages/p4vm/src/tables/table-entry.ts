import type { ProfileTarget } from '../externs/action-profile.js';
import type { ActionCall, DataType, IrParameter, KeyMatch, Table } from '../ir/program.js';
import { refuse } from './control-error.js';
import { dataParameters } from './data-width.js';
import { canonicalMatch, type KeyShape, prefixMask } from './key-match.js';

/** The target of an entry: its own action, or a member or group of the table's action profile. */
export type EntryTarget = { readonly kind: 'action'; readonly call: ActionCall } | ProfileTarget;

/** An entry as the control plane sees it. Keys in canonical form, without selector keys. */
export interface TableEntry {
  readonly handle: number;
  readonly keys: readonly KeyMatch[];
  readonly target: EntryTarget;
  /** 0 for tables without priorities. */
  readonly priority: number;
  readonly isConst: boolean;
  /** Microseconds without a hit after which the entry counts as expired; 0: never. */
  readonly timeoutUs: number;
}

/**
 * Brings the keys of an entry into canonical form. Matches for selector keys are left out.
 *
 * @param shapes the matched keys
 * @param isTernary whether entries have priorities
 * @throws ControlError `ERR_CONTROL_WRONG_ARITY`, `ERR_CONTROL_BAD_MATCH`, `ERR_CONTROL_VALUE_TOO_WIDE`
 */
export function canonicalKeys(
  table: Table,
  shapes: readonly KeyShape[],
  isTernary: boolean,
  keys: readonly KeyMatch[],
): readonly KeyMatch[] {
  let matches = keys;
  if (keys.length !== shapes.length && keys.length === table.keys.length) {
    matches = keys.filter((_, i) => table.keys[i]!.matchKind !== 'selector');
  }
  if (matches.length !== shapes.length)
    refuse('ERR_CONTROL_WRONG_ARITY', `table ${table.name} needs ${shapes.length} key fields, not ${keys.length}`);
  const canonical: KeyMatch[] = [];
  for (let i = 0; i < matches.length; i++) {
    const match = canonicalMatch(shapes[i]!, matches[i]!);
    // Beside ternary keys an lpm key acts as a ternary one whose mask is a prefix.
    canonical.push(
      isTernary && match.kind === 'prefix'
        ? { ...match, value: match.value & prefixMask(shapes[i]!.width, match.length) }
        : match,
    );
  }
  return canonical;
}

const typesOf = /* @__PURE__ */ new WeakMap<readonly IrParameter[], readonly DataType[]>();

/** The types of the parameters that the control plane gives. */
export function dataTypes(parameters: readonly IrParameter[]): readonly DataType[] {
  let types = typesOf.get(parameters);
  if (types === undefined) {
    types = dataParameters(parameters).map(({ variable }) => variable.type);
    typesOf.set(parameters, types);
  }
  return types;
}

/**
 * Checks a call of one of the table's actions.
 *
 * @returns the types of its data
 * @throws ControlError `ERR_CONTROL_UNKNOWN_ACTION`, `ERR_CONTROL_WRONG_ARITY`
 */
export function checkCall(table: Table, call: ActionCall): readonly DataType[] {
  const action = table.actions[call.action]?.action;
  if (action === undefined) refuse('ERR_CONTROL_UNKNOWN_ACTION', `table ${table.name} has no action ${call.action}`);
  const types = dataTypes(action.parameters);
  if (types.length !== call.data.length)
    refuse(
      'ERR_CONTROL_WRONG_ARITY',
      `action ${action.name} needs ${types.length} parameters, not ${call.data.length}`,
    );
  return types;
}
