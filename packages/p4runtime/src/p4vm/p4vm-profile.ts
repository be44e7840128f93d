import type { ActionProfile } from '@int/p4vm/internals';
import type { TargetCall, TargetProfile, TargetShare } from '../server/target.js';
import { controlled } from './control-errors.js';
import type { ActionIds } from './p4vm-table.js';

/** An action profile of a machine. */
export class P4vmProfile implements TargetProfile {
  readonly #profile: ActionProfile;
  readonly #actions: ActionIds;

  constructor(profile: ActionProfile, actions: ActionIds) {
    this.#profile = profile;
    this.#actions = actions;
    profile.mayBeEmpty = true;
  }

  addMember({ actionId, values }: TargetCall): number {
    return controlled(() => this.#profile.addMember(this.#actions.actions.get(actionId)!, values));
  }

  modifyMember(handle: number, { actionId, values }: TargetCall): void {
    controlled(() => this.#profile.modifyMember(handle, this.#actions.actions.get(actionId)!, values));
  }

  deleteMember(handle: number): void {
    controlled(() => this.#profile.deleteMember(handle));
  }

  addGroup(): number {
    return controlled(() => this.#profile.createGroup());
  }

  setGroup(handle: number, shares: readonly TargetShare[]): void {
    controlled(() => this.#profile.setGroup(handle, shares));
  }

  deleteGroup(handle: number): void {
    controlled(() => this.#profile.deleteGroup(handle));
  }
}
