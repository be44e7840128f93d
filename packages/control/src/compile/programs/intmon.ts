/** The tables of intmon.p4: the watch rules of its authors' controller, and routes. It neither drops, bounds nor steers flows, and detects nothing. */
import type { Match } from '@int/p4runtime';
import { commonPrefix, type FlowSpace, familiesOf, familyOf, spaceText } from '../../intents/flow-space.js';
import { intmonFieldsOf, WATCH_FIELDS } from '../../intents/watch-fields.js';
import { STAGE } from '../context.js';
import type { Piece } from '../draft.js';
import { defaultEntry, exact, lpmMatch, tableEntry, ternaryPrefix } from '../entries.js';
import { portBlocks } from './port-blocks.js';
import {
  type Ground,
  type PortsOf,
  portsOfSwitch,
  type Refusal,
  type Route,
  type SwitchTables,
  utilizationOf,
  type WatchRule,
} from './switch-tables.js';

const UDP = 17;
/** The port of the control plane, and so of the copies that INT sinks make. */
const CPU_PORT = 510;
const MAX_HOPS = 64n;
/** Packets in a queue from which it counts as congested. */
const CONGESTED_AT = 32n;
/** Ids have 31 bits, and the last one means that there is none. */
const MOST_ID = 0x7fff_fffe;

/** What instructions of INT 2.1 ask for; congestion status is asked for by name alone. */
const ASKED = Object.entries(WATCH_FIELDS).filter(([name]) => name !== 'congestionStatus');
/** What only INT 2.1 has. */
const NO_FIELDS: readonly (readonly [instruction: number, name: string])[] = [
  [0x0400, 'egress timestamp'],
  [0x0200, 'level 2 interfaces'],
  [0x0080, 'buffer occupancy'],
];

/** Priorities of one intent's rules. A rule has one of its own, so its place comes from its text. */
const PLACES = 1 << 19;

export class IntmonTables implements SwitchTables {
  readonly file = 'intmon.p4';
  readonly reportsTo = 'controller';
  readonly steer = null;
  readonly access = null;
  readonly detect = null;
  readonly #ground: Ground;
  readonly #priorities = new Priorities();

  constructor(ground: Ground) {
    this.#ground = ground;
  }

  settings(switchId: number): readonly Piece[] {
    const { settings } = this.#ground;
    const stage = STAGE.settings;
    const at = (entity: Piece['entity']): Piece => ({ switchId, entity, stage });
    const pieces: Piece[] = [];
    if (switchId <= MOST_ID) {
      pieces.push(at(defaultEntry('IntmonEgress.node', 'IntmonEgress.set_node', { id: BigInt(switchId) }, 'node')));
    }
    for (const { number, isSink, speedBps } of portsOfSwitch(this.#ground, switchId)) {
      const params = { is_sink: isSink ? 1n : 0n, mtu: BigInt(settings.mtuBytes), congested_at: CONGESTED_AT };
      const of = { match: { egress_port: exact(number) }, owner: `port:${number}`, stage };
      pieces.push(at(tableEntry({ ...of, table: 'IntmonEgress.port', action: 'IntmonEgress.set_port', params })));
      if (speedBps === null) continue;
      const [table, action] = ['IntmonEgress.utilization.rate', 'IntmonEgress.utilization.measure'];
      pieces.push(at(tableEntry({ ...of, table, action, params: { ...utilizationOf(speedBps) } })));
    }
    const id = settings.ids.first;
    const session = {
      kind: 'clone-session',
      id,
      replicas: [{ port: CPU_PORT, instance: 0 }],
      classOfService: 0,
      packetLengthBytes: 0,
    } as const;
    const copy = defaultEntry('IntmonEgress.management', 'IntmonEgress.copy_to', { session: BigInt(id) }, 'reports');
    return [...pieces, at(session), at(copy)];
  }

  route(switchId: number, { prefix, ports, owner, stage }: Route): readonly Piece[] {
    const entity = tableEntry({
      table: `IntmonIngress.forward_ipv${familyOf(prefix)}`,
      match: lpmMatch('destination', prefix),
      action: 'IntmonIngress.forward',
      params: { port: BigInt(this.#oneOf(switchId, `${prefix.bytes.join('.')}/${prefix.length}`, ports)) },
      owner,
      stage,
    });
    return [{ switchId, entity, stage }];
  }

  /** There are no groups: a prefix has one of the shortest ways. When others come or go it keeps the one that it has. */
  #oneOf(switchId: number, prefix: string, ports: readonly number[]): number {
    if (!this.#ground.settings.spread) return ports[0]!;
    const weight = (port: number): number => hashOf(`${switchId} ${prefix} ${port}`);
    return ports.reduce((best, port) => (weight(port) > weight(best) ? port : best));
  }

  watch(switchId: number, rule: WatchRule): readonly Piece[] | Refusal {
    const { owner, space, priority, isExplicit, oneIn, reports } = rule;
    if (switchId > MOST_ID)
      return { code: 'NO_ID', message: `has an id above ${MOST_ID}: telemetry could not name it` };
    if (space.protocol !== null && space.protocol !== UDP) {
      return { code: 'NOT_SUPPORTED', message: `runs ${this.file}, which watches UDP alone` };
    }
    const fields = fieldsOf(rule);
    if (typeof fields === 'string') return { code: 'NOT_SUPPORTED', message: `runs ${this.file}, whose ${fields}` };
    const params = { fields: BigInt(fields), max_hops: MAX_HOPS };
    const stage = STAGE.watch;
    const pieces: Piece[] = [];
    for (const [family, match, text] of this.#matchesOf(switchId, space, oneIn)) {
      const table = `IntmonIngress.watch_ipv${family}`;
      const level = 2 * priority + (isExplicit ? 1 : 0);
      const entity = tableEntry({
        table,
        match,
        priority: this.#priorities.of(`${switchId} ${table}`, level, `${text} ${fields} ${oneIn}`),
        action: oneIn === 1 ? 'IntmonIngress.collect' : 'IntmonIngress.collect_sampled',
        params: oneIn === 1 ? params : { ...params, one_in: BigInt(oneIn) },
        owner,
        stage,
      });
      pieces.push({ switchId, entity, stage });
    }
    // Those of other switches, which pass here.
    return reports === null ? pieces : [...pieces, exempt(switchId, reports)];
  }

  unwatched({ protocol }: FlowSpace): string | null {
    return protocol === UDP ? null : `${this.file} watches UDP alone: what else its flows are is not seen`;
  }

  /**
   * What rules match. A packet that the first switch left out of the sample is in no sample of a later one: rules that sample are
   * for sources that are attached here.
   */
  *#matchesOf(
    switchId: number,
    space: FlowSpace,
    oneIn: number,
  ): Generator<readonly [family: 4 | 6, match: Readonly<Record<string, Match>>, text: string]> {
    const spaces =
      oneIn === 1
        ? [space]
        : this.#ground.graph.prefixesAt(switchId).flatMap((prefix) => {
            const source = commonPrefix(space.source, prefix);
            if (source === undefined || source === null) return [];
            const family = familyOf(source);
            return space.family === null || space.family === family ? [{ ...space, source, family }] : [];
          });
    for (const each of spaces) {
      for (const family of familiesOf(each)) {
        for (const match of matchesOf(each)) yield [family, match, `${spaceText(each)} ${portsText(match)}`];
      }
    }
  }
}

/** Rules of a space: a range of ports takes several. */
function matchesOf({ source, destination, sourcePort, destinationPort }: FlowSpace): Readonly<Record<string, Match>>[] {
  const common = {
    ...ternaryPrefix('source', source),
    ...ternaryPrefix('destination', destination),
    protocol: { kind: 'ternary', value: BigInt(UDP), mask: 0xffn },
  } as const;
  return portBlocks(sourcePort).flatMap((from) =>
    portBlocks(destinationPort).map((to) => ({
      ...common,
      ...(from !== undefined && { source_port: from }),
      ...(to !== undefined && { destination_port: to }),
    })),
  );
}

const portsText = (match: Readonly<Record<string, Match>>): string =>
  [match.source_port, match.destination_port]
    .map((port) => (port?.kind === 'ternary' ? `${port.value}&${port.mask}` : '*'))
    .join(' ');

/** The eight fields of a rule; text: why there are none. */
function fieldsOf({ fields, instructions, isExplicit }: WatchRule): number | string {
  if (fields !== null) return intmonFieldsOf(fields);
  const missing = NO_FIELDS.filter(([instruction]) => (instructions & instruction) !== 0);
  if (isExplicit && missing.length > 0) return `telemetry has no ${missing.map(([, name]) => name).join(', no ')}`;
  const found = ASKED.reduce(
    (bits, [, { instruction, intmon }]) => bits | ((instructions & instruction) === 0 ? 0 : intmon),
    0,
  );
  return found === 0 ? 'telemetry has none of this' : found;
}

function exempt(switchId: number, reports: FlowSpace): Piece {
  const [match] = matchesOf(reports);
  const entity = tableEntry({
    table: 'IntmonIngress.watch_ipv4',
    match: match!,
    priority: REPORTS_PRIORITY,
    action: 'IntmonIngress.ignore',
    params: {},
    owner: 'reports',
    stage: STAGE.settings,
  });
  return { switchId, entity, stage: STAGE.settings };
}

/** Above all rules of intents: their priorities are at most 1000. */
const REPORTS_PRIORITY = 2 * 1001 * PLACES;

/**
 * A priority for each rule of a table that no other one has, as the rules of the paper: two that a packet matches both decide by
 * it. Rules that are equal have the same. A rule keeps its priority while others come and go, but for the few that share a place.
 */
class Priorities {
  readonly #known = new Map<string, number>();
  readonly #taken = new Set<string>();

  /** @param level of the intent; the larger wins @param text of the rule */
  of(table: string, level: number, text: string): number {
    const name = `${table} ${level} ${text}`;
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    let place = hashOf(text) % PLACES;
    while (this.#taken.has(`${table} ${level} ${place}`)) place = (place + 1) % PLACES;
    this.#taken.add(`${table} ${level} ${place}`);
    const priority = level * PLACES + place;
    this.#known.set(name, priority);
    return priority;
  }
}

/** FNV-1a, mixed: of texts that differ in their end alone the hashes differ everywhere. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

export const intmonPortsOf: PortsOf = (entity) => {
  const action = entity.kind === 'table-entry' ? entity.action : undefined;
  if (action === undefined || !('params' in action) || action.action !== 'IntmonIngress.forward') return [];
  return action.params.port === undefined ? [] : [Number(action.params.port)];
};
