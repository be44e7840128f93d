import type { Entity } from '@int/p4runtime';
import type { Change } from '../change/change.js';
import type { DesiredState } from '../change/desired-state.js';
import { type KnownSwitch, namesOf } from './known-switch.js';
import { ownMark, wantedName } from './ownership.js';
import type { Suspects } from './suspects.js';

/**
 * Which changes have to wait for others that are not done: those of the same intent or route, for its packets would come to a
 * switch that has no entry for them, or still the old one. And where a switch has lost its part of a path: what would send the
 * packets of the path elsewhere, maybe back, until the part is there again.
 */
export class Dependencies {
  /** Names of which a change is not done. */
  readonly blocked = new Set<string>();
  /** Names that may be broken, and cannot be made whole. */
  readonly givenUp = new Set<string>();
  /** By name: the smallest stage of what a switch lacks that cannot be written to. */
  readonly #lacking = new Map<string, number>();
  /** By name: the largest stage of what such a switch has, by what was last read. */
  readonly #left = new Map<string, number>();
  readonly #users = new Map<string, ReadonlySet<string>>();
  /** By name that may be broken: the smallest stage of its changes that are not done. */
  readonly #gaps = new Map<string, number>();
  /** The same, of those that a switch has refused: it is not long until they are done, or given up. */
  readonly #refused = new Map<string, number>();
  /** Changes that come later than the stages of their entries say. */
  #delayed: ReadonlyMap<Change, number> = new Map();

  constructor(
    readonly desired: DesiredState,
    switches: readonly KnownSwitch[],
    readonly suspects: Suspects,
  ) {
    for (const known of switches) if (!known.isRead) this.#unreachable(known);
  }

  /** There is no hope for these changes. */
  giveUp(changes: readonly Change[]): void {
    for (const name of changes.flatMap((each) => this.namesOf(each))) {
      if (this.suspects.has(name)) this.givenUp.add(name);
    }
  }

  /** Takes over the stages of a plan's changes, where they are others than their entries say. */
  delay(delayed: ReadonlyMap<Change, number>): void {
    this.#delayed = delayed;
  }

  /** Whether a change has to wait. */
  mustWait(change: Change): boolean {
    const names = this.namesOf(change);
    if (names.some((name) => this.blocked.has(name))) return true;
    if (this.#isBelowGap(change, names)) return true;
    if (change.type === 'delete') {
      const stage = stageOf(change.before) ?? 0;
      return names.some((name) => (this.#left.get(name) ?? -1) > stage);
    }
    const stage = stageOf(change.after) ?? Number.POSITIVE_INFINITY;
    return names.some((name) => (this.#lacking.get(name) ?? Number.POSITIVE_INFINITY) < stage);
  }

  /** A change is not done: a switch does not take it, or it waits. */
  block(change: Change, why: 'refused' | 'waits'): void {
    const stage = this.#stageOf(change);
    for (const name of this.namesOf(change)) {
      this.blocked.add(name);
      if (stage === null || this.givenUp.has(name) || !this.suspects.has(name)) continue;
      for (const gaps of why === 'refused' ? [this.#gaps, this.#refused] : [this.#gaps]) {
        gaps.set(name, Math.min(gaps.get(name) ?? stage, stage));
      }
    }
  }

  /**
   * Whether packets of a path that has lost a part may come by, and would follow what is changed now. From the switch that lacks
   * the part they may come to any other. While the part cannot be written, that is not held against others: it may take long.
   */
  #isBelowGap(change: Change, names: readonly string[]): boolean {
    const stage = change.after === null ? null : this.#stageOf(change);
    if (stage === null) return false;
    for (const [name, gap] of this.#gaps) {
      if (gap >= stage || names.includes(name)) continue;
      if ((this.#refused.get(name) ?? stage) < stage || this.suspects.isAt(name, change.switchId)) return true;
    }
    return false;
  }

  #stageOf(change: Change): number | null {
    return this.#delayed.get(change) ?? stageOf(change.after ?? change.before);
  }

  #unreachable(known: KnownSwitch): void {
    for (const wanted of this.desired.get(known.switchId) ?? []) {
      if (known.isKnown && isThereAsKnown(known, wanted.entity)) continue;
      const name = wantedName(wanted);
      this.#lacking.set(name, Math.min(this.#lacking.get(name) ?? Number.POSITIVE_INFINITY, wanted.stage));
    }
    for (const entity of known.possible()) {
      const mark = entity.kind === 'table-entry' ? ownMark(entity.metadata) : null;
      if (mark === null) continue;
      this.#left.set(mark.name, Math.max(this.#left.get(mark.name) ?? -1, mark.stage ?? Number.POSITIVE_INFINITY));
    }
  }

  /** Names of a change: of an entry its own; of a member or group those of the entries that use it on its switch. */
  namesOf({ switchId, before, after }: Change): readonly string[] {
    const names = [...namesOf(before), ...namesOf(after)];
    const object = after ?? before!;
    if (object.kind !== 'member' && object.kind !== 'group') return names;
    const key = `${switchId} ${object.kind} ${object.id}`;
    let users = this.#users.get(key);
    if (users === undefined) {
      users = this.#usersOf(switchId, object);
      this.#users.set(key, users);
    }
    return [...users];
  }

  #usersOf(switchId: number, object: { readonly kind: 'member' | 'group'; readonly id: number }): ReadonlySet<string> {
    const names = new Set<string>();
    const groups = new Set<number>(object.kind === 'group' ? [object.id] : []);
    const wanted = this.desired.get(switchId) ?? [];
    if (object.kind === 'member') {
      for (const { entity } of wanted) {
        if (entity.kind === 'group' && entity.members.some(({ id }) => id === object.id)) groups.add(entity.id);
      }
    }
    for (const each of wanted) {
      const { entity } = each;
      if (entity.kind !== 'table-entry' || entity.action === undefined) continue;
      const { action } = entity;
      const uses =
        ('group' in action && groups.has(action.group)) ||
        ('member' in action && object.kind === 'member' && action.member === object.id);
      if (uses) names.add(wantedName(each));
    }
    return names;
  }
}

const stageOf = (entity: Entity | null): number | null =>
  entity?.kind === 'table-entry' ? (ownMark(entity.metadata)?.stage ?? null) : null;

function isThereAsKnown(known: KnownSwitch, entity: Entity): boolean {
  try {
    return known.has(entity);
  } catch {
    // What cannot be written is not there either.
    return false;
  }
}
