/** Where everything.p4 sends packets with the state of a model: its pipeline once more, by P4Info and names. */
import type { p4v1 } from '@int/p4runtime';
import { ACTION, frame, INFO } from '../everything.js';
import type { Numbers } from './numbers.js';
import { profileOf } from './profiles.js';
import type { Entry, State } from './state.js';
import { NO_COUNT, TABLES } from './values.js';

const DROP = 511;

interface Packet {
  readonly ingress: number;
  readonly fields: Readonly<Record<string, bigint>>;
  readonly bytes: Uint8Array;
}

const number = (bytes: Uint8Array): bigint => BigInt(`0x${Buffer.from(bytes).toString('hex') || '0'}`);

/** A packet that may hit an entry of the state. */
export function makePacket(numbers: Numbers, state: State): Packet {
  const fields: Record<string, bigint> = {
    'hdr.frame.dst': numbers.bits(48),
    'hdr.frame.src': numbers.bits(48),
    'hdr.frame.type': numbers.chance(4) ? numbers.bits(16) : 0x1234n,
    'hdr.body.opcode': numbers.chance(3) ? numbers.bits(8) : BigInt(1 + numbers.below(4)),
    'hdr.body.small': numbers.bits(8),
    'hdr.body.medium': numbers.bits(16),
    'hdr.body.large': numbers.bits(32),
    'hdr.body.huge': numbers.bits(128),
  };
  const wanted = numbers.pick(INFO.tables);
  const entry = state.recent(wanted.preamble!.id, numbers.below(8));
  for (const { fieldId, fieldMatchType } of entry?.base.match ?? []) {
    const { name } = wanted.matchFields.find(({ id }) => id === fieldId)!;
    const { value } = fieldMatchType;
    fields[name] = number(
      (value as { low?: Uint8Array; value?: Uint8Array }).low ?? (value as { value: Uint8Array }).value,
    );
  }
  const opcodes: Record<string, bigint> = { 'I.routes': 1n, 'I.indirect': 2n, 'I.balanced': 3n, 'I.initial': 4n };
  const opcode = opcodes[wanted.preamble!.name];
  if (entry !== undefined && opcode !== undefined) fields['hdr.body.opcode'] = opcode;
  if (fields['hdr.body.opcode'] === 5n) fields['hdr.body.opcode'] = 6n;
  const bytes = frame(0);
  const put = (at: number, width: number, name: string): void => {
    for (let i = width - 1, rest = fields[name]!; i >= 0; i--, rest >>= 8n) bytes[at + i] = Number(rest & 255n);
  };
  put(0, 6, 'hdr.frame.dst');
  put(6, 6, 'hdr.frame.src');
  put(12, 2, 'hdr.frame.type');
  put(14, 1, 'hdr.body.opcode');
  put(15, 1, 'hdr.body.small');
  put(16, 2, 'hdr.body.medium');
  put(18, 4, 'hdr.body.large');
  put(22, 16, 'hdr.body.huge');
  return { ingress: 1 + numbers.below(9), fields, bytes };
}

function isMatch(
  { fieldMatchType: { case: kind, value: given } }: p4v1.FieldMatch,
  width: number,
  value: bigint,
): boolean {
  switch (kind) {
    case 'exact':
    case 'optional':
      return number(given.value) === value;
    case 'lpm': {
      const low = BigInt(width - given.prefixLen);
      return number(given.value) >> low === value >> low;
    }
    case 'ternary':
      return (value & number(given.mask)) === number(given.value);
    case 'range':
      return number(given.low) <= value && value <= number(given.high);
    default:
      return false;
  }
}

/** The entries that win: several only if they have the same priority, where P4Runtime leaves open which. */
function lookUp(state: State, tableId: number, fields: Packet['fields']): Entry[] {
  const { matchFields } = TABLES.get(tableId)!;
  let best = -1;
  let found: Entry[] = [];
  for (const entry of state.entries.values()) {
    if (entry.tableId !== tableId) continue;
    const hits = entry.base.match.every((match) => {
      const { name, bitwidth } = matchFields.find(({ id }) => id === match.fieldId)!;
      return isMatch(match, bitwidth, fields[name]!);
    });
    if (!hits) continue;
    const [first] = entry.base.match;
    // With one key field of prefixes, the longest wins; otherwise the highest priority, which is 0 where all are exact.
    const length = first?.fieldMatchType.case === 'lpm' ? first.fieldMatchType.value.prefixLen : 0;
    const rank = matchFields.length === 1 ? length + entry.base.priority : entry.base.priority;
    if (rank > best) found = [];
    if (rank >= best) found.push(entry);
    best = Math.max(best, rank);
  }
  return found;
}

interface Fate {
  /** What tables look at. */
  readonly fields: Packet['fields'];
  readonly egress: number;
  readonly group: number;
  readonly sessions: readonly number[];
}

function perform(fate: Fate, action: p4v1.Action | undefined): Fate {
  const value = (id: number): number =>
    Number(number(action?.params.find(({ paramId }) => paramId === id)?.value ?? new Uint8Array(0)));
  switch (action?.actionId) {
    case ACTION.forward:
      return { ...fate, egress: value(1) };
    case ACTION.rewrite: {
      const huge = number(action.params.find(({ paramId }) => paramId === 3)!.value);
      return { ...fate, egress: value(1), fields: { ...fate.fields, 'hdr.body.huge': huge } };
    }
    case ACTION.drop:
      return { ...fate, egress: DROP, group: 0 };
    case ACTION.toCpu:
      return { ...fate, egress: 510 };
    case ACTION.flood:
      return { ...fate, group: value(1) };
    case ACTION.copy:
      // The last clone counts.
      return { ...fate, sessions: [value(1)] };
    default:
      return fate;
  }
}

/** The actions that an entry may do: several for a group. */
function actionsOf(state: State, { tableId, action }: Entry): (p4v1.Action | undefined)[] {
  const profile = TABLES.get(tableId)!.implementationId;
  const member = (id: number): p4v1.Action | undefined => state.members.get(`${profile} ${id}`)?.action;
  const type = action?.type;
  switch (type?.case) {
    case 'action':
      return [type.value];
    case 'actionProfileMemberId':
      return [member(type.value)];
    case 'actionProfileGroupId': {
      const members = state.groups.get(`${profile} ${type.value}`)?.message.members ?? [];
      return members.length === 0 ? [undefined] : members.map(({ memberId }) => member(memberId));
    }
    case 'actionProfileActionSet': {
      const { actionProfileActions } = profileOf.canonicalSet(type.value);
      return actionProfileActions.length === 0 ? [undefined] : actionProfileActions.map((each) => each.action);
    }
    default:
      return [undefined];
  }
}

function countIn<Key>(state: State, map: Map<Key, Entry>, key: Key, packet: Packet): void {
  const entry = map.get(key)!;
  const { packets, bytes } = entry.count;
  state.set(map, key, { ...entry, count: { packets: packets + 1n, bytes: bytes + BigInt(packet.bytes.length) } });
}

/**
 * Sends a packet through the model, which counts it and writes registers.
 *
 * @returns the ports to which it may go, as sorted lists: one list per choice that the switch has
 */
export function send(state: State, packet: Packet, keyOf: (entry: p4v1.TableEntry) => string): number[][] {
  const { fields, ingress, bytes } = packet;
  const table = (name: string): number => INFO.tables.find(({ preamble }) => preamble!.name === name)!.preamble!.id;
  const cell = (kind: 'counters' | 'registers', name: string, index: number): string =>
    `${INFO[kind].find(({ preamble }) => preamble!.name === name)!.preamble!.id} ${index}`;
  const port = cell('counters', 'I.ports', ingress);
  const { packets, bytes: total } = state.counters.get(port) ?? NO_COUNT;
  state.set(state.counters, port, { packets: packets + 1n, bytes: total + BigInt(bytes.length) });

  let fates: Fate[] = [{ fields, egress: 0, group: 0, sessions: [] }];
  const apply = (name: string): void => {
    const id = table(name);
    if (name === 'I.stations') {
      const [entry] = lookUp(state, id, fields);
      if (entry === undefined) countIn(state, state.defaults, id, packet);
      else countIn(state, state.entries, keyOf(entry.base), packet);
    }
    fates = fates.flatMap((fate) => {
      const found = lookUp(state, id, fate.fields);
      const entries = found.length > 0 ? found : [state.defaults.get(id)!];
      return entries.flatMap((entry) => actionsOf(state, entry)).map((action) => perform(fate, action));
    });
  };
  apply('I.keyless');
  apply('I.stations');
  const type = fields['hdr.frame.type']!;
  const isListed = [...state.valueSets.values()].some(({ members }) =>
    members.some(({ match }) => match.every((each) => isMatch(each, 16, type))),
  );
  if (type === 0x1234n || isListed) {
    state.set(state.registers, cell('registers', 'I.cells', 0), fields['hdr.frame.src']!);
    state.set(state.registers, cell('registers', 'I.signed_cells', 0), BigInt.asIntN(16, fields['hdr.body.medium']!));
    state.set(state.registers, cell('registers', 'I.flags', 0), 1n);
    const opcode = Number(fields['hdr.body.opcode']);
    apply(['', 'I.routes', 'I.indirect', 'I.balanced', 'I.initial'][opcode] || 'I.rules');
    if (opcode > 200) apply('I.fixed');
  }
  return fates.map((fate) => portsOf(state, fate));
}

function portsOf(state: State, { egress, group, sessions }: Fate): number[] {
  const portOf = ({ portKind }: p4v1.Replica): number =>
    portKind.case === 'port' ? Number(number(portKind.value)) : Number(portKind.value);
  const clones = sessions.flatMap((id) => state.sessions.get(id)?.replicas.map(portOf) ?? []);
  const sent = group !== 0 ? (state.multicast.get(group)?.replicas.map(portOf) ?? []) : egress === DROP ? [] : [egress];
  // 511 drops a copy in egress, too.
  return [...clones, ...sent].filter((each) => each !== DROP).sort((a, b) => a - b);
}
