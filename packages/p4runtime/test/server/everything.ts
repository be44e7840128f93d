/** The program that uses everything, its P4Info, and messages about it in short. */
import { readFileSync } from 'node:fs';
import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { type p4config, p4infoOf, p4v1 } from '@int/p4runtime';
import { buildProgram, type IrProgram } from '@int/p4vm';

export const SOURCE = readFileSync(new URL('everything.p4', import.meta.url), 'utf8');
export const DEVICE_CONFIG = new TextEncoder().encode(SOURCE);

function build(): IrProgram {
  const { program } = buildProgram({ name: 'everything.p4', text: SOURCE });
  if (program === undefined) throw new TypeError('everything.p4 has errors');
  return program;
}

export const PROGRAM = build();
export const INFO: p4config.P4Info = p4infoOf(PROGRAM);

type Named = { readonly preamble?: p4config.Preamble | undefined };

/** The id of an object by its kind and name. */
export function idOf(kind: keyof typeof INFO, name: string): number {
  const found = (INFO[kind] as readonly Named[]).find(({ preamble }) => preamble?.name === name);
  if (found?.preamble === undefined) throw new TypeError(`no ${String(kind)} ${name}`);
  return found.preamble.id;
}

export const TABLE = {
  stations: idOf('tables', 'I.stations'),
  routes: idOf('tables', 'I.routes'),
  rules: idOf('tables', 'I.rules'),
  fixed: idOf('tables', 'I.fixed'),
  initial: idOf('tables', 'I.initial'),
  indirect: idOf('tables', 'I.indirect'),
  balanced: idOf('tables', 'I.balanced'),
  keyless: idOf('tables', 'I.keyless'),
};
export const ACTION = {
  forward: idOf('actions', 'I.forward'),
  drop: idOf('actions', 'I.drop'),
  rewrite: idOf('actions', 'I.rewrite'),
  toCpu: idOf('actions', 'I.to_cpu'),
  flood: idOf('actions', 'I.flood'),
  copy: idOf('actions', 'I.copy'),
  learn: idOf('actions', 'I.learn'),
  onlyDefault: idOf('actions', 'I.only_default'),
  onlyEntry: idOf('actions', 'I.only_entry'),
  nothing: idOf('actions', 'NoAction'),
};
export const PROFILE = { members: idOf('actionProfiles', 'I.members'), selector: idOf('actionProfiles', 'I.selector') };

export const { INSERT, MODIFY, DELETE, UNSPECIFIED } = p4v1.Update_Type;

export const bytes = (...values: number[]): Uint8Array => Uint8Array.of(...values);

type Match = MessageInitShape<typeof p4v1.FieldMatchSchema>;
/** The fields of a message that are given; `create` checks them. */
type Fields = Readonly<Record<string, unknown>>;

export const exact = (fieldId: number, value: Uint8Array): Match => ({
  fieldId,
  fieldMatchType: { case: 'exact', value: { value } },
});
export const lpm = (fieldId: number, value: Uint8Array, prefixLen: number): Match => ({
  fieldId,
  fieldMatchType: { case: 'lpm', value: { value, prefixLen } },
});
export const ternary = (fieldId: number, value: Uint8Array, mask: Uint8Array): Match => ({
  fieldId,
  fieldMatchType: { case: 'ternary', value: { value, mask } },
});
export const range = (fieldId: number, low: Uint8Array, high: Uint8Array): Match => ({
  fieldId,
  fieldMatchType: { case: 'range', value: { low, high } },
});
export const optional = (fieldId: number, value: Uint8Array): Match => ({
  fieldId,
  fieldMatchType: { case: 'optional', value: { value } },
});

export function call(actionId: number, ...values: Uint8Array[]): MessageInitShape<typeof p4v1.ActionSchema> {
  return { actionId, params: values.map((value, i) => ({ paramId: i + 1, value })) };
}

export function does(actionId: number, ...values: Uint8Array[]): MessageInitShape<typeof p4v1.TableActionSchema> {
  return { type: { case: 'action', value: call(actionId, ...values) } };
}

export function entity(kind: p4v1.Entity['entity']['case'], value: Fields): p4v1.Entity {
  return create(p4v1.EntitySchema, { entity: { case: kind, value } } as never);
}

export function entry(value: Fields): p4v1.Entity {
  return entity('tableEntry', value);
}

export function update(type: p4v1.Update_Type, of: p4v1.Entity): p4v1.Update {
  return create(p4v1.UpdateSchema, { type, entity: of });
}

/** An entry of `stations`: station n goes to a port. */
export function station(n: number, port = 1, more: Fields = {}): p4v1.Entity {
  return entry({
    tableId: TABLE.stations,
    match: [exact(1, bytes(2, 0, 0, 0, n >> 8, n & 255))],
    action: does(ACTION.forward, bytes(port)),
    ...more,
  });
}

/** A frame to station n with a body. */
export function frame(n: number, body: readonly number[] = [], type = 0x1234): Uint8Array {
  const packet = new Uint8Array(14 + 24);
  packet.set([2, 0, 0, 0, n >> 8, n & 255, 4, 0, 0, 0, 0, 9, type >> 8, type & 255]);
  packet.set(body, 14);
  return packet;
}
