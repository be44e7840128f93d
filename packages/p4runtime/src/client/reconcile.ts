import { equals } from '@bufbuild/protobuf';
import { isFixed, keyOf, ordered } from '../entities/identity.js';
import * as p4v1 from '../messages/p4v1.js';

/** A request to the switch: what an update does to an entity. */
export type Change = { readonly type: p4v1.Update_Type; readonly entity: p4v1.Entity };

const { INSERT, MODIFY, DELETE } = p4v1.Update_Type;

/** Kinds in the order in which they are made: what others refer to comes first. */
const ORDER: readonly p4v1.Entity['entity']['case'][] = [
  'actionProfileMember',
  'actionProfileGroup',
  'packetReplicationEngineEntry',
  'valueSetEntry',
  'digestEntry',
  'tableEntry',
  'directCounterEntry',
  'directMeterEntry',
  'counterEntry',
  'meterEntry',
  'registerEntry',
];

/** An entity without what the switch adds by itself: times of hits, counts that nobody asked to set. */
function settled(wanted: p4v1.Entity, found: p4v1.Entity): p4v1.Entity {
  const { case: kind, value } = found.entity;
  if (kind !== 'tableEntry' || wanted.entity.case !== 'tableEntry') return found;
  const { counterData, meterConfig, ...rest } = value;
  return {
    ...found,
    entity: {
      case: kind,
      value: {
        ...rest,
        ...(wanted.entity.value.counterData && counterData && { counterData }),
        ...(wanted.entity.value.meterConfig && meterConfig && { meterConfig }),
      } as p4v1.TableEntry,
    },
  };
}

/**
 * The updates that turn what was found into what is wanted, in an order in which the switch takes them.
 *
 * @param found what the switch has, of the kinds and objects that are compared; entries of the program left out
 */
export function changesBetween(wanted: readonly p4v1.Entity[], found: readonly p4v1.Entity[]): Change[] {
  const before = new Map(found.map((entity) => [keyOf(entity), entity]));
  const inserts: Change[] = [];
  const deletes: Change[] = [];
  const keys = new Set<string>();
  for (const entity of wanted) {
    const key = keyOf(entity);
    keys.add(key);
    const other = before.get(key);
    if (other === undefined) inserts.push({ type: isFixed(entity) ? MODIFY : INSERT, entity });
    else if (!equals(p4v1.EntitySchema, ordered(entity), ordered(settled(entity, other)))) {
      inserts.push({ type: MODIFY, entity });
    }
  }
  for (const [key, entity] of before) if (!keys.has(key) && !isFixed(entity)) deletes.push({ type: DELETE, entity });
  const rank = ({ entity }: Change): number => ORDER.indexOf(entity.entity.case);
  // Entries go before what they refer to; what takes their place may need their room.
  return [
    ...deletes.sort((left, right) => rank(right) - rank(left)),
    ...inserts.sort((left, right) => rank(left) - rank(right)),
  ];
}

/** Questions for all entities that may be compared with some: all of their tables, profiles and so on. */
export function questionsFor(wanted: readonly p4v1.Entity[]): p4v1.Entity[] {
  const questions = new Map<string, p4v1.Entity>();
  const add = (key: string, entity: p4v1.Entity['entity']): void => {
    if (!questions.has(key)) questions.set(key, { $typeName: 'p4.v1.Entity', entity });
  };
  for (const { entity } of wanted) {
    switch (entity.case) {
      case 'tableEntry': {
        const { tableId, isDefaultAction, counterData, meterConfig } = entity.value;
        const asked = { ...(counterData && { counterData }), ...(meterConfig && { meterConfig }) };
        const extra = Object.keys(asked).sort().join();
        const value = { ...emptyEntry(tableId), isDefaultAction, ...asked } as p4v1.TableEntry;
        add(`table ${tableId} ${isDefaultAction} ${extra}`, { case: 'tableEntry', value });
        break;
      }
      case 'actionProfileMember':
      case 'actionProfileGroup': {
        const { actionProfileId } = entity.value;
        add(`member ${actionProfileId}`, {
          case: 'actionProfileMember',
          value: { $typeName: 'p4.v1.ActionProfileMember', actionProfileId, memberId: 0 },
        });
        add(`group ${actionProfileId}`, {
          case: 'actionProfileGroup',
          value: { $typeName: 'p4.v1.ActionProfileGroup', actionProfileId, groupId: 0, members: [], maxSize: 0 },
        });
        break;
      }
      default:
        add(keyOf({ $typeName: 'p4.v1.Entity', entity }), entity);
    }
  }
  return [...questions.values()];
}

function emptyEntry(tableId: number): p4v1.TableEntry {
  return {
    $typeName: 'p4.v1.TableEntry',
    tableId,
    match: [],
    priority: 0,
    controllerMetadata: 0n,
    isDefaultAction: false,
    idleTimeoutNs: 0n,
    metadata: new Uint8Array(0),
    isConst: false,
  };
}
