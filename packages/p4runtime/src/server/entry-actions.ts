import { clone, toBinary } from '@bufbuild/protobuf';
import { Code } from '@connectrpc/connect';
import { ActionProfileActionSetSchema, type TableAction } from '../generated/p4/v1/p4runtime_pb.js';
import { readCall, writeCall } from './actions.js';
import type { EntityWriter } from './entity-writer.js';
import type { Extra } from './entry-extras.js';
import type { OneShot, ProfileState } from './profile-state.js';
import { invalid, refuse } from './refusal.js';
import type { TableSchema } from './schema.js';
import type { TargetAction, TargetCall } from './target.js';

/** What an entry does, with ids instead of handles, which may change. */
export type Reference =
  | TargetCall
  | { readonly kind: 'member' | 'group'; readonly id: number }
  | { readonly kind: 'set'; readonly set: OneShot['set'] };

/** The actions of a table's entries: its own, or those of its action profile. */
export class EntryActions {
  constructor(
    readonly schema: TableSchema,
    readonly profile: ProfileState | undefined,
  ) {}

  /** Reads what an entry does. @throws Refusal */
  read({ type }: TableAction): Reference {
    const { schema, profile } = this;
    switch (type.case) {
      case 'action': {
        if (profile !== undefined) invalid(`Cannot provide direct action for indirect table ${schema.name}`);
        return this.readCall({ type } as TableAction, false);
      }
      case 'actionProfileMemberId':
      case 'actionProfileGroupId': {
        if (profile === undefined) return invalid(`Cannot provide indirect action for direct table ${schema.name}`);
        const kind = type.case === 'actionProfileMemberId' ? 'member' : 'group';
        if (kind === 'group' && !profile.schema.hasSelector) {
          invalid(`action profile ${profile.schema.name} has no selector, so it has no groups`);
        }
        profile.needMembersMode();
        if (kind === 'member') profile.memberHandle(type.value);
        else profile.groupHandle(type.value);
        return { kind, id: type.value };
      }
      case 'actionProfileActionSet':
        if (profile === undefined) return invalid(`Cannot provide indirect action for direct table ${schema.name}`);
        // A copy: what came by the network shares the memory of the whole request.
        return { kind: 'set', set: clone(ActionProfileActionSetSchema, type.value) };
      default:
        return invalid('Invalid table action type: it is not set');
    }
  }

  /** Reads an action, of an entry or of a miss. @throws Refusal */
  readCall({ type }: TableAction, isDefault: boolean): TargetCall {
    const { schema } = this;
    if (type.case !== 'action') return invalid(`Cannot provide indirect action for direct table ${schema.name}`);
    const use = schema.actions.get(type.value.actionId);
    if (use === undefined) {
      return invalid(`Invalid action for table: ${schema.name} has no ${type.value.actionId}`);
    }
    if (!(isDefault ? use.mayBeDefault : use.mayBeEntry)) {
      refuse(
        Code.PermissionDenied,
        isDefault
          ? `Cannot use TABLE_ONLY action as default action: ${use.action.name} in table ${schema.name}`
          : `Cannot use DEFAULT_ONLY action in table entry: ${use.action.name} in table ${schema.name}`,
      );
    }
    return readCall(use.action, type.value);
  }

  /** What the target is told; a set becomes a group of its own. @throws Refusal, TargetError */
  resolve(reference: Reference): { readonly action: TargetAction; readonly oneShot: OneShot | undefined } {
    const { profile } = this;
    if (reference.kind === 'action' || profile === undefined) {
      return { action: reference as TargetCall, oneShot: undefined };
    }
    if (reference.kind === 'set') {
      const oneShot = profile.addOneShot(reference.set);
      return { action: { kind: 'group', handle: oneShot.group }, oneShot };
    }
    const { kind, id } = reference;
    const handle = kind === 'member' ? profile.memberHandle(id) : profile.groupHandle(id);
    return { action: { kind, handle }, oneShot: undefined };
  }

  /** What an entry does, as it would be told again. */
  referenceOf(action: TargetAction | undefined, { oneShot }: Extra): Reference | undefined {
    if (action === undefined || action.kind === 'action') return action;
    if (oneShot !== undefined) return { kind: 'set', set: oneShot.set };
    const { kind, handle } = action;
    return { kind, id: (kind === 'member' ? this.profile?.memberId(handle) : this.profile?.groupId(handle)) ?? 0 };
  }

  /** Writes a TableAction message. */
  write(writer: EntityWriter, action: TargetAction | undefined, { oneShot }: Extra): void {
    if (action === undefined) return;
    const start = writer.open(0x1a);
    if (oneShot !== undefined) writer.bytes(0x22, toBinary(ActionProfileActionSetSchema, oneShot.set));
    else if (action.kind === 'member') writer.number(0x10, this.profile?.memberId(action.handle) ?? 0);
    else if (action.kind === 'group') writer.number(0x18, this.profile?.groupId(action.handle) ?? 0);
    else if (action.kind === 'action') {
      const use = this.schema.actions.get(action.actionId);
      if (use !== undefined) writeCall(writer, 0x0a, use.action, action);
    }
    writer.close(start);
  }
}
