import type { Entity, p4config } from '@int/p4runtime';
import type { Change } from '../change/change.js';
import { EntityForms } from './entity-forms.js';
import { isOwn, type Ownership, ownMark } from './ownership.js';
import type { SwitchConnection, SwitchContents } from './switch-connection.js';

/** What a reconciler knows of a switch: what it had when it was read, and what was acknowledged since. */
export class KnownSwitch {
  p4info: p4config.P4Info | undefined;
  readonly #found = new Map<string, Entity>();
  /** What the switch has acknowledged since it was read, by key. */
  readonly #acknowledged = new Map<string, Change>();
  /** What was sent and not answered, by key: it may be done, or not, or be done yet. */
  readonly #uncertain = new Map<string, Entity | null>();
  /** Whether `found` can be planned with. */
  isRead = false;
  /** Whether it is to be read before anything is said of it: something was written, or time has passed. */
  mustRead = true;
  /** A request is on its way, maybe for longer than anybody waits. */
  isBusy = false;
  /** It is on its way for longer than anybody waits. */
  isLate = false;
  /** Sessions so far: what was asked in an earlier one says nothing. */
  epoch = 0;
  failures = 0;
  nextAttemptMs = 0;
  error: string | undefined;

  constructor(readonly connection: SwitchConnection) {}

  get switchId(): number {
    return this.connection.switchId;
  }

  get found(): readonly Entity[] {
    return [...this.#found.values()];
  }

  /** Whether it was ever read. */
  get isKnown(): boolean {
    return this.p4info !== undefined;
  }

  /** What identifies the entity of a change. */
  placeOf({ before, after }: Change): string {
    return this.#forms.form((after ?? before)!).key;
  }

  /** The place of a change, and what is to be there. */
  idOf({ type, before, after }: Change): string {
    const form = this.#forms.form((after ?? before)!);
    return `${this.switchId} ${type} ${form.key} ${after === null ? '' : form.content}`;
  }

  /** Whether an entity is there for sure, as far as its last session is known. */
  has(entity: Entity): boolean {
    const form = this.#forms.form(entity);
    if (this.#uncertain.has(form.key)) return false;
    const found = this.#found.get(form.key);
    return found !== undefined && this.#forms.form(found).content === form.content;
  }

  /** What may be there. */
  *possible(): Generator<Entity> {
    yield* this.#found.values();
    for (const entity of this.#uncertain.values()) if (entity !== null) yield entity;
  }

  /** A change was sent, and there is no answer. */
  doubt(change: Change): void {
    this.#uncertain.set(this.#forms.form((change.after ?? change.before)!).key, change.after);
  }

  /** Entries that a table has. */
  entriesOf(table: string): number {
    let count = 0;
    for (const entity of this.#found.values()) if (this.#forms.form(entity).table === table) count++;
    return count;
  }

  tableOf(change: Change): string | null {
    return this.#forms.form((change.after ?? change.before)!).table;
  }

  acknowledge(change: Change): void {
    const form = this.#forms.form((change.after ?? change.before)!);
    if (change.after === null) this.#found.delete(form.key);
    else this.#found.set(form.key, change.after);
    this.#acknowledged.set(form.key, change);
  }

  /**
   * Takes over what was read.
   *
   * @returns names whose entries were there and are not any more; whether it has own entries that this controller has not written;
   * changes that were acknowledged and have no effect
   */
  learn(
    { p4info, entities }: SwitchContents,
    ownership: Ownership,
  ): { lost: Set<string>; isOthers: boolean; ineffective: Change[] } {
    let isOthers = false;
    const lost = new Set<string>();
    const ineffective: Change[] = [];
    const before = new Map(this.#found);
    this.p4info = p4info;
    this.#found.clear();
    for (const entity of entities) this.#found.set(this.#forms.form(entity).key, entity);
    for (const [key, entity] of before) {
      if (!this.#found.has(key) && isOwn(entity, ownership)) for (const name of namesOf(entity)) lost.add(name);
    }
    for (const [key, entity] of this.#found) {
      if (!isOwn(entity, ownership)) continue;
      const expected = before.get(key) ?? null;
      const sent = this.#uncertain.get(key) ?? null;
      if (!(this.#isSame(entity, expected) || this.#isSame(entity, sent))) isOthers = true;
    }
    for (const [key, change] of this.#acknowledged) {
      const found = this.#found.get(key);
      const isThere = change.after === null ? found === undefined : this.has(change.after);
      if (!isThere) ineffective.push(change);
    }
    this.#acknowledged.clear();
    this.#uncertain.clear();
    this.isRead = true;
    this.mustRead = false;
    return { lost, isOthers, ineffective };
  }

  /** Whether two entities of one place are the same, with what they are there for. */
  #isSame(one: Entity, other: Entity | null): boolean {
    if (other === null || this.#forms.form(one).content !== this.#forms.form(other).content) return false;
    return namesOf(one).join() === namesOf(other).join();
  }

  /** What was acknowledged before a session ended may be gone with it. */
  forgetAcknowledged(): void {
    this.#acknowledged.clear();
  }

  get #forms(): EntityForms {
    return EntityForms.of(this.p4info!);
  }
}

/** The names of intents and routes that an entry is marked with. */
export function namesOf(entity: Entity | null): readonly string[] {
  const mark = entity?.kind === 'table-entry' ? ownMark(entity.metadata) : null;
  return mark === null ? [] : [mark.name];
}
