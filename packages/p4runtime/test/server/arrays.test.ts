import { p4config, p4infoOf, type p4v1 } from '@int/p4runtime';
import { beforeEach, describe, expect, it } from 'vitest';
import { type Bench, Code, createBench } from './controller.js';
import {
  bytes,
  DELETE,
  DEVICE_CONFIG,
  entity,
  exact,
  frame,
  INSERT,
  idOf,
  MODIFY,
  PROGRAM,
  UNSPECIFIED,
  update,
} from './everything.js';

let bench: Bench;
beforeEach(async () => {
  bench = createBench();
  await bench.controller.lead();
});

const code = (type: p4v1.Update_Type, of: p4v1.Entity): Promise<number> => bench.controller.code(update(type, of));

const COUNTER = idOf('counters', 'I.ports');
const METER = idOf('meters', 'I.rates');
const CELLS = idOf('registers', 'I.cells');
const SIGNED = idOf('registers', 'I.signed_cells');
const FLAGS = idOf('registers', 'I.flags');
const TYPES = idOf('valueSets', 'P.types');

const at = (index?: bigint): object => (index === undefined ? {} : { index: { index } });
const counter = (index?: bigint, data?: object): p4v1.Entity =>
  entity('counterEntry', { counterId: COUNTER, ...at(index), ...(data === undefined ? {} : { data }) });
const meter = (index?: bigint, config?: object): p4v1.Entity =>
  entity('meterEntry', { meterId: METER, ...at(index), ...(config === undefined ? {} : { config }) });
const register = (registerId: number, index?: bigint, data?: object): p4v1.Entity =>
  entity('registerEntry', { registerId, ...at(index), ...(data === undefined ? {} : { data: { data } }) });
const bits = (...value: number[]): object => ({ case: 'bitstring', value: bytes(...value) });

describe.each([
  ['counters', counter, { packetCount: 1n }],
  ['meters', meter, { cir: 1n, cburst: 1n, pir: 1n, pburst: 1n }],
  ['registers', (index?: bigint, data?: object) => register(CELLS, index, data), bits(1)],
] as const)('%s', (_, make, value) => {
  const set = make as (index?: bigint, data?: object) => p4v1.Entity;

  it('take MODIFY alone: INSERT, DELETE and no type are INVALID_ARGUMENT', async () => {
    for (const type of [INSERT, DELETE, UNSPECIFIED])
      expect(await code(type, set(0n, value))).toBe(Code.InvalidArgument);
  });

  it('refuse a negative index with INVALID_ARGUMENT, one beyond the array with OUT_OF_RANGE', async () => {
    expect(await code(MODIFY, set(-1n, value))).toBe(Code.InvalidArgument);
    expect(await code(MODIFY, set(64n, value))).toBe(Code.OutOfRange);
    expect(await code(MODIFY, set(2n ** 62n, value))).toBe(Code.OutOfRange);
    expect(await bench.controller.readCode(set(-1n))).toBe(Code.InvalidArgument);
    expect(await bench.controller.readCode(set(64n))).toBe(Code.OutOfRange);
  });

  it('are written and read at one index, at all indices, in all arrays', async () => {
    const { controller } = bench;
    expect(await code(MODIFY, set(3n, value))).toBe(0);
    expect(await controller.read(set(3n))).toEqual([set(3n, value)]);
    const some = await controller.read(set());
    expect(some.filter((each) => JSON.stringify(each, text) === JSON.stringify(set(3n, value), text))).toHaveLength(1);
    expect(await code(MODIFY, set(undefined, value))).toBe(0);
    const all = await controller.read(set());
    expect(all).toEqual(all.map((_each, index) => set(BigInt(index), value)));
  });

  it('are restored by a batch that rolls back', async () => {
    const { controller } = bench;
    await controller.write([update(MODIFY, set(3n, value))]);
    const before = await controller.read(set());
    const batch = [update(MODIFY, set(undefined, value)), update(MODIFY, set(99n, value))];
    expect(await controller.codes(batch, 2)).toEqual([Code.Aborted, Code.OutOfRange]);
    expect(await controller.read(set())).toEqual(before);
  });
});

const text = (_: string, value: unknown): unknown =>
  typeof value === 'bigint' ? `${value}` : value instanceof Uint8Array ? [...value] : value;

describe('counters (P4Runtime 1.5, section 9.3)', () => {
  it('count what the program counts; a write without data changes nothing', async () => {
    bench.target.machine?.process(4, frame(1));
    expect(await bench.controller.read(counter(4n))).toEqual([counter(4n, { packetCount: 1n, byteCount: 38n })]);
    expect(await code(MODIFY, counter(4n))).toBe(0);
    expect(await bench.controller.read(counter(4n))).toEqual([counter(4n, { packetCount: 1n, byteCount: 38n })]);
    expect(await code(MODIFY, counter(4n, { packetCount: 2n ** 60n }))).toBe(Code.InvalidArgument);
    expect(await code(MODIFY, entity('counterEntry', { counterId: 77 }))).toBe(Code.InvalidArgument);
  });

  it('are read of all arrays with id 0', async () => {
    expect(await bench.controller.read(entity('counterEntry', {}))).toHaveLength(64);
  });
});

describe('meters (P4Runtime 1.5, section 9.4)', () => {
  const config = { cir: 1n, cburst: 38n, pir: 1n, pburst: 76n };
  const colours = (packets: number): (number | undefined)[] =>
    Array.from({ length: packets }, () => {
      bench.target.machine?.process(3, frame(1, [5]));
      return bench.target.machine?.control.meter('I.rates').execute(3);
    });

  it('colour packets by two rates; without configuration all are green', async () => {
    expect(colours(3)).toEqual([0, 0, 0]);
    expect(await code(MODIFY, meter(3n, { cir: 1n, cburst: 76n, pir: 1n, pburst: 228n }))).toBe(0);
    expect(colours(3)).toEqual([0, 1, 1]);
    expect(await code(MODIFY, meter(3n))).toBe(0);
    expect(colours(3)).toEqual([0, 0, 0]);
    expect(await bench.controller.read(meter(3n))).toEqual([meter(3n)]);
  });

  it('of two rates have no excess burst, and no negative values: INVALID_ARGUMENT', async () => {
    expect(await code(MODIFY, meter(3n, { ...config, eburst: 1n }))).toBe(Code.InvalidArgument);
    expect(await code(MODIFY, meter(3n, { ...config, cir: -1n }))).toBe(Code.InvalidArgument);
    expect(await code(MODIFY, meter(3n, { ...config, pir: 0n }))).toBe(Code.InvalidArgument);
  });

  it('with counters per colour are UNIMPLEMENTED', async () => {
    const asked = entity('meterEntry', { meterId: METER, counterData: {} });
    expect(await code(MODIFY, asked)).toBe(Code.Unimplemented);
    expect(await bench.controller.readCode(asked)).toBe(Code.Unimplemented);
  });

  it.each([
    ['SINGLE_RATE_THREE_COLOR', 38n, [0, 1, 2]],
    ['SINGLE_RATE_TWO_COLOR', 0n, [0, 2, 2]],
  ] as const)('of type %s have one rate', async (name, eburst, expected) => {
    const p4info = p4infoOf(PROGRAM);
    p4info.meters[0]!.spec!.type = p4config.MeterSpec_Type[name];
    expect(await bench.controller.setPipeline(3, { p4info, p4DeviceConfig: DEVICE_CONFIG })).toBe(0);
    const single = { cir: 1n, cburst: 38n, pir: 1n, pburst: 38n, eburst };
    expect(await code(MODIFY, meter(3n, { ...single, pir: 2n }))).toBe(Code.InvalidArgument);
    expect(await code(MODIFY, meter(3n, { ...single, pburst: 39n }))).toBe(Code.InvalidArgument);
    expect(await code(MODIFY, meter(3n, single))).toBe(0);
    expect(await bench.controller.read(meter(3n))).toEqual([meter(3n, single)]);
    const rates = bench.target.machine!.control.meter('I.rates');
    expect([1, 2, 3].map(() => rates.run(3, 38, 0))).toEqual(expected);
  });
});

describe('registers (P4Runtime 1.5, section 9.8)', () => {
  it('hold what the program writes, in the shortest form', async () => {
    bench.target.machine?.process(1, frame(1, [5, 0, 0xff, 0xfe]));
    expect(await bench.controller.read(register(CELLS, 0n), register(SIGNED, 0n), register(FLAGS, 0n))).toEqual([
      register(CELLS, 0n, bits(4, 0, 0, 0, 0, 9)),
      register(SIGNED, 0n, bits(0xfe)),
      register(FLAGS, 0n, { case: 'bool', value: true }),
    ]);
  });

  it('of signed numbers follow the rules for signs', async () => {
    for (const [given, shortest] of [
      [bits(0xff, 0xff, 0x80, 0), bits(0x80, 0)],
      [bits(0, 0x7f), bits(0x7f)],
      [bits(0, 0x80), bits(0, 0x80)],
      [bits(0x80), bits(0x80)],
    ] as const) {
      expect(await code(MODIFY, register(SIGNED, 1n, given))).toBe(0);
      expect(await bench.controller.read(register(SIGNED, 1n))).toEqual([register(SIGNED, 1n, shortest)]);
    }
    expect(await code(MODIFY, register(SIGNED, 1n, bits(0, 0x80, 0)))).toBe(Code.OutOfRange);
  });

  it('refuse data of another type or none with INVALID_ARGUMENT, values too wide or empty with OUT_OF_RANGE', async () => {
    expect(await code(MODIFY, register(CELLS, 1n))).toBe(Code.InvalidArgument);
    expect(await code(MODIFY, register(CELLS, 1n, { case: 'bool', value: true }))).toBe(Code.InvalidArgument);
    expect(await code(MODIFY, register(FLAGS, 1n, bits(1)))).toBe(Code.InvalidArgument);
    expect(await code(MODIFY, register(CELLS, 1n, bits(1, 0, 0, 0, 0, 0, 0)))).toBe(Code.OutOfRange);
    expect(await code(MODIFY, register(CELLS, 1n, bits()))).toBe(Code.OutOfRange);
    expect(await code(MODIFY, register(77, 1n, bits(1)))).toBe(Code.InvalidArgument);
  });

  it('are read of all arrays with id 0', async () => {
    expect(await bench.controller.read(entity('registerEntry', {}))).toHaveLength(16 + 8 + 4);
  });
});

describe('parser value sets (P4Runtime 1.5, section 9.7)', () => {
  const set = (...values: Uint8Array[]): p4v1.Entity =>
    entity('valueSetEntry', { valueSetId: TYPES, members: values.map((value) => ({ match: [exact(1, value)] })) });

  it('take MODIFY alone: INSERT, DELETE and no type are INVALID_ARGUMENT', async () => {
    for (const type of [INSERT, DELETE, UNSPECIFIED]) expect(await code(type, set())).toBe(Code.InvalidArgument);
  });

  it('steer the parser, are replaced and emptied', async () => {
    const parsed = (): number | undefined => {
      bench.target.machine?.process(1, frame(1, [5, 0, 0, 7], 0x8100));
      return Number(bench.target.machine?.register('I.signed_cells').get(0));
    };
    expect(parsed()).toBe(0);
    expect(await code(MODIFY, set(bytes(0x81, 0), bytes(0, 0x22, 0xf3)))).toBe(0);
    expect(parsed()).toBe(7);
    expect(await bench.controller.read(set())).toEqual([set(bytes(0x81, 0), bytes(0x22, 0xf3))]);
    expect(await bench.controller.read(entity('valueSetEntry', {}))).toHaveLength(1);
    expect(await code(MODIFY, set())).toBe(0);
    expect(await bench.controller.read(set())).toEqual([set()]);
  });

  it('with a member twice are ALREADY_EXISTS, with too many RESOURCE_EXHAUSTED, with wrong ones INVALID_ARGUMENT', async () => {
    expect(await code(MODIFY, set(bytes(1), bytes(0, 1)))).toBe(Code.AlreadyExists);
    expect(await code(MODIFY, set(...[1, 2, 3, 4, 5].map((value) => bytes(value))))).toBe(Code.ResourceExhausted);
    expect(await code(MODIFY, set(bytes(1, 0, 0)))).toBe(Code.InvalidArgument);
    expect(await code(MODIFY, entity('valueSetEntry', { valueSetId: 77 }))).toBe(Code.InvalidArgument);
  });

  it('are restored by a batch that rolls back', async () => {
    await bench.controller.write([update(MODIFY, set(bytes(1), bytes(2)))]);
    await bench.controller.codes([update(MODIFY, set(bytes(3))), update(INSERT, set())], 1);
    expect(await bench.controller.read(set())).toEqual([set(bytes(1), bytes(2))]);
  });
});
