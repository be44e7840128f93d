import { Code } from '@connectrpc/connect';
import { Update_Type, type ValueSetEntry } from '../generated/p4/v1/p4runtime_pb.js';
import type { EntityWriter } from './entity-writer.js';
import { readKeys, sameMatch, writeMatch } from './keys.js';
import { invalid, refuse } from './refusal.js';
import type { ValueSetSchema } from './schema.js';
import type { TargetMatch, TargetValueSet } from './target.js';
import type { UndoLog } from './undo.js';

/** A parser value set. */
export class ValueSetState {
  constructor(
    readonly schema: ValueSetSchema,
    readonly target: TargetValueSet,
  ) {}

  /** Replaces all members. @throws Refusal */
  write(type: Update_Type, entry: ValueSetEntry, undo: UndoLog): void {
    if (type === Update_Type.UNSPECIFIED) invalid('the type of the update is not set');
    if (type !== Update_Type.MODIFY) invalid('value sets can only be modified');
    const { name, size, fields } = this.schema;
    if (entry.members.length > size) refuse(Code.ResourceExhausted, `value set ${name} holds ${size} members`);
    const members = entry.members.map(({ match }) => readKeys(fields, match));
    this.#needDistinct(members);
    const before = this.target.members();
    this.target.replace(members);
    undo?.push(() => this.target.replace(before));
  }

  writeEntry(writer: EntityWriter, tag: number): void {
    const start = writer.open(tag);
    writer.number(0x08, this.schema.id);
    for (const member of this.target.members()) {
      const inner = writer.open(0x12);
      for (const field of this.schema.fields) writeMatch(writer, 0x0a, field, member[field.position]!);
      writer.close(inner);
    }
    writer.close(start);
  }

  #needDistinct(members: readonly (readonly TargetMatch[])[]): void {
    const { fields, name } = this.schema;
    const seen = new Map<string, (readonly TargetMatch[])[]>();
    for (const member of members) {
      // Equal members have equal texts of their first numbers.
      const text = member.map((match) => ('value' in match ? match.value : 'low' in match ? match.low : '')).join();
      const others = seen.get(text) ?? [];
      if (others.some((other) => fields.every((field, i) => sameMatch(field, other[i]!, member[i]!)))) {
        refuse(Code.AlreadyExists, `value set ${name} would have a member twice`);
      }
      others.push(member);
      seen.set(text, others);
    }
  }
}
