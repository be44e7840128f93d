/** Updates of members and groups of action profiles, and sets of actions for one-shots. */
import { create } from '@bufbuild/protobuf';
import { Code } from '@connectrpc/connect';
import { p4config, p4v1 } from '@int/p4runtime';
import { DELETE, entity, INFO, INSERT, MODIFY, UNSPECIFIED } from '../everything.js';
import type { Numbers } from './numbers.js';
import { faultsOf, type Made, type State } from './state.js';
import { actionOf, canonicalAction, shortest } from './values.js';

const { DEFAULT_ONLY } = p4config.ActionRef_Scope;
/** The bench has the ports 0 to this. */
const LAST_PORT = 511;

export const oneShots = (state: State, profile: number): number => state.size(`one-shots ${profile}`);

/** The number of members and groups of a profile that clients made. */
const made = (state: State, profile: number): number => state.size(`own ${profile}`);

/** Actions that a member may have: those of the entries of the profile's tables. */
function actionsOf(profile: p4config.ActionProfile): number[] {
  const tables = INFO.tables.filter(({ preamble }) => profile.tableIds.includes(preamble!.id));
  return tables.flatMap(({ actionRefs }) =>
    actionRefs.filter(({ scope }) => scope !== DEFAULT_ONLY).map(({ id }) => id),
  );
}

const OTHER_ACTION = INFO.actions.find(({ preamble }) => preamble!.name === 'I.flood')!.preamble!.id;

function memberAction(numbers: Numbers, profile: p4config.ActionProfile): ReturnType<typeof actionOf> {
  if (numbers.chance(24)) return { action: actionOf(numbers, OTHER_ACTION).action, isValid: false };
  return actionOf(numbers, numbers.pick(actionsOf(profile)));
}

interface Watch {
  readonly watchKind: object;
  readonly isValid: boolean;
}

function watchOf(numbers: Numbers): Watch {
  if (!numbers.chance(4)) return { watchKind: { case: undefined }, isValid: true };
  const isValid = !numbers.chance(8);
  const port = BigInt(isValid ? numbers.below(8) : LAST_PORT + 1 + numbers.below(8));
  return { watchKind: { case: 'watchPort', value: numbers.bytes(port) }, isValid };
}

const weightOf = (numbers: Numbers): number => (numbers.chance(24) ? -numbers.below(2) : 1 + numbers.below(4));

/** A watch port as it is given back. */
function canonicalWatch(kind: { readonly case?: string | undefined; readonly value?: unknown }): object {
  return kind.case === 'watchPort' ? { case: 'watchPort', value: shortest(kind.value as Uint8Array) } : kind;
}

export const profileOf = {
  canonicalSet(set: p4v1.ActionProfileActionSet): p4v1.ActionProfileActionSet {
    const { $typeName: _, ...rest } = set;
    return create(p4v1.ActionProfileActionSetSchema, {
      ...rest,
      actionProfileActions: set.actionProfileActions.map(({ action, weight, watchKind }) => ({
        action: canonicalAction(action!),
        weight,
        watchKind: canonicalWatch(watchKind),
      })),
    } as never);
  },
};

/** A set of actions for one entry. */
export function makeSet(
  numbers: Numbers,
  profile: p4config.ActionProfile,
): { readonly set: p4v1.ActionProfileActionSet; readonly faults: (state: State) => readonly number[] } {
  const id = profile.preamble!.id;
  const faults: number[] = [];
  const actionProfileActions = Array.from({ length: numbers.below(5) }, () => {
    const { action, isValid } = memberAction(numbers, profile);
    const watch = watchOf(numbers);
    const weight = weightOf(numbers);
    if (!isValid || !watch.isValid || weight <= 0) faults.push(Code.InvalidArgument);
    return { action, weight, watchKind: watch.watchKind };
  });
  const sum = actionProfileActions.reduce((all, { weight }) => all + weight, 0);
  if (profile.maxGroupSize > 0 && sum > profile.maxGroupSize) faults.push(Code.InvalidArgument);
  const isRandom = numbers.chance(24);
  const countsMembers = numbers.chance(24);
  const hasGroupAction = numbers.chance(48);
  if (isRandom || countsMembers || hasGroupAction) faults.push(Code.Unimplemented);
  const set = create(p4v1.ActionProfileActionSetSchema, {
    actionProfileActions,
    actionSelectionMode: p4v1.ActionProfileActionSet_ActionSelectionMode[isRandom ? 'RANDOM' : 'HASH'],
    sizeSemantics:
      p4v1.ActionProfileActionSet_SizeSemantics[
        countsMembers ? 'SUM_OF_MEMBERS' : 'DEFAULT_SIZE_DETERMINED_BY_ACTION_SELECTOR'
      ],
    ...(hasGroupAction && { groupAction: { actionId: 1 } }),
  } as never);
  return {
    set,
    faults: (state) => [...faults, ...faultsOf([made(state, id) > 0, Code.InvalidArgument])],
  };
}

/** Whether an entry or a group refers to a member, or an entry to a group. */
function isUsed(state: State, kind: 'member' | 'group', profile: number, id: number): boolean {
  const wanted = kind === 'member' ? 'actionProfileMemberId' : 'actionProfileGroupId';
  const tables = INFO.tables
    .filter(({ implementationId }) => implementationId === profile)
    .map(({ preamble }) => preamble!.id);
  for (const { tableId, action } of state.entries.values()) {
    if (action?.type.case === wanted && action.type.value === id && tables.includes(tableId)) return true;
  }
  if (kind === 'group') return false;
  return [...state.groups.values()].some(
    (group) => group.profile === profile && group.message.members.some(({ memberId }) => memberId === id),
  );
}

export function makeMember(numbers: Numbers): Made {
  const profile = numbers.pick(INFO.actionProfiles);
  const actionProfileId = profile.preamble!.id;
  // In the profile without selector up to its size, so that it fills.
  const memberId = numbers.chance(32) ? 0 : 1 + numbers.below(profile.withSelector ? 7 : 20);
  const type = numbers.chance(24) ? UNSPECIFIED : numbers.pick([INSERT, MODIFY, DELETE]);
  const { action, isValid } = memberAction(numbers, profile);
  const hasAction = !numbers.chance(24);
  const key = `${actionProfileId} ${memberId}`;
  const value = create(p4v1.ActionProfileMemberSchema, {
    actionProfileId,
    memberId,
    ...(hasAction && { action }),
  });
  return {
    kind: 'member',
    update: create(p4v1.UpdateSchema, { type, entity: entity('actionProfileMember', value as never) }),
    object: actionProfileId,
    faults(state) {
      const exists = state.members.has(key);
      const faults = faultsOf([type === UNSPECIFIED || memberId === 0, Code.InvalidArgument]);
      if (type !== INSERT && !exists && memberId !== 0) faults.push(Code.NotFound);
      if (type === DELETE) {
        return [...faults, ...faultsOf([isUsed(state, 'member', actionProfileId, memberId), Code.FailedPrecondition])];
      }
      if (!hasAction || !isValid) faults.push(Code.InvalidArgument);
      if (type === INSERT) {
        const isFull = state.size(`members ${actionProfileId}`) >= Number(profile.size);
        faults.push(
          ...faultsOf(
            [exists, Code.AlreadyExists],
            [isFull, Code.ResourceExhausted],
            [oneShots(state, actionProfileId) > 0, Code.InvalidArgument],
          ),
        );
      }
      return faults;
    },
    commit(state) {
      const before = state.members.get(key);
      const after =
        type === DELETE ? undefined : { profile: actionProfileId, id: memberId, action: canonicalAction(action) };
      state.set(state.members, key, after);
      const more = Number(after !== undefined) - Number(before !== undefined);
      state.grow(`members ${actionProfileId}`, more);
      state.grow(`own ${actionProfileId}`, more);
    },
  };
}

export function makeGroup(numbers: Numbers, state: State): Made {
  const profile = numbers.pick(INFO.actionProfiles.filter(({ withSelector }) => withSelector || numbers.chance(8)));
  if (profile === undefined) return makeMember(numbers);
  const actionProfileId = profile.preamble!.id;
  const groupId = numbers.chance(32) ? 0 : 1 + numbers.below(4);
  const key = `${actionProfileId} ${groupId}`;
  const type = numbers.chance(24) ? UNSPECIFIED : numbers.pick([INSERT, MODIFY, DELETE]);
  const known = state.groups.get(key)?.message.maxSize;
  const { maxGroupSize } = profile;
  const maxSize =
    type === MODIFY && known !== undefined && !numbers.chance(12) ? known : numbers.pick([0, 0, 4, 16, 17, 100, -1]);
  const faults: number[] = [];
  const members = Array.from({ length: numbers.below(4) }, () => {
    const watch = watchOf(numbers);
    const weight = weightOf(numbers);
    if (!watch.isValid || weight <= 0) faults.push(Code.InvalidArgument);
    return { memberId: numbers.chance(24) ? 0 : 1 + numbers.below(7), weight, watchKind: watch.watchKind };
  });
  const ids = members.map(({ memberId }) => memberId);
  if (new Set(ids).size < ids.length || ids.includes(0)) faults.push(Code.InvalidArgument);
  const sum = members.reduce((all, { weight }) => all + weight, 0);
  if (maxSize > 0 && sum > maxSize) faults.push(Code.ResourceExhausted);
  const given = { actionProfileId, groupId, maxSize, members };
  return {
    kind: 'group',
    update: create(p4v1.UpdateSchema, {
      type,
      entity: entity('actionProfileGroup', create(p4v1.ActionProfileGroupSchema, given as never) as never),
    }),
    object: actionProfileId,
    faults(now) {
      const existing = now.groups.get(key);
      const found = faultsOf(
        [type === UNSPECIFIED || groupId === 0 || !profile.withSelector, Code.InvalidArgument],
        [type !== INSERT && existing === undefined, Code.NotFound],
      );
      if (type === DELETE) {
        return [...found, ...faultsOf([isUsed(now, 'group', actionProfileId, groupId), Code.FailedPrecondition])];
      }
      found.push(
        ...faults,
        ...faultsOf([ids.some((id) => id !== 0 && !now.members.has(`${actionProfileId} ${id}`)), Code.NotFound]),
      );
      if (type === MODIFY) {
        return [
          ...found,
          ...faultsOf([existing !== undefined && existing.message.maxSize !== maxSize, Code.InvalidArgument]),
        ];
      }
      const isWrong = maxSize < 0 || (maxGroupSize > 0 && (maxSize === 0 || maxSize > maxGroupSize));
      return [
        ...found,
        ...faultsOf(
          [existing !== undefined, Code.AlreadyExists],
          [isWrong, Code.InvalidArgument],
          [oneShots(now, actionProfileId) > 0, Code.InvalidArgument],
        ),
      ];
    },
    commit(now) {
      const before = now.groups.get(key);
      const message = create(p4v1.ActionProfileGroupSchema, {
        ...given,
        members: members.map((each) => ({ ...each, watchKind: canonicalWatch(each.watchKind) })),
      } as never);
      const after = type === DELETE ? undefined : { profile: actionProfileId, id: groupId, message };
      now.set(now.groups, key, after);
      now.grow(`own ${actionProfileId}`, Number(after !== undefined) - Number(before !== undefined));
    },
  };
}

/** Deletes what there is in the profile with a selector, so that the other way of programming it gets its turn. */
export function makeClearing(numbers: Numbers, state: State): Made {
  const profile = INFO.actionProfiles.find(({ withSelector }) => withSelector)!.preamble!.id;
  const table = INFO.tables.find(({ implementationId }) => implementationId === profile)!.preamble!.id;
  const entry = [...state.entries].find(([, { tableId }]) => tableId === table);
  if (entry !== undefined) {
    const [key, { base }] = entry;
    return {
      kind: 'indirect entry',
      update: create(p4v1.UpdateSchema, { type: DELETE, entity: entity('tableEntry', base as never) }),
      object: table,
      faults: (now) => faultsOf([!now.entries.has(key), Code.NotFound]),
      commit(now) {
        const before = now.entries.get(key)!;
        now.set(now.entries, key, undefined);
        now.grow(`entries ${table}`, -1);
        const type = before.action?.type;
        if (type?.case !== 'actionProfileActionSet') return;
        now.grow(`one-shots ${profile}`, -1);
        now.grow(`members ${profile}`, -type.value.actionProfileActions.length);
      },
    };
  }
  const isGroup = [...state.groups.values()].some((each) => each.profile === profile);
  const ids = [...(isGroup ? state.groups : state.members).values()].filter((each) => each.profile === profile);
  const id = ids.length === 0 ? 1 : numbers.pick(ids).id;
  const [kind, field, map] = isGroup
    ? (['actionProfileGroup', 'groupId', state.groups] as const)
    : (['actionProfileMember', 'memberId', state.members] as const);
  const key = `${profile} ${id}`;
  return {
    kind: isGroup ? 'group' : 'member',
    update: create(p4v1.UpdateSchema, {
      type: DELETE,
      entity: entity(kind, { actionProfileId: profile, [field]: id }),
    }),
    object: profile,
    faults: (now) =>
      faultsOf(
        [!map.has(key), Code.NotFound],
        [isUsed(now, isGroup ? 'group' : 'member', profile, id), Code.FailedPrecondition],
      ),
    commit(now) {
      now.set(map as Map<string, unknown>, key, undefined);
      now.grow(`own ${profile}`, -1);
      if (!isGroup) now.grow(`members ${profile}`, -1);
    },
  };
}
