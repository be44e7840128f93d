/**
 * Random updates, valid ones and mutated ones, derived from P4Info, against a model of the switch's state: which answers are
 * allowed, and what is read back.
 */
import { create, equals, fromBinary, toBinary } from '@bufbuild/protobuf';
import { p4config, p4v1 } from '@int/p4runtime';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LENGTH } from '../../../../.ci/test/length.js';
import { Code, createBench } from './controller.js';
import { DELETE, entry, INFO, INSERT, MODIFY } from './everything.js';

const SEED = Number(process.env.INT_SEED ?? 20_261_128);

const { EXACT, LPM, TERNARY, RANGE, OPTIONAL } = p4config.MatchField_MatchType;

/** 1,000,000 updates in the long form. */
const UPDATES = LENGTH >= 1 ? 1_000_000 : 6000;
const BATCH = LENGTH >= 1 ? 100 : 50;
/** Batches between two looks at the whole state. */
const LOOK = LENGTH >= 1 ? 200 : 16;

/** Small generator of numbers: fast-check's per value would take most of the time. */
class Numbers {
  #state: number;

  constructor(seed: number) {
    this.#state = seed | 1;
  }

  below(limit: number): number {
    this.#state ^= this.#state << 13;
    this.#state ^= this.#state >>> 17;
    this.#state ^= this.#state << 5;
    return (this.#state >>> 0) % limit;
  }

  pick<T>(values: readonly T[]): T {
    return values[this.below(values.length)]!;
  }

  chance(oneIn: number): boolean {
    return this.below(oneIn) === 0;
  }

  /** A value of up to 3 significant bits at either end of a width, so that keys meet again. */
  bits(width: number): bigint {
    const small = BigInt(this.below(8)) & ((1n << BigInt(Math.min(width, 3))) - 1n);
    return this.chance(2) ? small : small << BigInt(Math.max(0, width - 3));
  }
}

/** The shortest bytes of a value; sometimes with zeros in front, which mean the same. */
function bytesOf(value: bigint, padding = 0): Uint8Array {
  const digits = value.toString(16);
  const text = digits.length % 2 === 0 ? digits : `0${digits}`;
  return Uint8Array.from([...new Array(padding).fill(0), ...Buffer.from(text, 'hex')]);
}

type Field = p4config.MatchField;

/** A field match, and the same as text; undefined where it matches anything. */
function matchOf(
  numbers: Numbers,
  { id, bitwidth, match }: Field,
): { message: p4v1.FieldMatch; text: string } | undefined {
  const kind = match.value;
  const ones = (1n << BigInt(bitwidth)) - 1n;
  const padding = numbers.chance(6) ? numbers.below(3) : 0;
  const make = (fieldMatchType: object, text: string): { message: p4v1.FieldMatch; text: string } => ({
    message: create(p4v1.FieldMatchSchema, { fieldId: id, fieldMatchType } as never),
    text: `${id}:${text}`,
  });
  if (kind !== EXACT && numbers.chance(4)) return undefined;
  switch (kind) {
    case LPM: {
      const prefixLen = 1 + numbers.below(bitwidth);
      const low = BigInt(bitwidth - prefixLen);
      const value = (numbers.bits(bitwidth) >> low) << low;
      return make({ case: 'lpm', value: { value: bytesOf(value, padding), prefixLen } }, `${value}/${prefixLen}`);
    }
    case TERNARY: {
      const mask = numbers.bits(bitwidth) || 1n;
      const value = numbers.bits(bitwidth) & mask;
      return make(
        { case: 'ternary', value: { value: bytesOf(value), mask: bytesOf(mask, padding) } },
        `${value}&${mask}`,
      );
    }
    case RANGE: {
      const [a, b] = [numbers.bits(bitwidth), numbers.bits(bitwidth)];
      const [low, high] = a < b ? [a, b] : [b, a];
      if (low === 0n && high === ones) return undefined;
      return make({ case: 'range', value: { low: bytesOf(low), high: bytesOf(high, padding) } }, `${low}..${high}`);
    }
    default: {
      const value = numbers.bits(bitwidth);
      const name = kind === OPTIONAL ? 'optional' : 'exact';
      return make({ case: name, value: { value: bytesOf(value, padding) } }, `${value}`);
    }
  }
}

interface Made {
  readonly update: p4v1.Update;
  /** What identifies the entry; undefined: the update was mutated, and must be refused. */
  readonly key: string | undefined;
  /** The same as the server should give it back. */
  readonly canonical: p4v1.TableEntry;
}

const DIRECT = INFO.tables.filter(
  ({ implementationId, matchFields }) => implementationId === 0 && matchFields.length > 0,
);
const ACTIONS = new Map(INFO.actions.map((action) => [action.preamble!.id, action]));

function shortest(bytes: Uint8Array): Uint8Array {
  let first = 0;
  while (first < bytes.length - 1 && bytes[first] === 0) first++;
  return bytes.slice(first);
}

/** The entry as the server gives it back: shortest byte strings. Both writers sort the fields in the order of P4Info. */
function canonicalOf(given: p4v1.TableEntry): p4v1.TableEntry {
  const copy = fromBinary(p4v1.TableEntrySchema, toBinary(p4v1.TableEntrySchema, given));
  for (const { fieldMatchType } of copy.match) {
    const parts = fieldMatchType.value as unknown as Record<string, unknown>;
    for (const [name, value] of Object.entries(parts)) if (value instanceof Uint8Array) parts[name] = shortest(value);
  }
  if (copy.action?.type.case === 'action') {
    for (const param of copy.action.type.value.params) param.value = shortest(param.value);
  }
  return copy;
}

function makeUpdate(numbers: Numbers): Made {
  const table = numbers.pick(DIRECT);
  const tableId = table.preamble!.id;
  const matches = table.matchFields.map((field) => matchOf(numbers, field));
  const needsPriority = table.matchFields.some(({ match }) =>
    [TERNARY, RANGE, OPTIONAL].includes(match.value as never),
  );
  const priority = needsPriority ? 1 + numbers.below(4) : 0;
  const refs = table.actionRefs.filter(({ scope }) => scope !== p4config.ActionRef_Scope.DEFAULT_ONLY);
  const action = ACTIONS.get(numbers.pick(refs).id)!;
  const params = action.params.map(({ id, bitwidth }) => ({
    paramId: id,
    value: bytesOf(numbers.bits(bitwidth), numbers.chance(6) ? 1 : 0),
  }));
  const given = entry({
    tableId,
    match: matches.flatMap((each) => (each === undefined ? [] : [each.message])),
    action: { type: { case: 'action', value: { actionId: action.preamble!.id, params } } },
    priority,
    metadata: numbers.chance(5) ? bytesOf(BigInt(numbers.below(65_536))) : new Uint8Array(0),
    idleTimeoutNs: table.idleTimeoutBehavior === 1 && numbers.chance(5) ? 1_000_000_000_000n : 0n,
  });
  const value = given.entity.value as p4v1.TableEntry;
  const update = create(p4v1.UpdateSchema, { type: numbers.pick([INSERT, INSERT, MODIFY, DELETE]), entity: given });
  const key = `${tableId} ${priority} ${matches.map((each) => each?.text ?? '*').join()}`;
  const canonical = canonicalOf(value);
  if (!numbers.chance(5)) return { update, key, canonical };
  return mutate(numbers, update, value, table) ? { update, key: undefined, canonical } : { update, key, canonical };
}

/** Makes an update wrong in one way. @returns whether there was something to break */
function mutate(numbers: Numbers, update: p4v1.Update, value: p4v1.TableEntry, table: p4config.Table): boolean {
  const [first] = value.match;
  const call = value.action?.type.case === 'action' ? value.action.type.value : undefined;
  switch (numbers.below(10)) {
    case 0:
      update.type = p4v1.Update_Type.UNSPECIFIED;
      return true;
    case 1:
      value.tableId ^= 0x0080_0000;
      return true;
    case 2:
      value.priority = value.priority === 0 ? 1 : 0;
      return true;
    case 3:
      if (first === undefined) return false;
      value.match.push(first);
      return true;
    case 4:
      if (first === undefined) return false;
      first.fieldId = 77;
      return true;
    case 5:
      if (first?.fieldMatchType.case !== 'exact') return false;
      first.fieldMatchType.value.value = new Uint8Array(0);
      return true;
    case 6: {
      if (first?.fieldMatchType.case !== 'exact') return false;
      const { bitwidth } = table.matchFields[0]!;
      first.fieldMatchType.value.value = bytesOf(1n << BigInt(bitwidth));
      return true;
    }
    case 7:
      // DELETE looks at the key alone.
      if (call === undefined || update.type === DELETE) return false;
      call.params.push(create(p4v1.Action_ParamSchema, { paramId: 9, value: bytesOf(1n) }));
      return true;
    case 8:
      if (call === undefined || update.type === DELETE) return false;
      call.actionId = 0x0100_0000;
      return true;
    default:
      value.isConst = true;
      return true;
  }
}

interface Modelled {
  readonly entry: p4v1.TableEntry;
  readonly isConst: boolean;
}

/** What is in the tables, by key. */
class Model {
  readonly entries = new Map<string, Modelled>();
  readonly counts = new Map<number, number>();

  add(key: string, each: Modelled): void {
    this.entries.set(key, each);
    this.counts.set(each.entry.tableId, (this.counts.get(each.entry.tableId) ?? 0) + 1);
  }

  remove(key: string): void {
    const { tableId } = this.entries.get(key)!.entry;
    this.entries.delete(key);
    this.counts.set(tableId, this.counts.get(tableId)! - 1);
  }

  /** The code that an update must get. Then the model has changed as the switch must have. */
  apply({ update: { type }, key, canonical }: Made): number | 'refused' {
    if (key === undefined) return 'refused';
    const { tableId } = canonical;
    const table = INFO.tables.find(({ preamble }) => preamble?.id === tableId)!;
    const existing = this.entries.get(key);
    if (type === INSERT) {
      if (table.isConstTable) return Code.PermissionDenied;
      if (existing !== undefined) return Code.AlreadyExists;
      if ((this.counts.get(tableId) ?? 0) >= Number(table.size)) return Code.ResourceExhausted;
      this.add(key, { entry: canonical, isConst: false });
      return 0;
    }
    if (type === DELETE && table.isConstTable) return Code.PermissionDenied;
    if (existing === undefined) return Code.NotFound;
    if (existing.isConst) return Code.PermissionDenied;
    if (type === MODIFY) this.entries.set(key, { entry: canonical, isConst: false });
    else this.remove(key);
    return 0;
  }
}

/** The key of an entry as it was read. */
function keyOf({ tableId, priority, match }: p4v1.TableEntry): string {
  const table = INFO.tables.find(({ preamble }) => preamble?.id === tableId)!;
  const number = (bytes: Uint8Array): bigint => BigInt(`0x${Buffer.from(bytes).toString('hex')}`);
  const texts = table.matchFields.map(({ id }) => {
    const given = match.find(({ fieldId }) => fieldId === id)?.fieldMatchType;
    switch (given?.case) {
      case 'exact':
      case 'optional':
        return `${id}:${number(given.value.value)}`;
      case 'lpm':
        return `${id}:${number(given.value.value)}/${given.value.prefixLen}`;
      case 'ternary':
        return `${id}:${number(given.value.value)}&${number(given.value.mask)}`;
      case 'range':
        return `${id}:${number(given.value.low)}..${number(given.value.high)}`;
      default:
        return '*';
    }
  });
  return `${tableId} ${priority} ${texts.join()}`;
}

/** Runs `count` updates. Every answer and every state read back must be the model's. */
async function compare(seed: number, count: number): Promise<Map<number | 'refused', number>> {
  const numbers = new Numbers(seed);
  const { controller } = createBench();
  await controller.lead();
  const model = new Model();
  const answers = new Map<number | 'refused', number>();
  const readAll = async (): Promise<p4v1.TableEntry[]> =>
    (await controller.read(entry({}))).map(({ entity: { value } }) => value as p4v1.TableEntry);
  for (const each of await readAll()) model.add(keyOf(each), { entry: each, isConst: each.isConst });
  for (let done = 0, batches = 0; done < count; done += BATCH, batches++) {
    const made = Array.from({ length: BATCH }, () => makeUpdate(numbers));
    const isAtomic = numbers.chance(4);
    const before = isAtomic ? new Map(model.entries) : undefined;
    const counts = new Map(model.counts);
    const codes = await controller.codes(
      made.map(({ update }) => update),
      isAtomic ? p4v1.WriteRequest_Atomicity[numbers.chance(2) ? 'ROLLBACK_ON_ERROR' : 'DATAPLANE_ATOMIC'] : 0,
    );
    for (const [i, each] of made.entries()) {
      const wanted = model.apply(each);
      answers.set(wanted, (answers.get(wanted) ?? 0) + 1);
      const code = codes[i]!;
      const isRight = wanted === 'refused' ? code !== 0 : code === wanted;
      if (!isRight && !(isAtomic && code === Code.Aborted)) {
        expect({ code, update: each.update }, `update ${done + i}`).toEqual({ code: wanted, update: each.update });
      }
      if (isAtomic && wanted !== 0) break;
    }
    if (before !== undefined && codes.some((code) => code !== 0)) {
      model.entries.clear();
      for (const [key, each] of before) model.entries.set(key, each);
      model.counts.clear();
      for (const [id, each] of counts) model.counts.set(id, each);
    }
    if (batches % LOOK !== 0 && done + BATCH < count) continue;
    const found = await readAll();
    expect(found.length).toBe(model.entries.size);
    for (const each of found) {
      const wanted = model.entries.get(keyOf(each))?.entry;
      if (wanted === undefined || !equals(p4v1.TableEntrySchema, each, wanted)) expect(each).toEqual(wanted);
    }
  }
  return answers;
}

describe('random updates', () => {
  it('get the answers that a model allows, and leave the state that it has', async () => {
    const seeds = fc.sample(fc.integer({ min: 1, max: 0x7fff_ffff }), { seed: SEED, numRuns: LENGTH >= 1 ? 10 : 2 });
    for (const seed of seeds) {
      const answers = await compare(seed, UPDATES / seeds.length);
      // Every kind of answer occurs.
      const kinds = [0, 'refused', Code.AlreadyExists, Code.NotFound, Code.PermissionDenied] as const;
      for (const kind of kinds) expect(answers.get(kind) ?? 0, `answers ${kind}`).toBeGreaterThan(10);
    }
  }, 1_800_000);
});
