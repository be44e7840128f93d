import { toBinary } from '@bufbuild/protobuf';
import * as p4v1 from '../messages/p4v1.js';

/** What identifies an entity: the parts that no MODIFY changes. */
export function keyOf({ entity }: p4v1.Entity): string {
  switch (entity.case) {
    case 'tableEntry': {
      const { tableId, match, priority, isDefaultAction } = entity.value;
      const fields = match.map((each) => Buffer.from(toBinary(p4v1.FieldMatchSchema, each)).toString('hex')).sort();
      return `table ${tableId} ${priority} ${isDefaultAction} ${fields.join()}`;
    }
    case 'actionProfileMember':
      return `member ${entity.value.actionProfileId} ${entity.value.memberId}`;
    case 'actionProfileGroup':
      return `group ${entity.value.actionProfileId} ${entity.value.groupId}`;
    case 'counterEntry':
      return `counter ${entity.value.counterId} ${entity.value.index?.index}`;
    case 'meterEntry':
      return `meter ${entity.value.meterId} ${entity.value.index?.index}`;
    case 'registerEntry':
      return `register ${entity.value.registerId} ${entity.value.index?.index}`;
    case 'valueSetEntry':
      return `value set ${entity.value.valueSetId}`;
    case 'digestEntry':
      return `digest ${entity.value.digestId}`;
    case 'packetReplicationEngineEntry': {
      const { type } = entity.value;
      if (type.case === 'multicastGroupEntry') return `multicast ${type.value.multicastGroupId}`;
      return type.case === 'cloneSessionEntry' ? `clone ${type.value.sessionId}` : 'none';
    }
    default:
      return entity.case ?? 'none';
  }
}

/** Whether an entity exists always, and is only ever modified. */
export function isFixed({ entity }: p4v1.Entity): boolean {
  switch (entity.case) {
    case 'tableEntry':
      return entity.value.isDefaultAction;
    case 'actionProfileMember':
    case 'actionProfileGroup':
    case 'packetReplicationEngineEntry':
    case 'digestEntry':
      return false;
    default:
      return true;
  }
}

/** The match fields of a table entry in the order of their ids: requests and answers may differ in it. */
export function ordered(entity: p4v1.Entity): p4v1.Entity {
  if (entity.entity.case !== 'tableEntry') return entity;
  const { value } = entity.entity;
  const match = [...value.match].sort((left, right) => left.fieldId - right.fieldId);
  return { ...entity, entity: { case: 'tableEntry', value: { ...value, match } } };
}

/** All that can differ between entities of one key, but for metadata and counts, as text that is equal if they are. */
export function contentOf(entity: p4v1.Entity): string {
  const { entity: given, ...rest } = ordered(entity);
  if (given.case !== 'tableEntry') return bytesText({ ...rest, entity: given });
  const { counterData: _counter, timeSinceLastHit: _hit, ...value } = given.value;
  const bare = { ...value, isConst: false, metadata: new Uint8Array(0) } as p4v1.TableEntry;
  return bytesText({ ...rest, entity: { case: 'tableEntry', value: bare } });
}

const bytesText = (entity: p4v1.Entity): string => Buffer.from(toBinary(p4v1.EntitySchema, entity)).toString('latin1');
