/** Entities and changes of switches, as text for people and as JSON. */
import { formatIpv4 } from '@int/codec';
import type { Change } from '@int/control';
import type { Entity, Match } from '@int/p4runtime';
import { entryActionText } from '../p4/control/table-texts.js';

const hex = (value: unknown): string => (typeof value === 'bigint' ? `0x${value.toString(16)}` : String(value));

/** Fields with addresses: `source_address` of int.p4, `source` of intmon.p4. */
const ADDRESS = /address$|^source$|^destination$/;

/** An IPv4 address where the field is one, else a number. */
function valueText(field: string, value: unknown): string {
  return typeof value === 'bigint' && ADDRESS.test(field) && value < 1n << 32n ? formatIpv4(Number(value)) : hex(value);
}

function matchText(field: string, match: Match): string {
  switch (match.kind) {
    case 'lpm':
      return `${valueText(field, match.value)}/${match.length ?? '*'}`;
    case 'ternary':
      return `${valueText(field, match.value)}${match.mask === undefined ? '' : `&&&${hex(match.mask)}`}`;
    case 'range':
      return `${match.low}..${match.high}`;
    default:
      return valueText(field, match.value);
  }
}

/** An entity on one line. */
export function entityText(entity: Entity): string {
  switch (entity.kind) {
    case 'table-entry': {
      const fields = Object.entries(entity.match).map(
        ([name, match]) => `${lastName(name)} ${matchText(name, match as Match)}`,
      );
      const key = entity.isDefault === true ? 'default' : fields.join(', ') || 'anything';
      const priority = entity.priority ? ` priority ${entity.priority}` : '';
      return `${entity.table}: ${key}${priority} => ${entryActionText(entity.action)}`;
    }
    case 'clone-session':
    case 'multicast-group':
      return `${entity.kind} ${entity.id}: ports ${entity.replicas.map(({ port }) => port).join(', ')}`;
    case 'member':
      return `member ${entity.id} of ${entity.profile}: ${entryActionText(entity.action)}`;
    case 'group':
      return `group ${entity.id} of ${entity.profile}: ${entity.members.map(({ id }) => id).join(', ')}`;
    default:
      return JSON.stringify(jsonOf(entity));
  }
}

const lastName = (name: string): string => name.split('.').at(-1)!;

/** Numbers that JSON has none for as text, bytes in hexadecimal. */
export function jsonOf(value: unknown): unknown {
  if (typeof value === 'bigint') return value <= Number.MAX_SAFE_INTEGER ? Number(value) : value.toString();
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
  if (Array.isArray(value)) return value.map(jsonOf);
  if (value instanceof Map) return Object.fromEntries([...value].map(([key, each]) => [String(key), jsonOf(each)]));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, jsonOf(each)]));
}

const SIGNS = { insert: '+', modify: '~', delete: '-' } as const;

/** A change on one line: `+`, `~` or `-`, the entity, and for which intents. */
export function changeText({ type, before, after, intents }: Change): string {
  const entity = (after ?? before)!;
  return `${SIGNS[type]} ${entityText(entity)}${intents.length === 0 ? '' : `  (${intents.join(', ')})`}`;
}
