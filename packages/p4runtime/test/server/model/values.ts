/** Random matches, actions, meters and counts, from P4Info. */
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { p4config, p4v1 } from '@int/p4runtime';
import { INFO } from '../everything.js';
import { bytesOf, type Numbers } from './numbers.js';
import type { Count } from './state.js';

const { EXACT, LPM, TERNARY, RANGE, OPTIONAL } = p4config.MatchField_MatchType;

export const TABLES = new Map(INFO.tables.map((table) => [table.preamble!.id, table]));
const ACTIONS = new Map(INFO.actions.map((action) => [action.preamble!.id, action]));

export function hasPriorities(table: p4config.Table): boolean {
  return table.matchFields.some(({ match }) => [TERNARY, RANGE, OPTIONAL].includes(match.value as never));
}

/** A field match; undefined where it matches anything. */
export function matchOf(numbers: Numbers, { id, bitwidth, match }: p4config.MatchField): p4v1.FieldMatch | undefined {
  const kind = match.value;
  const ones = (1n << BigInt(bitwidth)) - 1n;
  const make = (fieldMatchType: object): p4v1.FieldMatch =>
    create(p4v1.FieldMatchSchema, { fieldId: id, fieldMatchType } as never);
  if (kind !== EXACT && numbers.chance(4)) return undefined;
  switch (kind) {
    case LPM: {
      const prefixLen = 1 + numbers.below(bitwidth);
      const low = BigInt(bitwidth - prefixLen);
      return make({ case: 'lpm', value: { value: numbers.bytes((numbers.bits(bitwidth) >> low) << low), prefixLen } });
    }
    case TERNARY: {
      const mask = numbers.bits(bitwidth) || 1n;
      return make({
        case: 'ternary',
        value: { value: numbers.bytes(numbers.bits(bitwidth) & mask), mask: numbers.bytes(mask) },
      });
    }
    case RANGE: {
      const [a, b] = [numbers.bits(bitwidth), numbers.bits(bitwidth)];
      const [low, high] = a < b ? [a, b] : [b, a];
      if (low === 0n && high === ones) return undefined;
      return make({ case: 'range', value: { low: numbers.bytes(low), high: numbers.bytes(high) } });
    }
    default:
      return make({
        case: kind === OPTIONAL ? 'optional' : 'exact',
        value: { value: numbers.bytes(numbers.bits(bitwidth)) },
      });
  }
}

/** A field match that is wrong in one way. */
export function wrongMatch(numbers: Numbers, field: p4config.MatchField): p4v1.FieldMatch {
  const { id, bitwidth, match } = field;
  const value = bytesOf(1n);
  const tooWide = bytesOf(1n << BigInt(bitwidth));
  const none = new Uint8Array(0);
  const zero = bytesOf(0n);
  const ones = bytesOf((1n << BigInt(bitwidth)) - 1n);
  const byKind: Record<number, readonly object[]> = {
    [EXACT]: [
      { case: 'exact', value: { value: none } },
      { case: 'exact', value: { value: tooWide } },
      { case: 'optional', value: { value } },
    ],
    [LPM]: [
      { case: 'lpm', value: { value: zero, prefixLen: 0 } },
      { case: 'lpm', value: { value: ones, prefixLen: bitwidth - 1 } },
      { case: 'lpm', value: { value: zero, prefixLen: bitwidth + 1 } },
      { case: 'lpm', value: { value: zero, prefixLen: -1 } },
      { case: 'lpm', value: { value: tooWide, prefixLen: bitwidth } },
    ],
    [TERNARY]: [
      { case: 'ternary', value: { value: zero, mask: zero } },
      { case: 'ternary', value: { value: bytesOf(3n), mask: bytesOf(2n) } },
      { case: 'ternary', value: { value: zero, mask: tooWide } },
      { case: 'ternary', value: { value: none, mask: ones } },
      { case: 'exact', value: { value } },
    ],
    [RANGE]: [
      { case: 'range', value: { low: bytesOf(2n), high: value } },
      { case: 'range', value: { low: zero, high: ones } },
      { case: 'range', value: { low: zero, high: tooWide } },
      { case: 'range', value: { low: none, high: value } },
    ],
    [OPTIONAL]: [
      { case: 'optional', value: { value: tooWide } },
      { case: 'optional', value: { value: none } },
      { case: undefined },
    ],
  };
  return create(p4v1.FieldMatchSchema, {
    fieldId: id,
    fieldMatchType: numbers.pick(byKind[match.value as number]!),
  } as never);
}

export interface MadeAction {
  readonly action: p4v1.Action;
  /** Whether it is as its declaration says. */
  readonly isValid: boolean;
}

/** A call of an action, sometimes with wrong parameters. */
export function actionOf(numbers: Numbers, id: number): MadeAction {
  const { params } = ACTIONS.get(id)!;
  const values = params.map((param) => ({ paramId: param.id, value: numbers.bytes(numbers.bits(param.bitwidth)) }));
  const isValid = !numbers.chance(16);
  if (!isValid) {
    const way = numbers.below(params.length > 0 ? 5 : 1);
    if (way === 0) values.push({ paramId: 9, value: bytesOf(1n) });
    else if (way === 1) values[0]!.value = new Uint8Array(0);
    else if (way === 2) values[0]!.value = bytesOf(1n << BigInt(params[0]!.bitwidth));
    else if (way === 3) values.pop();
    else values[values.length - 1] = { paramId: 9, value: bytesOf(1n) };
  } else if (numbers.chance(4)) values.reverse();
  return { action: create(p4v1.ActionSchema, { actionId: id, params: values }), isValid };
}

/** A meter's configuration: by two rates, as those of v1model are. */
export function meterOf(numbers: Numbers): { readonly config: p4v1.MeterConfig; readonly isValid: boolean } {
  const cir = BigInt(numbers.below(4));
  const config = create(p4v1.MeterConfigSchema, {
    cir,
    cburst: BigInt(numbers.below(1000)),
    pir: cir + BigInt(numbers.below(4)),
    pburst: BigInt(numbers.below(1000)),
  });
  const isValid = !numbers.chance(6);
  if (!isValid) {
    const way = numbers.below(3);
    if (way === 0) config.pir = -1n;
    else if (way === 1) config.eburst = 1n;
    else config.cir = config.pir + 1n;
  }
  return { config, isValid };
}

/** What a counter may hold. */
export function countOf(numbers: Numbers): { readonly data: p4v1.CounterData; readonly isValid: boolean } {
  const isValid = !numbers.chance(8);
  const packetCount = BigInt(numbers.below(1_000_000));
  const byteCount = numbers.chance(8) ? 0x0f_ffff_ffff_ffffn : packetCount * 64n;
  return {
    data: create(p4v1.CounterDataSchema, isValid ? { packetCount, byteCount } : { packetCount: -1n, byteCount }),
    isValid,
  };
}

export const NO_COUNT: Count = { packets: 0n, bytes: 0n };

export function readCount({ packetCount, byteCount }: p4v1.CounterData): Count {
  return { packets: packetCount, bytes: byteCount };
}

export function countMessage({ packets, bytes }: Count): p4v1.CounterData {
  return create(p4v1.CounterDataSchema, { packetCount: packets, byteCount: bytes });
}

function shortest(bytes: Uint8Array): Uint8Array {
  let first = 0;
  while (first < bytes.length - 1 && bytes[first] === 0) first++;
  return bytes.slice(first);
}

/** An action as the switch gives it back: shortest values, in the order of P4Info. */
export function canonicalAction(action: p4v1.Action): p4v1.Action {
  const { params } = ACTIONS.get(action.actionId)!;
  const ordered = params.map(({ id }) => {
    const { value } = action.params.find(({ paramId }) => paramId === id)!;
    return { paramId: id, value: shortest(value) };
  });
  return create(p4v1.ActionSchema, { actionId: action.actionId, params: ordered });
}

/** The same for matches. */
export function canonicalMatches(
  fields: readonly p4config.MatchField[],
  match: readonly p4v1.FieldMatch[],
): p4v1.FieldMatch[] {
  return fields.flatMap(({ id }) => {
    const given = match.find(({ fieldId }) => fieldId === id);
    if (given === undefined) return [];
    const copy = fromBinary(p4v1.FieldMatchSchema, toBinary(p4v1.FieldMatchSchema, given));
    const parts = copy.fieldMatchType.value as unknown as Record<string, unknown>;
    for (const [name, value] of Object.entries(parts)) if (value instanceof Uint8Array) parts[name] = shortest(value);
    return [copy];
  });
}

export { shortest };
