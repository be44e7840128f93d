import { Memory } from '../budget/memory.js';
import type { Action, ExternInstance } from '../ir/program.js';
import { entryBytes } from '../ir/state-bytes.js';
import type { RuntimeValue } from '../machine/runtime.js';
import { ControlError } from '../tables/control-error.js';
import { dataParameters, toRuntimeValue, toWords } from '../tables/data-width.js';
import { HandleSlots } from '../tables/handle-slots.js';
import type { Calculation } from './calculations.js';
import { memberArgument, sizeArgument } from './constructor-arguments.js';

/** An action with its data. Entries of tables point to it. */
export interface ProfileMember {
  readonly handle: number;
  readonly action: Action;
  /** The given values, one per data parameter. */
  readonly values: readonly bigint[];
  /** The same as run-time values. */
  readonly data: readonly RuntimeValue[];
  /** The same as `BoundAction.words`. */
  readonly words: Int32Array;
}

export interface ProfileGroup {
  readonly handle: number;
  /** Handles of its members, ascending. */
  readonly members: readonly number[];
}

/** The members of a group with weights, and what selection needs of them. */
interface Weights {
  /** Sums of the weights up to and with each member. */
  readonly sums: readonly number[];
  /** Sum of all weights, up to 2^53 - 1. */
  readonly total: number;
}

/** The target of an entry of an indirect table. */
export type ProfileTarget =
  | { readonly kind: 'member'; readonly handle: number }
  | { readonly kind: 'group'; readonly handle: number };

const GROUP_BYTES = 256;
/** Bytes of a member's place in a group. */
const PLACE_BYTES = 64;

/** Members, and for an action_selector groups of them. Handles are the lowest free numbers. */
export class ActionProfile {
  readonly kind = 'action_profile';
  readonly isSelector: boolean;
  /** Declared size; not enforced, as in the reference switch. */
  readonly size: number;
  /** Member of `HashAlgorithm`; undefined without selector. */
  readonly algorithm: string | undefined;
  readonly #members = new HandleSlots();
  readonly #groups = new HandleSlots();
  readonly #memberList: ProfileMember[] = [];
  readonly #groupList: number[][] = [];
  /** By group; undefined: all members have weight 1. */
  readonly #weights: (Weights | undefined)[] = [];
  readonly #memberUses: number[] = [];
  readonly #groupUses: number[] = [];
  readonly #selection: Calculation | undefined;
  /** Whether entries may point to a group without members; the reference switch refuses that. */
  mayBeEmpty = false;

  /**
   * @param calculation makes the hash that selects members
   * @param memory memory for members and groups; unlimited if absent
   */
  constructor(
    readonly declaration: ExternInstance,
    calculation: (algorithm: string) => Calculation,
    readonly memory: Memory = new Memory(Number.POSITIVE_INFINITY),
  ) {
    this.isSelector = declaration.type === 'action_selector';
    this.size = sizeArgument(declaration, this.isSelector ? 1 : 0);
    this.algorithm = this.isSelector ? memberArgument(declaration, 0) : undefined;
    this.#selection = this.algorithm === undefined ? undefined : calculation(this.algorithm);
  }

  /** Adds a member. @throws ControlError `ERR_CONTROL_WRONG_ARITY`, `ERR_CONTROL_NO_ROOM` */
  addMember(action: Action, values: readonly bigint[]): number {
    const data = this.#data(action, values);
    this.#take(entryBytes([], values.length));
    const handle = this.#members.take();
    this.#memberList[handle] = { handle, action, values, ...data };
    this.#memberUses[handle] = 0;
    return handle;
  }

  /** @throws ControlError `ERR_CONTROL_BAD_MEMBER`, `ERR_CONTROL_WRONG_ARITY` */
  modifyMember(handle: number, action: Action, values: readonly bigint[]): void {
    this.member(handle);
    this.#memberList[handle] = { handle, action, values, ...this.#data(action, values) };
  }

  /** @throws ControlError `ERR_CONTROL_BAD_MEMBER`, `ERR_CONTROL_MEMBER_IN_USE` (by an entry or a group) */
  deleteMember(handle: number): void {
    this.member(handle);
    if (this.#memberUses[handle]! > 0)
      throw new ControlError('ERR_CONTROL_MEMBER_IN_USE', `member ${handle} is in use`);
    this.memory.giveBack(entryBytes([], this.#memberList[handle]!.values.length));
    this.#members.release(handle);
  }

  /** @throws ControlError `ERR_CONTROL_BAD_MEMBER` */
  member(handle: number): ProfileMember {
    const member = this.#members.isUsed(handle) ? this.#memberList[handle] : undefined;
    if (member === undefined) throw new ControlError('ERR_CONTROL_BAD_MEMBER', `there is no member ${handle}`);
    return member;
  }

  members(): readonly ProfileMember[] {
    return this.#memberList.filter((_, handle) => this.#members.isUsed(handle));
  }

  /** @throws ControlError `ERR_CONTROL_NO_SELECTOR`, `ERR_CONTROL_NO_ROOM` */
  createGroup(): number {
    this.#needSelector();
    this.#take(GROUP_BYTES);
    const handle = this.#groups.take();
    this.#groupList[handle] = [];
    this.#groupUses[handle] = 0;
    return handle;
  }

  /** @throws ControlError `ERR_CONTROL_NO_SELECTOR`, `ERR_CONTROL_BAD_GROUP`, `ERR_CONTROL_GROUP_IN_USE` (by an entry) */
  deleteGroup(handle: number): void {
    this.#needSelector();
    const members = this.#group(handle);
    if (this.#groupUses[handle]! > 0) throw new ControlError('ERR_CONTROL_GROUP_IN_USE', `group ${handle} is in use`);
    for (const member of members) this.#memberUses[member]! -= 1;
    this.memory.giveBack(GROUP_BYTES + members.length * PLACE_BYTES);
    this.#groupList[handle] = [];
    this.#weights[handle] = undefined;
    this.#groups.release(handle);
  }

  /** @throws ControlError `ERR_CONTROL_NO_SELECTOR`, `ERR_CONTROL_BAD_MEMBER`, `ERR_CONTROL_BAD_GROUP`, `ERR_CONTROL_MEMBER_IN_GROUP`, `ERR_CONTROL_NO_ROOM` */
  addToGroup(member: number, group: number): void {
    this.#needSelector();
    this.member(member);
    const members = this.#group(group);
    // Sorted: the n-th member has the n-th lowest handle.
    let low = 0;
    let high = members.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (members[middle]! < member) low = middle + 1;
      else high = middle;
    }
    if (members[low] === member) {
      throw new ControlError('ERR_CONTROL_MEMBER_IN_GROUP', `member ${member} is in group ${group} already`);
    }
    this.#take(PLACE_BYTES);
    members.splice(low, 0, member);
    this.#weights[group] = undefined;
    this.#memberUses[member]! += 1;
  }

  /**
   * Replaces the members of a group. A member is selected in proportion to its weight; with weight 0 never.
   *
   * @param members handles and weights (whole numbers from 0, together below 2^53), each member once
   * @throws ControlError `ERR_CONTROL_NO_SELECTOR`, `ERR_CONTROL_BAD_MEMBER`, `ERR_CONTROL_BAD_GROUP`,
   *   `ERR_CONTROL_MEMBER_IN_GROUP`, `ERR_CONTROL_BAD_VALUE`, `ERR_CONTROL_NO_ROOM`
   */
  setGroup(group: number, members: readonly { readonly member: number; readonly weight: number }[]): void {
    this.#needSelector();
    const before = this.#group(group);
    const ordered = [...members].sort((left, right) => left.member - right.member);
    let total = 0;
    const sums = ordered.map(({ member, weight }, i) => {
      this.member(member);
      if (ordered[i - 1]?.member === member)
        throw new ControlError('ERR_CONTROL_MEMBER_IN_GROUP', `member ${member} is in group ${group} twice`);
      total += weight;
      if (!Number.isSafeInteger(weight) || weight < 0 || !Number.isSafeInteger(total))
        throw new ControlError('ERR_CONTROL_BAD_VALUE', `${weight} is no weight`);
      return total;
    });
    if (ordered.length > before.length) this.#take((ordered.length - before.length) * PLACE_BYTES);
    else this.memory.giveBack((before.length - ordered.length) * PLACE_BYTES);
    for (const member of before) this.#memberUses[member]! -= 1;
    for (const { member } of ordered) this.#memberUses[member]! += 1;
    this.#groupList[group] = ordered.map(({ member }) => member);
    this.#weights[group] = ordered.every(({ weight }) => weight === 1) ? undefined : { sums, total };
  }

  /** @throws ControlError `ERR_CONTROL_NO_SELECTOR`, `ERR_CONTROL_BAD_MEMBER`, `ERR_CONTROL_BAD_GROUP`, `ERR_CONTROL_MEMBER_NOT_IN_GROUP` */
  removeFromGroup(member: number, group: number): void {
    this.#needSelector();
    this.member(member);
    const members = this.#group(group);
    const at = members.indexOf(member);
    if (at < 0) throw new ControlError('ERR_CONTROL_MEMBER_NOT_IN_GROUP', `member ${member} is not in group ${group}`);
    members.splice(at, 1);
    this.#weights[group] = undefined;
    this.memory.giveBack(PLACE_BYTES);
    this.#memberUses[member]! -= 1;
  }

  /** @throws ControlError `ERR_CONTROL_BAD_GROUP` */
  group(handle: number): ProfileGroup {
    return { handle, members: [...this.#group(handle)] };
  }

  groups(): readonly ProfileGroup[] {
    return this.#groupList
      .map((members, handle) => ({ handle, members: [...members] }))
      .filter(({ handle }) => this.#groups.isUsed(handle));
  }

  /**
   * Checks the target of an entry.
   *
   * @throws ControlError `ERR_CONTROL_BAD_MEMBER`, `ERR_CONTROL_BAD_GROUP`, `ERR_CONTROL_EMPTY_GROUP` (unless `mayBeEmpty`)
   */
  check(target: ProfileTarget, mayBeEmpty = false): void {
    if (target.kind === 'member') this.member(target.handle);
    else if (this.#group(target.handle).length === 0 && !mayBeEmpty && !this.mayBeEmpty) {
      throw new ControlError('ERR_CONTROL_EMPTY_GROUP', `group ${target.handle} has no members`);
    }
  }

  /** Counts an entry that begins (+1) or ceases (-1) to use a member or group. */
  use(target: ProfileTarget, change: 1 | -1): void {
    const uses = target.kind === 'member' ? this.#memberUses : this.#groupUses;
    uses[target.handle] = (uses[target.handle] ?? 0) + change;
  }

  /**
   * The member that a packet gets: for a group the one at position hash modulo size, or with weights, modulo their sum.
   * Undefined for an empty group, or one in which no weight is above 0.
   *
   * @param bytes bytes to hash: the bits of all selector keys without gaps, then zero bits up to a whole byte
   */
  select(target: ProfileTarget, bytes: Uint8Array, length: number): ProfileMember | undefined {
    if (target.kind === 'member') return this.#memberList[target.handle];
    const members = this.#groupList[target.handle];
    if (members === undefined || members.length === 0) return undefined;
    const hash = this.#selection === undefined ? 0 : this.#selection.hash32(bytes, length);
    const weights = this.#weights[target.handle];
    if (weights === undefined) return this.#memberList[members[hash % members.length]!];
    if (weights.total === 0) return undefined;
    const at = hash % weights.total;
    let low = 0;
    for (let high = members.length - 1; low < high; ) {
      const middle = (low + high) >> 1;
      if (weights.sums[middle]! > at) high = middle;
      else low = middle + 1;
    }
    return this.#memberList[members[low]!];
  }

  reset(): void {
    for (const { values } of this.members()) this.memory.giveBack(entryBytes([], values.length));
    for (const { members } of this.groups()) this.memory.giveBack(GROUP_BYTES + members.length * PLACE_BYTES);
    this.#members.clear();
    this.#groups.clear();
    this.#memberList.length = 0;
    this.#groupList.length = 0;
    this.#weights.length = 0;
    this.#memberUses.length = 0;
    this.#groupUses.length = 0;
  }

  #take(bytes: number): void {
    if (this.memory.take(bytes)) return;
    throw new ControlError(
      'ERR_CONTROL_NO_ROOM',
      `there is no memory left for action profile ${this.declaration.name}`,
    );
  }

  #needSelector(): void {
    if (!this.isSelector) {
      throw new ControlError('ERR_CONTROL_NO_SELECTOR', `action profile ${this.declaration.name} has no selector`);
    }
  }

  #group(handle: number): number[] {
    const group = this.#groups.isUsed(handle) ? this.#groupList[handle] : undefined;
    if (group === undefined) throw new ControlError('ERR_CONTROL_BAD_GROUP', `there is no group ${handle}`);
    return group;
  }

  #data(action: Action, values: readonly bigint[]): Pick<ProfileMember, 'data' | 'words'> {
    const parameters = dataParameters(action.parameters);
    if (parameters.length !== values.length) {
      throw new ControlError(
        'ERR_CONTROL_WRONG_ARITY',
        `action ${action.name} needs ${parameters.length} parameters, not ${values.length}`,
      );
    }
    const types = parameters.map(({ variable }) => variable.type);
    return { data: values.map((value, i) => toRuntimeValue(types[i]!, value)), words: toWords(types, values) };
  }
}
