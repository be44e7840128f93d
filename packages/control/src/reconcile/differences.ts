import { type Entity, P4InfoError, P4RuntimeError } from '@int/p4runtime';
import type { Change } from '../change/change.js';
import type { DesiredEntity, DesiredState } from '../change/desired-state.js';
import { type EntityForm, EntityForms } from './entity-forms.js';
import { isOwn, type Ownership, ownMark, ownMetadata, wantedName } from './ownership.js';
import type { PlanOptions } from './plan-changes.js';

/** Something wanted that cannot be had. */
export interface Obstacle {
  readonly switchId: number;
  readonly entity: Entity;
  readonly intents: readonly string[];
  readonly kind: 'held-by-another' | 'not-own' | 'invalid' | 'twice';
  readonly message: string;
}

/** A change, and what its place in a plan depends on. */
export interface Difference {
  readonly change: Change;
  /** The intent's or route's name; that of the found entry for a deletion. */
  readonly name: string;
  readonly stage: number;
  readonly foundName: string | null;
  readonly foundStage: number;
  /** Whether entries may refer to it: members, groups, sessions. */
  readonly isObject: boolean;
  /** Whether it is an entry that takes room in a table. */
  readonly isEntry: boolean;
  /** Only what the entry says of its stage differs. */
  readonly isMarkOnly: boolean;
  /** Nothing differs. */
  readonly isKept: boolean;
  /** It goes because what it leads to cannot be had. */
  readonly isGivenUp: boolean;
  /** What identifies the entity on its switch. */
  readonly key: string;
  /** Order in a request: what others refer to comes before them, and goes after them. */
  readonly rank: number;
  readonly table: string | null;
}

/** Kinds in the order in which they are made. */
const RANKS: Readonly<Record<Entity['kind'], number>> = {
  member: 0,
  group: 1,
  'multicast-group': 2,
  'clone-session': 3,
  'value-set': 4,
  digest: 5,
  register: 6,
  meter: 7,
  counter: 8,
  'table-entry': 9,
  'direct-counter': 10,
  'direct-meter': 11,
};

/** The stage of a found entry that does not say it, which goes first. */
const UNKNOWN_STAGE = 1_000_000_000;

/**
 * What differs between desired and found, switch by switch, in the order of the ids. `kept` are own entries that stay, `gaps` the
 * smallest stages of what no switch takes, by name.
 */
export function differencesOf(
  desired: DesiredState,
  found: ReadonlyMap<number, readonly Entity[]>,
  { switches, ownership = {} }: PlanOptions,
): {
  readonly differences: Difference[];
  readonly kept: Difference[];
  readonly obstacles: Obstacle[];
  readonly gaps: ReadonlyMap<string, number>;
} {
  const gaps = new Map<string, number>();
  const differences: Difference[] = [];
  const kept: Difference[] = [];
  const obstacles: Obstacle[] = [];
  for (const switchId of [...found.keys()].sort((one, other) => one - other)) {
    const info = switches.get(switchId)?.p4info;
    if (info === undefined) continue;
    const forms = EntityForms.of(info);
    const comparison = new Comparison(switchId, forms, ownership, found.get(switchId)!);
    for (const each of desired.get(switchId) ?? []) {
      const result = comparison.compare(each);
      if ('kind' in result) {
        obstacles.push(result);
        // Where another has an entry, packets do not fall through to the next table.
        if (result.kind === 'held-by-another' || result.kind === 'twice') continue;
        const name = wantedName(each);
        gaps.set(name, Math.min(gaps.get(name) ?? each.stage, each.stage));
      } else (result.isKept ? kept : differences).push(result);
    }
    differences.push(...comparison.unwanted());
  }
  return { differences, kept, obstacles, gaps };
}

/** What one switch has, against what it shall have. */
class Comparison {
  readonly #found: Map<string, { readonly entity: Entity; readonly form: EntityForm }>;
  readonly #seen = new Set<string>();

  constructor(
    readonly switchId: number,
    readonly forms: EntityForms,
    readonly ownership: Ownership,
    found: readonly Entity[],
  ) {
    this.#found = new Map(
      found.map((entity) => {
        const form = forms.form(entity);
        return [form.key, { entity, form }];
      }),
    );
  }

  compare(wanted: DesiredEntity): Difference | Obstacle {
    const { entity: given, intents, stage } = wanted;
    const refuse = (kind: Obstacle['kind'], message: string, entity = given): Obstacle => ({
      switchId: this.switchId,
      entity,
      intents,
      kind,
      message,
    });
    let entity: Entity;
    let form: EntityForm;
    try {
      entity = marked(wanted);
      form = this.forms.form(entity);
      if (!isOwn(this.forms.named(entity), this.ownership)) {
        return refuse('not-own', `${entity.kind} is outside of what belongs to this controller`);
      }
    } catch (error) {
      if (!(P4RuntimeError.is(error) || P4InfoError.is(error))) throw error;
      return refuse('invalid', error.message);
    }
    if (this.#seen.has(form.key)) return refuse('twice', 'another entity is wanted in the same place', entity);
    this.#seen.add(form.key);
    const before = this.#found.get(form.key);
    const mark = entity.kind === 'table-entry' ? ownMark(entity.metadata) : null;
    const beforeMark = before?.entity.kind === 'table-entry' ? ownMark(before.entity.metadata) : null;
    if (before !== undefined && !isOwn(before.entity, this.ownership) && !isFree(before.entity)) {
      return refuse('held-by-another', 'the switch has an entry of another controller there', entity);
    }
    const isSame = before?.form.content === form.content && (mark === null || mark.name === beforeMark?.name);
    return {
      change: {
        switchId: this.switchId,
        type: before === undefined && !form.isFixed ? 'insert' : 'modify',
        before: before?.entity ?? null,
        after: entity,
        intents,
      },
      name: mark?.name ?? intents[0] ?? '',
      stage,
      foundName: beforeMark?.name ?? null,
      foundStage: beforeMark?.stage ?? UNKNOWN_STAGE,
      isObject: isObject(entity),
      isEntry: form.table !== null,
      isMarkOnly: isSame && mark?.stage !== beforeMark?.stage,
      isKept: isSame && mark?.stage === beforeMark?.stage,
      isGivenUp: false,
      key: form.key,
      rank: RANKS[entity.kind],
      table: form.table,
    };
  }

  /** Own entities that nobody wants. Default entries become those of the program, meters let everything pass. */
  *unwanted(): Generator<Difference> {
    for (const [key, { entity, form }] of this.#found) {
      if (this.#seen.has(key) || !isOwn(entity, this.ownership)) continue;
      const mark = entity.kind === 'table-entry' ? ownMark(entity.metadata) : null;
      const name = mark?.name ?? '';
      const foundStage = mark?.stage ?? UNKNOWN_STAGE;
      const after = form.isFixed ? neutral(entity) : null;
      if (form.isFixed && (after === null || this.forms.form(after).content === form.content)) continue;
      yield {
        change: {
          switchId: this.switchId,
          type: form.isFixed ? 'modify' : 'delete',
          before: entity,
          after,
          intents: name === '' ? [] : [name],
        },
        name,
        stage: foundStage,
        foundName: mark?.name ?? null,
        foundStage,
        isObject: isObject(entity),
        isEntry: form.table !== null,
        isMarkOnly: false,
        isKept: false,
        isGivenUp: false,
        key,
        rank: form.isFixed ? RANKS[entity.kind] : -RANKS[entity.kind],
        table: form.table,
      };
    }
  }
}

const markedBefore = new WeakMap<DesiredEntity, Entity>();

/** An entity with the mark of its owner, if its kind carries one. One object each time, for what is known of its form. */
function marked(wanted: DesiredEntity): Entity {
  const { entity, stage } = wanted;
  if (entity.kind !== 'table-entry') return entity;
  const before = markedBefore.get(wanted);
  if (before !== undefined) return before;
  const { metadata } = entity;
  const isForeign = metadata !== undefined && metadata.length > 0 && ownMark(metadata) === null;
  const after = isForeign ? entity : { ...entity, metadata: ownMetadata(wantedName(wanted), stage) };
  markedBefore.set(wanted, after);
  return after;
}

const isObject = ({ kind }: Entity): boolean =>
  kind === 'member' || kind === 'group' || kind === 'multicast-group' || kind === 'clone-session' || kind === 'digest';

/** Whether it is a default entry that nobody has put his mark on. */
const isFree = (entity: Entity): boolean =>
  entity.kind === 'table-entry' && entity.isDefault === true && (entity.metadata?.length ?? 0) === 0;

/** What takes the place of something that cannot be deleted; `null`: it stays. */
function neutral(entity: Entity): Entity | null {
  switch (entity.kind) {
    case 'table-entry':
      return { kind: 'table-entry', table: entity.table, match: {}, isDefault: true };
    case 'meter':
      return { kind: 'meter', meter: entity.meter, ...(entity.index !== undefined && { index: entity.index }) };
    default:
      return null;
  }
}
