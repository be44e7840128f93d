import type { Piece } from '../draft.js';
import { exact, type Params, tableEntry } from '../entries.js';
import type { Settings } from '../options.js';
import type { PortsOf } from './switch-tables.js';

const PROFILE = 'IntIngress.members';

/** What sends packets by one of some ports, with the entities that it needs. */
export interface SendAction {
  readonly action: string;
  readonly params: Params;
  readonly pieces: readonly Piece[];
}

/** FNV-1a. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}

function bytesOfPort(port: number): Uint8Array {
  return port < 256 ? Uint8Array.of(port) : Uint8Array.of(port >>> 8, port & 0xff);
}

/**
 * Groups of equal next hops. The member of a port has the id of the port, a group an id that comes from its ports: so an
 * id stays while others come and go.
 */
export class NextHops {
  readonly #first: number;
  readonly #groupIds: number;
  readonly #spread: boolean;
  readonly #ids = new Map<number, Map<string, number>>();
  readonly #known = new Map<string, SendAction>();

  constructor({ ids, spread }: Pick<Settings, 'ids' | 'spread'>) {
    this.#first = ids.first;
    this.#groupIds = ids.last - ids.first + 1;
    this.#spread = spread;
  }

  /** @param ports at least one, ascending @returns `null`: there are more groups than ids */
  via(switchId: number, ports: readonly number[]): SendAction | null {
    if (ports.length === 1 || !this.#spread) {
      return { action: 'IntIngress.forward', params: { port: BigInt(ports[0]!) }, pieces: [] };
    }
    const name = ports.join(',');
    const known = this.#known.get(`${switchId} ${name}`);
    if (known !== undefined) return known;
    const id = this.#groupId(switchId, name);
    if (id === null) return null;
    const members = ports.map((port): Piece => {
      const action = { action: 'IntIngress.forward', params: { port: BigInt(port) } };
      const entity = { kind: 'member', profile: PROFILE, id: this.#first + port, action } as const;
      return { switchId, entity, stage: 0 };
    });
    const group: Piece = {
      switchId,
      entity: {
        kind: 'group',
        profile: PROFILE,
        id,
        members: ports.map((port) => ({ id: this.#first + port, weight: 1, watchPort: bytesOfPort(port) })),
        maxSize: 0,
      },
      stage: 1,
    };
    const entry = tableEntry({
      table: 'IntIngress.next_hops',
      match: { group: exact(id) },
      action: '',
      params: {},
      owner: `next-hops:${name}`,
      stage: 2,
    });
    const named: Piece = { switchId, entity: { ...entry, action: { group: id } }, stage: 2 };
    const params = { group: BigInt(id) };
    const send: SendAction = { action: 'IntIngress.spread', params, pieces: [...members, group, named] };
    this.#known.set(`${switchId} ${name}`, send);
    return send;
  }

  #groupId(switchId: number, name: string): number | null {
    const ids = this.#ids.get(switchId) ?? new Map<string, number>();
    this.#ids.set(switchId, ids);
    const known = ids.get(name);
    if (known !== undefined) return known;
    if (ids.size === this.#groupIds) return null;
    const taken = new Set(ids.values());
    let place = hashOf(name) % this.#groupIds;
    while (taken.has(this.#first + place)) place = (place + 1) % this.#groupIds;
    ids.set(name, this.#first + place);
    return this.#first + place;
  }
}

/** One port, or those of a group of next hops. */
export const intPortsOf: PortsOf = (entity, contents) => {
  const action = entity.kind === 'table-entry' ? entity.action : undefined;
  if (action === undefined || !('params' in action)) return [];
  const { port, group } = action.params;
  if (action.action === 'IntIngress.forward' && port !== undefined) return [Number(port)];
  if (action.action !== 'IntIngress.spread' || group === undefined) return [];
  const named = contents.find(
    (each) =>
      each.kind === 'table-entry' &&
      each.table === 'IntIngress.next_hops' &&
      numberOf(each.match.group) === Number(group),
  );
  const chosen = named?.kind === 'table-entry' && named.action !== undefined ? named.action : {};
  const members = contents.find((each) => 'group' in chosen && each.kind === 'group' && each.id === chosen.group);
  if (members?.kind !== 'group') return [];
  const ids = new Set(members.members.map(({ id }) => id));
  return contents.flatMap((each) =>
    each.kind === 'member' &&
    ids.has(each.id) &&
    each.action !== undefined &&
    'params' in each.action &&
    each.action.params.port !== undefined
      ? [Number(each.action.params.port)]
      : [],
  );
};

const numberOf = (match: unknown): number =>
  Number(typeof match === 'object' && match !== null && 'value' in match ? match.value : match);
