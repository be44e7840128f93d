/** Entities as a switch answers them: full names, numbers, and nothing that matches anything. */

import type { Prefix } from '@int/network';
import type { Entity, Match, MeterRates, TableEntry } from '@int/p4runtime';
import type { PortRange } from '../intents/flow-match.js';
import type { FlowSpace } from '../intents/flow-space.js';
import { ownMetadata } from '../reconcile/ownership.js';

export type Params = Readonly<Record<string, bigint>>;

export interface EntryInput {
  readonly table: string;
  readonly match: Readonly<Record<string, Match>>;
  readonly action: string;
  readonly params: Params;
  /** The larger wins; 0 for tables without ternary and range fields. */
  readonly priority?: number;
  readonly meter?: MeterRates;
  /** The intent or route that it is there for. */
  readonly owner: string;
  /** As in `DesiredEntity`. */
  readonly stage: number;
}

export function tableEntry({
  table,
  match,
  action,
  params,
  priority = 0,
  meter,
  owner,
  stage,
}: EntryInput): TableEntry {
  return {
    kind: 'table-entry',
    table,
    match,
    action: { action, params },
    priority,
    metadata: ownMetadata(owner, stage),
    ...(meter !== undefined && { meter }),
  };
}

export function defaultEntry(table: string, action: string, params: Params, owner: string): TableEntry {
  return { ...tableEntry({ table, match: {}, action, params, owner, stage: 0 }), isDefault: true };
}

export const exact = (value: number): Match => ({ kind: 'exact', value: BigInt(value) });

const numberOf = (bytes: Uint8Array): bigint => bytes.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n);

/** The first bits of an address. Nothing for the prefix of length 0. */
export function lpmMatch(name: string, prefix: Prefix): Record<string, Match> {
  if (prefix.length === 0) return {};
  return { [name]: { kind: 'lpm', value: numberOf(prefix.bytes), length: prefix.length } };
}

export function ternaryPrefix(name: string, prefix: Prefix | null): Record<string, Match> {
  if (prefix === null || prefix.length === 0) return {};
  const bits = BigInt(8 * prefix.bytes.length);
  const mask = ((1n << BigInt(prefix.length)) - 1n) << (bits - BigInt(prefix.length));
  return { [name]: { kind: 'ternary', value: numberOf(prefix.bytes), mask } };
}

function ternaryValue(name: string, value: number | null, bits: number): Record<string, Match> {
  if (value === null) return {};
  return { [name]: { kind: 'ternary', value: BigInt(value), mask: (1n << BigInt(bits)) - 1n } };
}

function rangeMatch(name: string, [low, high]: PortRange): Record<string, Match> {
  if (low === 0 && high === 0xffff) return {};
  return { [name]: { kind: 'range', low: BigInt(low), high: BigInt(high) } };
}

/** The fields of flows, which int.p4's tables of access, steering and watching have in common. */
export function flowFields(space: FlowSpace, ingressPort: number | null = null): Readonly<Record<string, Match>> {
  return {
    ...ternaryValue('ingress_port', ingressPort, 9),
    ...ternaryPrefix('source_address', space.source),
    ...ternaryPrefix('destination_address', space.destination),
    ...ternaryValue('protocol', space.protocol, 8),
    ...rangeMatch('source_port', space.sourcePort),
    ...rangeMatch('destination_port', space.destinationPort),
  };
}

function textOf(value: object): string {
  const plain = (_: string, each: unknown): unknown => (typeof each === 'bigint' ? `${each}` : each);
  return JSON.stringify(
    Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)),
    plain,
  );
}

/** An entity as text: what names it within its switch, and what it does, without whose it is. */
export interface EntityText {
  /** Two of one key are the same place. */
  readonly key: string;
  /** Entities of one key and one effect are equal. */
  readonly effect: string;
}

const known = new WeakMap<Entity, EntityText>();

/** The text of an entity, computed once: groups are behind many routes. */
export function entityText(entity: Entity): EntityText {
  let text = known.get(entity);
  if (text === undefined) {
    text = { key: keyOf(entity), effect: textOf({ ...entity, metadata: undefined }) };
    known.set(entity, text);
  }
  return text;
}

function keyOf(entity: Entity): string {
  switch (entity.kind) {
    case 'table-entry':
      return entity.isDefault === true
        ? `${entity.table} default`
        : `${entity.table} ${entity.priority ?? 0} ${textOf(entity.match)}`;
    case 'member':
    case 'group':
      return `${entity.kind} ${entity.profile} ${entity.id}`;
    case 'clone-session':
    case 'multicast-group':
      return `${entity.kind} ${entity.id}`;
    default:
      return `${entity.kind} ${textOf(entity)}`;
  }
}

/** Whether a name in an entry's metadata is none of an intent, but what the network needs: routes, next hops, ports, reports. */
export const isNetworkName = (name: string): boolean =>
  /^(?:node|hash-seed|reports|(?:port|route|next-hops):.*)$/s.test(name);
