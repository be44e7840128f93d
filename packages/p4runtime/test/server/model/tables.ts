/** Updates of table entries, default entries, and their direct counters and meters. */
import { create } from '@bufbuild/protobuf';
import { Code } from '@connectrpc/connect';
import { p4config, p4v1 } from '@int/p4runtime';
import { DELETE, entity, INFO, INSERT, MODIFY, UNSPECIFIED } from '../everything.js';
import type { Numbers } from './numbers.js';
import { makeSet, oneShots, profileOf } from './profiles.js';
import { type Entry, faultsOf, type Made, type State } from './state.js';
import {
  actionOf,
  canonicalAction,
  canonicalMatches,
  countOf,
  hasPriorities,
  type MadeAction,
  matchOf,
  meterOf,
  NO_COUNT,
  readCount,
  TABLES,
  wrongMatch,
} from './values.js';

const { DEFAULT_ONLY, TABLE_ONLY } = p4config.ActionRef_Scope;
const DIRECT_COUNTERS = new Set(INFO.directCounters.map(({ preamble }) => preamble!.id));
const DIRECT_METERS = new Set(INFO.directMeters.map(({ preamble }) => preamble!.id));

export const hasCounter = (table: p4config.Table): boolean =>
  table.directResourceIds.some((id) => DIRECT_COUNTERS.has(id));
export const hasMeter = (table: p4config.Table): boolean => table.directResourceIds.some((id) => DIRECT_METERS.has(id));

/** What identifies an entry. */
export function keyOf({ tableId, priority, match }: p4v1.TableEntry): string {
  const table = TABLES.get(tableId)!;
  const texts = canonicalMatches(table.matchFields, match).map(({ fieldId, fieldMatchType }) => {
    const parts = Object.entries(fieldMatchType.value as object).filter(([name]) => !name.startsWith('$'));
    return `${fieldId}:${parts.map(([, value]) => (value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value)).join('/')}`;
  });
  return `${tableId} ${priority} ${texts.join()}`;
}

interface MadeKey {
  readonly match: p4v1.FieldMatch[];
  readonly priority: number;
  readonly isValid: boolean;
}

function makeKey(numbers: Numbers, table: p4config.Table, state: State): MadeKey {
  const known = state.recent(table.preamble!.id, numbers.below(8));
  if (known !== undefined && numbers.chance(2)) {
    const { match, priority } = known.base;
    return { match: numbers.chance(3) ? [...match].reverse() : [...match], priority, isValid: true };
  }
  const match = table.matchFields.flatMap((field) => matchOf(numbers, field) ?? []);
  let priority = hasPriorities(table) ? numbers.pick([1, 1, 2, 3, 0xff_ffff, 0x7fff_ffff]) : 0;
  let isValid = table.matchFields.length > 0;
  if (numbers.chance(12)) {
    isValid = false;
    const [first] = table.matchFields;
    const way = numbers.below(first === undefined ? 1 : 4);
    if (way === 0) priority = priority === 0 ? 1 : -numbers.below(2);
    else if (way === 1)
      match.push(create(p4v1.FieldMatchSchema, { fieldId: 77, fieldMatchType: match[0]?.fieldMatchType } as never));
    else if (way === 2 && match.length > 0) match.push(match[0]!);
    else {
      const field = numbers.pick(table.matchFields);
      const wrong = wrongMatch(numbers, field);
      const at = match.findIndex(({ fieldId }) => fieldId === field.id);
      if (at >= 0) match[at] = wrong;
      else match.push(wrong);
    }
  }
  return { match, priority, isValid };
}

interface MadeTableAction {
  readonly message: p4v1.TableAction | undefined;
  readonly faults: (state: State) => readonly number[];
}

function direct({ action, isValid }: MadeAction, scopeFault: boolean): MadeTableAction {
  const message = create(p4v1.TableActionSchema, { type: { case: 'action', value: action } });
  return {
    message,
    faults: () => faultsOf([!isValid, Code.InvalidArgument], [scopeFault, Code.PermissionDenied]),
  };
}

/** What an entry does. */
function makeAction(numbers: Numbers, table: p4config.Table, isDefault: boolean): MadeTableAction {
  const bad = (type: object): MadeTableAction => ({
    message: create(p4v1.TableActionSchema, { type } as never),
    faults: () => [Code.InvalidArgument],
  });
  const profile = INFO.actionProfiles.find(({ preamble }) => preamble!.id === table.implementationId);
  if (profile === undefined) {
    if (numbers.chance(24)) return bad({ case: 'actionProfileMemberId', value: 1 });
    if (numbers.chance(24)) return bad({ case: undefined });
    if (numbers.chance(24)) return bad({ case: 'action', value: { actionId: 0x0100_0000 } });
    const { id, scope } = numbers.pick(table.actionRefs);
    return direct(actionOf(numbers, id), scope === (isDefault ? TABLE_ONLY : DEFAULT_ONLY));
  }
  if (numbers.chance(24)) return bad({ case: 'action', value: actionOf(numbers, table.actionRefs[0]!.id).action });
  const { preamble, withSelector } = profile;
  const profileId = preamble!.id;
  if (!withSelector && numbers.chance(16)) return bad({ case: 'actionProfileGroupId', value: 1 });
  if (withSelector && numbers.chance(2)) {
    const { set, faults } = makeSet(numbers, profile);
    return {
      message: create(p4v1.TableActionSchema, { type: { case: 'actionProfileActionSet', value: set } }),
      faults,
    };
  }
  const kind = withSelector && numbers.chance(2) ? 'group' : 'member';
  const id = numbers.below(kind === 'group' ? 5 : 8);
  return {
    message: create(p4v1.TableActionSchema, {
      type: { case: kind === 'group' ? 'actionProfileGroupId' : 'actionProfileMemberId', value: id },
    }),
    faults: (state) =>
      faultsOf(
        [id === 0, Code.InvalidArgument],
        [oneShots(state, profileId) > 0, Code.InvalidArgument],
        [!(kind === 'group' ? state.groups : state.members).has(`${profileId} ${id}`), Code.NotFound],
      ),
  };
}

function canonicalTableAction(action: p4v1.TableAction | undefined): p4v1.TableAction | undefined {
  switch (action?.type.case) {
    case 'action':
      return create(p4v1.TableActionSchema, { type: { case: 'action', value: canonicalAction(action.type.value) } });
    case 'actionProfileActionSet':
      return create(p4v1.TableActionSchema, {
        type: { case: 'actionProfileActionSet', value: profileOf.canonicalSet(action.type.value) },
      });
    default:
      return action;
  }
}

/** Members of one-shots that an action makes in a profile. */
const sharesOf = (action: p4v1.TableAction | undefined): number =>
  action?.type.case === 'actionProfileActionSet' ? action.type.value.actionProfileActions.length : 0;

function setEntry(state: State, table: p4config.Table, key: string, entry: Entry | undefined): void {
  const before = state.entries.get(key);
  state.set(state.entries, key, entry);
  state.grow(`entries ${table.preamble!.id}`, Number(entry !== undefined) - Number(before !== undefined));
  const isSet = (each: Entry | undefined): number => Number(each?.action?.type.case === 'actionProfileActionSet');
  state.grow(`one-shots ${table.implementationId}`, isSet(entry) - isSet(before));
  state.grow(`members ${table.implementationId}`, sharesOf(entry?.action) - sharesOf(before?.action));
}

/** Whether the members of an action's one-shot find room. Until the old set is gone, both are there. */
function roomFaults(
  state: State,
  table: p4config.Table,
  action: p4v1.TableAction | undefined,
  freed: number,
): {
  readonly must: boolean;
  readonly may: boolean;
} {
  const more = sharesOf(action);
  if (more === 0) return { must: false, may: false };
  const profile = INFO.actionProfiles.find(({ preamble }) => preamble!.id === table.implementationId)!;
  const used = state.size(`members ${table.implementationId}`);
  return { must: used + more - freed > Number(profile.size), may: used + more > Number(profile.size) };
}

export function makeEntry(numbers: Numbers, state: State): Made {
  const table = numbers.pick(INFO.tables);
  return table.matchFields.length === 0 || numbers.chance(8)
    ? makeDefault(numbers, table)
    : makeNormal(numbers, table, state);
}

function makeNormal(numbers: Numbers, table: p4config.Table, state: State): Made {
  const tableId = table.preamble!.id;
  const { match, priority, isValid } = makeKey(numbers, table, state);
  const type = numbers.chance(24) ? UNSPECIFIED : numbers.pick([INSERT, INSERT, MODIFY, DELETE]);
  const made = makeAction(numbers, table, false);
  const action = type === MODIFY && numbers.chance(4) ? undefined : numbers.chance(32) ? undefined : made.message;
  // An update without action and direct resources changes nothing, whatever else it says: there is none with anything else.
  const isBare = type === MODIFY && action === undefined && !hasMeter(table);
  const meter = hasMeter(table) ? numbers.chance(3) : numbers.chance(48) && !isBare;
  const config = meter ? meterOf(numbers) : undefined;
  const counts = hasCounter(table) ? numbers.chance(3) : numbers.chance(48) && !isBare;
  const data = counts ? countOf(numbers) : undefined;
  const hasTimeout = !isBare && (table.idleTimeoutBehavior === 1 ? numbers.chance(4) : numbers.chance(48));
  const idleTimeoutNs = hasTimeout ? (numbers.chance(8) ? -1n : 1_000_000_000_000n) : 0n;
  const isConst = numbers.chance(64);
  const isTimed = numbers.chance(64);
  const given = create(p4v1.TableEntrySchema, {
    tableId,
    match,
    priority,
    action,
    metadata: isBare ? new Uint8Array(0) : numbers.opaque(8),
    controllerMetadata: !isBare && numbers.chance(6) ? BigInt(numbers.below(1000)) : 0n,
    idleTimeoutNs,
    isConst,
    meterConfig: config?.config,
    counterData: data?.data,
    ...(isTimed && { timeSinceLastHit: {} }),
  });
  const key = isValid ? keyOf(given) : '';
  const partFaults = faultsOf(
    [isConst || isTimed, Code.InvalidArgument],
    [idleTimeoutNs !== 0n && (idleTimeoutNs < 0n || table.idleTimeoutBehavior !== 1), Code.InvalidArgument],
    [config !== undefined && !(config.isValid && hasMeter(table)), Code.InvalidArgument],
    [data !== undefined && !(data.isValid && hasCounter(table)), Code.InvalidArgument],
  );
  const keyFaults = faultsOf([!isValid, Code.InvalidArgument], [type === UNSPECIFIED, Code.InvalidArgument]);
  return {
    kind: table.implementationId === 0 ? 'entry' : 'indirect entry',
    update: create(p4v1.UpdateSchema, { type, entity: entity('tableEntry', given as never) }),
    object: tableId,
    faults(now) {
      const existing = now.entries.get(key);
      const faults: number[] = [...keyFaults];
      if (type === DELETE) {
        if (isConst) faults.push(Code.InvalidArgument);
        if (table.isConstTable) faults.push(Code.PermissionDenied);
        if (isValid && existing === undefined) faults.push(Code.NotFound);
        if (existing?.isConst === true) faults.push(Code.PermissionDenied);
        return faults;
      }
      faults.push(...partFaults);
      if (action !== undefined) faults.push(...made.faults(now));
      const { must } = roomFaults(now, table, action, sharesOf(existing?.action));
      if (must) faults.push(Code.ResourceExhausted);
      if (type === INSERT) {
        if (table.isConstTable) faults.push(Code.PermissionDenied);
        if (action === undefined) faults.push(Code.InvalidArgument);
        if (existing !== undefined) faults.push(Code.AlreadyExists);
        if (now.size(`entries ${tableId}`) >= Number(table.size)) faults.push(Code.ResourceExhausted);
      } else {
        if (isValid && existing === undefined) faults.push(Code.NotFound);
        const changes =
          action !== undefined || idleTimeoutNs !== 0n || given.metadata.length > 0 || given.controllerMetadata !== 0n;
        if ((table.isConstTable || existing?.isConst === true) && changes) faults.push(Code.PermissionDenied);
      }
      return faults;
    },
    mayRefuse(now) {
      return roomFaults(now, table, action, 0).may ? [Code.ResourceExhausted] : [];
    },
    commit(now) {
      if (type === DELETE) {
        setEntry(now, table, key, undefined);
        return;
      }
      const existing = now.entries.get(key);
      if (isBare && existing !== undefined) return;
      const base = create(p4v1.TableEntrySchema, {
        tableId,
        match: canonicalMatches(table.matchFields, match),
        priority,
        metadata: given.metadata,
        controllerMetadata: given.controllerMetadata,
        idleTimeoutNs,
      });
      const entry: Entry = {
        tableId,
        base,
        action: action === undefined ? existing?.action : canonicalTableAction(action),
        isConst: existing?.isConst ?? false,
        count: data === undefined ? (existing?.count ?? NO_COUNT) : readCount(data.data),
        meter: config?.config,
      };
      setEntry(now, table, key, entry);
      now.remember(entry);
    },
  };
}

/** The default entries at the start. */
const ORIGINAL = new Map<number, Entry>();

export function setOriginal(entry: Entry): void {
  ORIGINAL.set(entry.tableId, entry);
}

function makeDefault(numbers: Numbers, table: p4config.Table): Made {
  const tableId = table.preamble!.id;
  const made = makeAction(numbers, table, true);
  const action = numbers.chance(4) ? undefined : made.message;
  const type = numbers.chance(6) ? numbers.pick([INSERT, DELETE, UNSPECIFIED]) : MODIFY;
  const config = numbers.chance(hasMeter(table) ? 3 : 24) ? meterOf(numbers) : undefined;
  const data = numbers.chance(hasCounter(table) ? 3 : 24) ? countOf(numbers) : undefined;
  const priority = numbers.chance(24) ? 1 : 0;
  const match = numbers.chance(24) ? [create(p4v1.FieldMatchSchema, { fieldId: 1 })] : [];
  const idleTimeoutNs = numbers.chance(24) ? 1n : 0n;
  const given = create(p4v1.TableEntrySchema, {
    tableId,
    isDefaultAction: true,
    match,
    priority,
    idleTimeoutNs,
    action,
    metadata: numbers.opaque(8),
    controllerMetadata: numbers.chance(6) ? 7n : 0n,
    meterConfig: config?.config,
    counterData: data?.data,
  });
  return {
    kind: 'default entry',
    update: create(p4v1.UpdateSchema, { type, entity: entity('tableEntry', given as never) }),
    object: tableId,
    faults: (now) => [
      ...faultsOf(
        [type !== MODIFY, Code.InvalidArgument],
        [priority !== 0 || match.length > 0 || idleTimeoutNs !== 0n, Code.InvalidArgument],
        [table.implementationId !== 0, Code.InvalidArgument],
        [table.constDefaultActionId !== 0, Code.PermissionDenied],
        [config !== undefined && !(config.isValid && hasMeter(table)), Code.InvalidArgument],
        [data !== undefined && !(data.isValid && hasCounter(table)), Code.InvalidArgument],
      ),
      ...(action === undefined ? [] : made.faults(now)),
    ],
    commit(now) {
      if (action === undefined) {
        now.set(now.defaults, tableId, ORIGINAL.get(tableId)!);
        return;
      }
      const before = now.defaults.get(tableId)!;
      const { metadata, controllerMetadata } = given;
      now.set(now.defaults, tableId, {
        ...before,
        base: create(p4v1.TableEntrySchema, { tableId, isDefaultAction: true, metadata, controllerMetadata }),
        action: canonicalTableAction(action),
        count: data === undefined ? before.count : readCount(data.data),
        meter: config?.config,
      });
    },
  };
}

/** An update of a direct counter or a direct meter by itself. */
export function makeDirect(numbers: Numbers, state: State): Made {
  const isMeter = numbers.chance(2);
  const able = INFO.tables.filter(isMeter ? hasMeter : hasCounter);
  const table = numbers.chance(8) ? numbers.pick(INFO.tables) : numbers.pick(able);
  const tableId = table.preamble!.id;
  const isDefault = table.matchFields.length === 0 || numbers.chance(6);
  const { match, priority, isValid } = isDefault
    ? { match: [], priority: 0, isValid: true }
    : makeKey(numbers, table, state);
  const type = numbers.chance(8) ? numbers.pick([INSERT, DELETE, UNSPECIFIED]) : MODIFY;
  const hasEntry = !numbers.chance(32);
  const tableEntry = hasEntry
    ? create(p4v1.TableEntrySchema, { tableId, match, priority, isDefaultAction: isDefault })
    : undefined;
  const config = isMeter && !numbers.chance(4) ? meterOf(numbers) : undefined;
  const data = isMeter || numbers.chance(6) ? undefined : countOf(numbers);
  const asksColours = isMeter && numbers.chance(24);
  const value = isMeter
    ? create(p4v1.DirectMeterEntrySchema, {
        tableEntry,
        config: config?.config,
        ...(asksColours && { counterData: {} }),
      })
    : create(p4v1.DirectCounterEntrySchema, { tableEntry, data: data?.data });
  const key = isDefault || !isValid ? '' : keyOf(create(p4v1.TableEntrySchema, { tableId, match, priority }));
  const find = (now: State): Entry | undefined => (isDefault ? now.defaults.get(tableId) : now.entries.get(key));
  return {
    kind: isMeter ? 'direct meter' : 'direct counter',
    update: create(p4v1.UpdateSchema, {
      type,
      entity: entity(isMeter ? 'directMeterEntry' : 'directCounterEntry', value as never),
    }),
    object: hasEntry ? tableId : -1,
    faults: (now) =>
      faultsOf(
        [type !== MODIFY || !hasEntry || !isValid, Code.InvalidArgument],
        [!(isMeter ? hasMeter : hasCounter)(table), Code.InvalidArgument],
        [isValid && find(now) === undefined, Code.NotFound],
        [(config ?? data)?.isValid === false, Code.InvalidArgument],
        [asksColours, Code.Unimplemented],
      ),
    commit(now) {
      const before = find(now)!;
      const entry = isMeter
        ? { ...before, meter: config?.config }
        : { ...before, count: data === undefined ? before.count : readCount(data.data) };
      if (isDefault) now.set(now.defaults, tableId, entry);
      else now.set(now.entries, key, entry);
    },
  };
}
