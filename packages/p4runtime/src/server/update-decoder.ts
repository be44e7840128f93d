import { fromBinary } from '@bufbuild/protobuf';
import {
  type Action_Param,
  type FieldMatch,
  type TableAction,
  type TableEntry,
  type Update,
  UpdateSchema,
} from '../generated/p4/v1/p4runtime_pb.js';

/*
 * Decodes updates. Nearly all updates of nearly all controllers are table entries with nothing but a key, an action and a
 * priority; these are decoded here, several times as fast as by reflection. Everything else, and everything that is wrong, is
 * left to the library.
 */

/** @throws Error if the bytes are no Update message */
export function decodeUpdate(bytes: Uint8Array): Update {
  const update = plainEntry(bytes);
  // A view of it would keep the memory of the whole request.
  from = EMPTY;
  return update ?? fromBinary(UpdateSchema, bytes);
}

const EMPTY: Uint8Array = new Uint8Array(0);

/** Where the present message is read. */
let from: Uint8Array = EMPTY;
let at = 0;

/** A number from 0 to 2^31 - 1; -1 if it is none, or is written in more bytes than it needs to be. */
function small(end: number): number {
  let value = 0;
  for (let shift = 0; shift < 35 && at < end; shift += 7) {
    const byte = from[at++]!;
    value += (byte & 0x7f) * 2 ** shift;
    if (byte < 0x80) return value < 0x8000_0000 && (byte !== 0 || shift === 0) ? value : -1;
  }
  return -1;
}

/** The end of a part that begins with its length; -1 if it is not within the one around it. */
function endOf(end: number): number {
  const length = small(end);
  return length < 0 || at + length > end ? -1 : at + length;
}

function plainEntry(bytes: Uint8Array): Update | undefined {
  from = bytes;
  at = 0;
  const { length } = bytes;
  let type = 0;
  if (from[at] === 0x08) {
    at++;
    type = small(length);
    if (type < 0) return undefined;
  }
  if (from[at++] !== 0x12) return undefined;
  const entity = endOf(length);
  if (entity !== length || from[at++] !== 0x12) return undefined;
  const end = endOf(entity);
  if (end !== entity) return undefined;
  const value = readEntry(end);
  if (value === undefined) return undefined;
  return {
    $typeName: 'p4.v1.Update',
    type,
    entity: { $typeName: 'p4.v1.Entity', entity: { case: 'tableEntry', value } },
  };
}

/** Fields in order, each at most once. */
function readEntry(end: number): TableEntry | undefined {
  let tableId = 0;
  let priority = 0;
  let action: TableAction | undefined;
  const match: FieldMatch[] = [];
  let last = 0;
  while (at < end) {
    const tag = from[at++]!;
    if (tag < last || (tag === last && tag !== 0x12)) return undefined;
    last = tag;
    switch (tag) {
      case 0x08:
        tableId = small(end);
        if (tableId < 0) return undefined;
        break;
      case 0x12: {
        const field = readMatch(endOf(end));
        if (field === undefined) return undefined;
        match.push(field);
        break;
      }
      case 0x1a:
        action = readAction(endOf(end));
        if (action === undefined) return undefined;
        break;
      case 0x20:
        priority = small(end);
        if (priority < 0) return undefined;
        break;
      default:
        return undefined;
    }
  }
  const entry: TableEntry = {
    $typeName: 'p4.v1.TableEntry',
    tableId,
    match,
    priority,
    controllerMetadata: 0n,
    isDefaultAction: false,
    idleTimeoutNs: 0n,
    metadata: EMPTY,
    isConst: false,
  };
  if (action !== undefined) entry.action = action;
  return entry;
}

/** The bytes of a part, as a view. */
function take(end: number): Uint8Array {
  const part = from.subarray(at, end);
  at = end;
  return part;
}

function readMatch(end: number): FieldMatch | undefined {
  if (end < 0 || from[at++] !== 0x08) return undefined;
  const fieldId = small(end);
  if (fieldId < 0 || at >= end) return undefined;
  const kind = from[at++]!;
  if (endOf(end) !== end) return undefined;
  let first: Uint8Array = EMPTY;
  if (at < end && from[at] === 0x0a) {
    at++;
    const until = endOf(end);
    if (until < 0) return undefined;
    first = take(until);
  }
  const fieldMatchType = kind === 0x22 ? prefixOf(first, end) : matchOf(kind, first, end);
  return fieldMatchType && { $typeName: 'p4.v1.FieldMatch', fieldId, fieldMatchType };
}

function prefixOf(value: Uint8Array, end: number): FieldMatch['fieldMatchType'] | undefined {
  let prefixLen = 0;
  if (at < end) {
    if (from[at++] !== 0x10) return undefined;
    prefixLen = small(end);
    if (prefixLen < 0 || at !== end) return undefined;
  }
  return { case: 'lpm', value: { $typeName: 'p4.v1.FieldMatch.LPM', value, prefixLen } };
}

function matchOf(kind: number, first: Uint8Array, end: number): FieldMatch['fieldMatchType'] | undefined {
  const hasSecond = kind === 0x1a || kind === 0x32;
  let second: Uint8Array = EMPTY;
  if (at < end) {
    if (!hasSecond || from[at++] !== 0x12 || endOf(end) !== end) return undefined;
    second = take(end);
  }
  switch (kind) {
    case 0x12:
      return { case: 'exact', value: { $typeName: 'p4.v1.FieldMatch.Exact', value: first } };
    case 0x1a:
      return { case: 'ternary', value: { $typeName: 'p4.v1.FieldMatch.Ternary', value: first, mask: second } };
    case 0x32:
      return { case: 'range', value: { $typeName: 'p4.v1.FieldMatch.Range', low: first, high: second } };
    case 0x3a:
      return { case: 'optional', value: { $typeName: 'p4.v1.FieldMatch.Optional', value: first } };
    default:
      return undefined;
  }
}

/** An action of the entry itself. */
function readAction(end: number): TableAction | undefined {
  if (end < 0 || at >= end || from[at++] !== 0x0a || endOf(end) !== end) return undefined;
  let actionId = 0;
  if (at < end && from[at] === 0x08) {
    at++;
    actionId = small(end);
    if (actionId < 0) return undefined;
  }
  const params: Action_Param[] = [];
  while (at < end) {
    if (from[at++] !== 0x22) return undefined;
    const until = endOf(end);
    if (until < 0 || from[at++] !== 0x10) return undefined;
    const paramId = small(until);
    if (paramId < 0 || at >= until || from[at++] !== 0x1a || endOf(until) !== until) return undefined;
    params.push({ $typeName: 'p4.v1.Action.Param', paramId, value: take(until) });
  }
  return {
    $typeName: 'p4.v1.TableAction',
    type: { case: 'action', value: { $typeName: 'p4.v1.Action', actionId, params } },
  };
}
