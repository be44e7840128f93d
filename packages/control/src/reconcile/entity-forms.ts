import type { Entity, p4config } from '@int/p4runtime';
import { contentOf, EntityCodec, isFixed, keyOf } from '@int/p4runtime/internals';

/** An entity as it is compared: what it is by its place, and what stands there. */
export interface EntityForm {
  /** What identifies it on its switch: for table entries the table, the match and the priority. */
  readonly key: string;
  /** Everything else but metadata and counts. Equal for equal entities, however their values are written. */
  readonly content: string;
  /** Whether it exists always, and is only ever modified. */
  readonly isFixed: boolean;
  /** Full name of the table whose room it takes; `null`: none. */
  readonly table: string | null;
}

const known = new WeakMap<p4config.P4Info, EntityForms>();

/** Compares entities of one P4Info: names, aliases and texts of values become what P4Runtime sends. */
export class EntityForms {
  readonly #codec: EntityCodec;
  readonly #forms = new WeakMap<Entity, EntityForm>();
  readonly #sizes: ReadonlyMap<string, number>;

  private constructor(info: p4config.P4Info) {
    this.#codec = new EntityCodec(info);
    this.#sizes = new Map(info.tables.map(({ preamble, size }) => [preamble?.name ?? '', Number(size)]));
  }

  static of(info: p4config.P4Info): EntityForms {
    const forms = known.get(info) ?? new EntityForms(info);
    known.set(info, forms);
    return forms;
  }

  /** Entries that a table is to hold, as its program says; 0: it says nothing. */
  sizeOf(table: string): number {
    return this.#sizes.get(table) ?? 0;
  }

  /** @throws P4InfoError for unknown names, P4RuntimeError for values that do not fit */
  form(entity: Entity): EntityForm {
    const before = this.#forms.get(entity);
    if (before !== undefined) return before;
    const message = this.#codec.encode(entity);
    const key = keyOf(message);
    const form: EntityForm = {
      key,
      content: contentOf(message),
      isFixed: isFixed(message),
      table:
        message.entity.case === 'tableEntry' && !message.entity.value.isDefaultAction
          ? this.#codec.index.nameOf('table', message.entity.value.tableId)
          : null,
    };
    this.#forms.set(entity, form);
    return form;
  }

  /** An entity with full names, as a switch would answer it. Table entries, sessions and the like are given back as they are. */
  named(entity: Entity): Entity {
    const { kind } = entity;
    const isArray = kind === 'meter' || kind === 'counter' || kind === 'register' || kind === 'value-set';
    return isArray ? this.#codec.decode(this.#codec.encode(entity)) : entity;
  }
}
