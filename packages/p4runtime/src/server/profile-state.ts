import { clone } from '@bufbuild/protobuf';
import { Code } from '@connectrpc/connect';
import {
  type Action,
  type ActionProfileActionSet,
  type ActionProfileGroup,
  ActionProfileGroupSchema,
  type ActionProfileMember,
  ActionProfileActionSet_ActionSelectionMode as SelectionMode,
  ActionProfileActionSet_SizeSemantics as SizeSemantics,
  Update_Type,
} from '../generated/p4/v1/p4runtime_pb.js';
import { callMessage, readCall } from './actions.js';
import { canonicalPort, type WatchKind, watchedPort } from './ports.js';
import { invalid, refuse } from './refusal.js';
import type { PipelineSchema, ProfileSchema } from './schema.js';
import type { P4RuntimeTarget, TargetCall, TargetProfile } from './target.js';
import type { UndoLog } from './undo.js';

interface Member {
  handle: number;
  call: TargetCall;
}

interface Group {
  handle: number;
  /** As the client wrote it, with ports in their shortest form. */
  message: ActionProfileGroup;
}

/** A group and its members that an entry made, which have no ids. */
export interface OneShot {
  readonly set: ActionProfileActionSet;
  readonly group: number;
  readonly members: readonly number[];
}

interface Share {
  readonly weight: number;
  readonly port: number | undefined;
}

/** The members and groups of one action profile, with the ids of the client. */
export class ProfileState {
  readonly members = new Map<number, Member>();
  readonly groups = new Map<number, Group>();
  readonly #memberIds = new Map<number, number>();
  readonly #groupIds = new Map<number, number>();
  /** What sets the shares of a group anew, by handle: groups of which a member depends on a port. */
  readonly #watching = new Map<number, () => void>();
  #oneShotMembers = 0;
  #oneShots = 0;

  constructor(
    readonly schema: ProfileSchema,
    readonly pipeline: PipelineSchema,
    readonly target: TargetProfile,
    readonly ports: Pick<P4RuntimeTarget, 'hasPort' | 'isPortUp'>,
  ) {}

  /** The id of a member by its handle. Members that no client made have ids from 2^31. */
  memberId(handle: number): number {
    return this.#memberIds.get(handle) ?? 0x8000_0000 + handle;
  }

  groupId(handle: number): number {
    return this.#groupIds.get(handle) ?? 0x8000_0000 + handle;
  }

  /** @throws Refusal NOT_FOUND */
  memberHandle(id: number): number {
    this.#needId(id, 'member');
    return (this.members.get(id) ?? this.#missing('member', id)).handle;
  }

  /** @throws Refusal NOT_FOUND */
  groupHandle(id: number): number {
    this.#needId(id, 'group');
    return (this.groups.get(id) ?? this.#missing('group', id)).handle;
  }

  /** @throws Refusal */
  writeMember(type: Update_Type, message: ActionProfileMember, undo: UndoLog): void {
    const { memberId: id } = message;
    this.#needId(id, 'member');
    const existing = this.members.get(id);
    switch (type) {
      case Update_Type.INSERT: {
        this.#needMode('members');
        if (existing !== undefined) refuse(Code.AlreadyExists, `Duplicate member id: ${id} in ${this.schema.name}`);
        const call = this.#call(message.action);
        this.#needRoom(1);
        this.#addMember(id, call);
        undo?.push(() => this.#removeMember(id));
        return;
      }
      case Update_Type.MODIFY: {
        const member = existing ?? this.#missing('member', id);
        const before = member.call;
        const call = this.#call(message.action);
        this.target.modifyMember(member.handle, call);
        member.call = call;
        undo?.push(() => {
          const now = this.members.get(id)!;
          this.target.modifyMember(now.handle, before);
          now.call = before;
        });
        return;
      }
      case Update_Type.DELETE: {
        const { call } = existing ?? this.#missing('member', id);
        this.#removeMember(id);
        undo?.push(() => this.#addMember(id, call));
        return;
      }
      default:
        invalid('Update type is not set');
    }
  }

  /** @throws Refusal */
  writeGroup(type: Update_Type, given: ActionProfileGroup, undo: UndoLog): void {
    const { groupId: id } = given;
    // A copy: what came by the network shares the memory of the whole request.
    const message = clone(ActionProfileGroupSchema, given);
    if (!this.schema.hasSelector) invalid(`action profile ${this.schema.name} has no selector, so it has no groups`);
    this.#needId(id, 'group');
    const existing = this.groups.get(id);
    switch (type) {
      case Update_Type.INSERT: {
        this.#needMode('members');
        if (existing !== undefined) refuse(Code.AlreadyExists, `Duplicate group id: ${id} in ${this.schema.name}`);
        this.#checkMaxSize(message.maxSize);
        const shares = this.#shares(message);
        for (const each of message.members) each.watchKind = canonicalPort(each.watchKind);
        this.#addGroup(id, message, shares);
        undo?.push(() => this.#removeGroup(id));
        return;
      }
      case Update_Type.MODIFY: {
        const group = existing ?? this.#missing('group', id);
        const before = group.message;
        if (message.maxSize !== before.maxSize) {
          invalid(`Cannot change group max_size after group creation: group ${id} has ${before.maxSize}`);
        }
        const shares = this.#shares(message);
        for (const each of message.members) each.watchKind = canonicalPort(each.watchKind);
        this.#setGroup(group, message, shares);
        undo?.push(() => this.#setGroup(this.groups.get(id)!, before, this.#shares(before)));
        return;
      }
      case Update_Type.DELETE: {
        const { message: before } = existing ?? this.#missing('group', id);
        this.#removeGroup(id);
        undo?.push(() => this.#addGroup(id, before, this.#shares(before)));
        return;
      }
      default:
        invalid('Update type is not set');
    }
  }

  /** Checks that an entry may refer to a member or group by id. @throws Refusal INVALID_ARGUMENT */
  needMembersMode(): void {
    if (this.#oneShots > 0) this.#mixed();
  }

  /**
   * Makes a group and members for an entry.
   *
   * @param set is kept, with its values in their shortest form
   * @throws Refusal, TargetError: then nothing is left
   */
  addOneShot(set: ActionProfileActionSet): OneShot {
    this.#needMode('one-shots');
    const shares = this.#oneShotShares(set);
    const calls = set.actionProfileActions.map(({ action }) => this.#call(action));
    this.#needRoom(calls.length);
    const members: number[] = [];
    let group = -1;
    try {
      for (const call of calls) members.push(this.target.addMember(call));
      group = this.target.addGroup();
      this.#setShares(group, () => members, shares);
    } catch (error) {
      this.#watching.delete(group);
      if (group >= 0) this.target.deleteGroup(group);
      for (const member of members) this.target.deleteMember(member);
      throw error;
    }
    this.#oneShots++;
    this.#oneShotMembers += members.length;
    for (const [i, each] of set.actionProfileActions.entries()) {
      each.action = callMessage(this.pipeline.actions.get(calls[i]!.actionId)!, calls[i]!);
      each.watchKind = canonicalPort(each.watchKind);
    }
    return { set, group, members };
  }

  removeOneShot({ group, members }: OneShot): void {
    this.#watching.delete(group);
    this.target.deleteGroup(group);
    for (const member of members) this.target.deleteMember(member);
    this.#oneShots--;
    this.#oneShotMembers -= members.length;
  }

  /** Excludes the members whose ports are down, and takes those back whose ports are up. */
  portsChanged(): void {
    for (const set of this.#watching.values()) set();
  }

  #call(action: Action | undefined): TargetCall {
    const { name, tables } = this.schema;
    if (action === undefined) return invalid(`a member of ${name} needs an action`);
    const schema = this.pipeline.actions.get(action.actionId);
    const use = tables.map((id) => this.pipeline.tables.get(id)?.actions.get(action.actionId));
    if (schema === undefined || !use.some((each) => each?.mayBeEntry)) {
      return invalid(`Invalid action for action profile: no table with ${name} has ${action.actionId}`);
    }
    return readCall(schema, action);
  }

  #addMember(id: number, call: TargetCall): void {
    const handle = this.target.addMember(call);
    this.members.set(id, { handle, call });
    this.#memberIds.set(handle, id);
  }

  #removeMember(id: number): void {
    const { handle } = this.members.get(id)!;
    this.target.deleteMember(handle);
    this.members.delete(id);
    this.#memberIds.delete(handle);
  }

  #addGroup(id: number, message: ActionProfileGroup, shares: readonly Share[]): void {
    const group = { handle: this.target.addGroup(), message };
    try {
      this.#setGroup(group, message, shares);
    } catch (error) {
      this.target.deleteGroup(group.handle);
      throw error;
    }
    this.groups.set(id, group);
    this.#groupIds.set(group.handle, id);
  }

  #setGroup(group: Group, message: ActionProfileGroup, shares: readonly Share[]): void {
    this.#setShares(group.handle, () => message.members.map(({ memberId }) => this.memberHandle(memberId)), shares);
    group.message = message;
  }

  #removeGroup(id: number): void {
    const { handle } = this.groups.get(id)!;
    this.target.deleteGroup(handle);
    this.#watching.delete(handle);
    this.groups.delete(id);
    this.#groupIds.delete(handle);
  }

  #setShares(group: number, members: () => readonly number[], shares: readonly Share[]): void {
    const set = (): void => {
      const handles = members();
      this.target.setGroup(
        group,
        shares.map(({ weight, port }, i) => ({
          member: handles[i]!,
          weight: port === undefined || this.ports.isPortUp(port) ? weight : 0,
        })),
      );
    };
    set();
    if (shares.some(({ port }) => port !== undefined)) this.#watching.set(group, set);
    else this.#watching.delete(group);
  }

  /** The weight of one member, which must be valid by itself. */
  #share(weight: number, watch: WatchKind): Share {
    const { name, areWeightsDisallowed, countsMembers, maxMemberWeight } = this.schema;
    if (areWeightsDisallowed && weight !== 0) invalid(`members of ${name} have no weights`);
    if (!areWeightsDisallowed && weight <= 0) {
      invalid(`Member weight must be a positive integer value, not ${weight}`);
    }
    if (countsMembers && maxMemberWeight > 0 && weight > maxMemberWeight) {
      invalid(`weight ${weight} is above ${maxMemberWeight}, the largest of ${name}`);
    }
    return { weight: areWeightsDisallowed ? 1 : weight, port: watchedPort(this.ports, watch, `member of ${name}`) };
  }

  #sizeOf(shares: readonly Share[], countsMembers: boolean = this.schema.countsMembers): number {
    return countsMembers ? shares.length : shares.reduce((sum, { weight }) => sum + weight, 0);
  }

  #shares({ members, maxSize, groupId }: ActionProfileGroup): readonly Share[] {
    const seen = new Set<number>();
    const shares = members.map(({ memberId, weight, watchKind }) => {
      if (seen.has(memberId)) {
        invalid(`Duplicate member id ${memberId} for group ${groupId}, use weights instead`);
      }
      seen.add(memberId);
      this.memberHandle(memberId);
      return this.#share(weight, watchKind);
    });
    const most = maxSize === 0 ? Number.MAX_SAFE_INTEGER : maxSize;
    const size = this.#sizeOf(shares);
    if (size > most) {
      refuse(
        Code.ResourceExhausted,
        `Sum of member weights exceeds maximum group size: group ${groupId} would have ${size} of ${maxSize}`,
      );
    }
    return shares;
  }

  #oneShotShares(set: ActionProfileActionSet): readonly Share[] {
    const { name, countsMembers, maxGroupSize, hasSelector } = this.schema;
    if (!hasSelector) invalid(`action profile ${name} has no selector, so it takes no action sets`);
    if (set.groupAction !== undefined) refuse(Code.Unimplemented, 'group actions are not supported');
    const { DEFAULT_MODE_DETERMINED_BY_ACTION_SELECTOR: byDefault, HASH } = SelectionMode;
    if (set.actionSelectionMode !== byDefault && set.actionSelectionMode !== HASH) {
      refuse(Code.Unimplemented, 'members are selected by hash only');
    }
    const semantics = countsMembers ? SizeSemantics.SUM_OF_MEMBERS : SizeSemantics.SUM_OF_WEIGHTS;
    const isDefault = set.sizeSemantics === SizeSemantics.DEFAULT_SIZE_DETERMINED_BY_ACTION_SELECTOR;
    if (!isDefault && set.sizeSemantics !== semantics) {
      refuse(Code.Unimplemented, `groups of ${name} have other size semantics, which cannot change`);
    }
    const shares = set.actionProfileActions.map(({ weight, watchKind }) => this.#share(weight, watchKind));
    const size = this.#sizeOf(shares);
    if (maxGroupSize > 0 && size > maxGroupSize) {
      invalid(
        `Sum of weights exceeds static max_group_size (from P4Info): ${size}, and ${name} allows ${maxGroupSize}`,
      );
    }
    return shares;
  }

  #checkMaxSize(maxSize: number): void {
    const { maxGroupSize, name } = this.schema;
    if (maxSize < 0) invalid('Group max_size cannot be less than 0');
    if (maxGroupSize > 0 && (maxSize === 0 || maxSize > maxGroupSize)) {
      invalid(
        maxSize === 0
          ? `Group max_size must be set: from 1 to ${maxGroupSize}, the max_group_size of ${name}`
          : `Group max_size cannot exceed static max_group_size (from P4Info) of ${name}: ${maxSize} of ${maxGroupSize}`,
      );
    }
  }

  #needRoom(members: number): void {
    const { size, name } = this.schema;
    const count = this.members.size + this.#oneShotMembers + members;
    if (size > 0 && count > size) refuse(Code.ResourceExhausted, `action profile ${name} holds ${size} members`);
  }

  #needMode(mode: 'members' | 'one-shots'): void {
    if (mode === 'members' ? this.#oneShots > 0 : this.members.size + this.groups.size > 0) this.#mixed();
  }

  #mixed(): never {
    return invalid(
      `Invalid attempt to mix action selector programming modes: ${this.schema.name} has action sets or members, not both`,
    );
  }

  #needId(id: number, what: string): void {
    if (id === 0) invalid(`0 is no id of a ${what}`);
  }

  #missing(what: string, id: number): never {
    const kind = what === 'member' ? 'Member' : 'Group';
    return refuse(Code.NotFound, `${kind} id does not exist: ${id} in ${this.schema.name}`);
  }
}
