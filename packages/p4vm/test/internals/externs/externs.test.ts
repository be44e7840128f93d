import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Calculations } from '../../../src/externs/calculations.js';
import { Counter } from '../../../src/externs/counter.js';
import { DigestQueue } from '../../../src/externs/digest.js';
import { identity, xor16 } from '../../../src/externs/hash.js';
import { Meter } from '../../../src/externs/meter.js';
import { createRandomBits, randomBetween } from '../../../src/externs/random.js';
import { Register } from '../../../src/externs/register.js';
import type { DataType } from '../../../src/ir/program.js';
import { sum16 } from '../../../src/machine/packing.js';
import { ControlError, type ControlErrorCode } from '../../../src/tables/control-error.js';
import { bits, environment, extern, integer, member, seed } from '../tables/declarations.js';

function refusal(attempt: () => unknown): ControlErrorCode | undefined {
  try {
    attempt();
    return undefined;
  } catch (error) {
    if (error instanceof ControlError) return error.code;
    throw error;
  }
}

const ascii = new TextEncoder().encode('123456789');

/** The bytes at a non-zero offset of a larger buffer. */
function inside(bytes: Uint8Array): Uint8Array {
  const larger = new Uint8Array(bytes.length + 7).fill(0xee);
  larger.set(bytes, 3);
  return larger.subarray(3, 3 + bytes.length);
}

describe('hashes', () => {
  const calculations = new Calculations([], createRandomBits(1));
  const hash = (name: string, bytes: Uint8Array): bigint => calculations.hash(name, inside(bytes), bytes.length);

  it('give the check values of their algorithms', () => {
    expect(hash('crc32', ascii)).toBe(0xcbf43926n);
    expect(hash('crc32_custom', ascii)).toBe(0xcbf43926n);
    expect(hash('crc16', ascii)).toBe(0xbb3dn);
    expect(hash('crc16_custom', ascii)).toBe(0xbb3dn);
    expect(hash('identity', ascii)).toBe(0x3132333435363738n);
    expect(hash('xor16', ascii)).toBe(BigInt(0x3132 ^ 0x3334 ^ 0x3536 ^ 0x3738 ^ 0x3900));
  });

  it('sum words as RFC 1071 does', () => {
    const header = Uint8Array.of(
      0x45,
      0,
      0,
      0x73,
      0,
      0,
      0x40,
      0,
      0x40,
      0x11,
      0,
      0,
      0xc0,
      0xa8,
      0,
      1,
      0xc0,
      0xa8,
      0,
      0xc7,
    );
    expect(sum16(header, header.length)).toBe(0xb861);
    const filled = header.slice();
    filled[10] = 0xb8;
    filled[11] = 0x61;
    expect(sum16(filled, filled.length)).toBe(0);
  });

  it('agree with a plain sum modulo 65535 on data of any length', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 3000 }), (bytes) => {
        let sum = 0n;
        bytes.forEach((byte, i) => {
          sum += BigInt(byte) << (i % 2 === 0 ? 8n : 0n);
        });
        const folded = sum === 0n ? 0n : sum % 65535n === 0n ? 65535n : sum % 65535n;
        expect(sum16(inside(bytes), bytes.length)).toBe(Number(0xffffn - folded));
        expect(identity(bytes, bytes.length)).toBe(
          bytes.subarray(0, 8).reduce((value, byte) => (value << 8n) | BigInt(byte), 0n),
        );
        expect(xor16(bytes, bytes.length)).toBe(
          bytes.reduce((value, byte, i) => value ^ (i % 2 === 0 ? byte << 8 : byte), 0),
        );
      }),
      { seed, numRuns: 200 },
    );
    const many = new Uint8Array(400_001).fill(0xff);
    expect(sum16(many, many.length)).toBe(0x00ff);
  });

  it('of nothing are those of an empty message', () => {
    const none = new Uint8Array(0);
    expect(['crc32', 'crc16', 'csum16', 'xor16', 'identity'].map((name) => hash(name, none))).toEqual([
      0n,
      0n,
      0xffffn,
      0n,
      0n,
    ]);
  });

  it('take parameters of custom CRCs, for one calculation only', () => {
    const call = { kind: 'string', type: { kind: 'string' }, value: '' } as const;
    const span = { file: { name: '', text: '' }, start: 0, end: 0 };
    const named = ['crc16_custom', 'crc32_custom', 'crc32'].map((algorithm, i) => ({
      name: i === 0 ? 'calc' : `calc_${i - 1}`,
      aliases: [],
      algorithm,
      call: { ...call, span },
    }));
    const several = new Calculations(named, createRandomBits(1));
    several.get('calc').setCustom({
      polynomial: 0x1021,
      initial: 0xffff,
      finalXor: 0,
      reflectData: false,
      reflectRemainder: false,
    });
    expect(several.hash('calc', ascii, 9)).toBe(0x29b1n);
    expect(several.hash('crc16_custom', ascii, 9)).toBe(0xbb3dn);
    several.get('calc_0').setCustom({
      polynomial: 0x1edc6f41,
      initial: 0xffffffff,
      finalXor: 0xffffffff,
      reflectData: true,
      reflectRemainder: true,
    });
    expect(several.hash('calc_0', ascii, 9)).toBe(0xe3069283n);
    const custom = several.get('calc').custom!;
    expect(refusal(() => several.get('calc').setCustom({ ...custom, polynomial: 0x10000 }))).toBe(
      'ERR_CONTROL_VALUE_TOO_WIDE',
    );
    expect(refusal(() => several.get('calc_1').setCustom(custom))).toBe('ERR_CONTROL_WRONG_KIND');
    expect(() => several.get('calc_2')).toThrow(TypeError);
  });
});

describe('counters', () => {
  it('count packets and bytes, and indices out of bounds as faults', () => {
    const clock = environment();
    const counter = new Counter(
      extern(0, 'counter', 'c', [integer(2), member('CounterType', 'packets_and_bytes')]),
      clock,
    );
    clock.packetLength = 60;
    counter.count(1);
    counter.count(1);
    counter.count(2);
    expect(counter.read(1)).toEqual({ packets: 2, bytes: 120 });
    expect(clock.faults.externIndex).toBe(1);
    expect(refusal(() => counter.read(2))).toBe('ERR_CONTROL_BAD_INDEX');
    counter.write(0, { packets: 5, bytes: 6 });
    expect(counter.read(0)).toEqual({ packets: 5, bytes: 6 });
    counter.reset();
    expect(counter.read(0)).toEqual({ packets: 0, bytes: 0 });
  });
});

describe('meters', () => {
  function meter(type: 'packets' | 'bytes'): { clock: ReturnType<typeof environment>; tested: Meter } {
    const clock = environment();
    return {
      clock,
      tested: new Meter(extern(0, 'meter', 'm', [integer(4), member('MeterType', type)]), clock),
    };
  }

  it('are green without rates, red with bursts of 0', () => {
    const { clock, tested } = meter('packets');
    expect(tested.execute(0)).toBe(0);
    tested.setRates(0, [
      { rate: 1, burst: 0 },
      { rate: 2, burst: 0 },
    ]);
    clock.nowUs = 1_000_000;
    expect(tested.execute(0)).toBe(2);
    expect(tested.execute(1)).toBe(0);
    expect(tested.execute(4)).toBe(-1);
    expect(clock.faults.externIndex).toBe(1);
  });

  it('take tokens from the peak bucket first, and keep those of a red packet', () => {
    const { clock, tested } = meter('bytes');
    clock.packetLength = 100;
    // 0.1 bytes per microsecond: a packet per millisecond.
    tested.setRates(2, [
      { rate: 0.1, burst: 100 },
      { rate: 0.2, burst: 200 },
    ]);
    expect([tested.execute(2), tested.execute(2), tested.execute(2)]).toEqual([0, 1, 2]);
    clock.nowUs = 499;
    expect(tested.execute(2)).toBe(2);
    clock.nowUs = 500;
    expect(tested.execute(2)).toBe(1);
    clock.nowUs = 1000;
    expect(tested.execute(2)).toBe(0);
    expect(tested.rates(2)).toEqual([
      { rate: 0.1, burst: 100 },
      { rate: 0.2, burst: 200 },
    ]);
  });

  it('follow a plain model of two token buckets', () => {
    const packet = fc.record({ gap: fc.integer({ min: 0, max: 3000 }), length: fc.integer({ min: 1, max: 1500 }) });
    const rates = fc.record({
      committed: fc.double({ min: 0, max: 2, noNaN: true }),
      more: fc.double({ min: 0, max: 2, noNaN: true }),
      small: fc.integer({ min: 0, max: 4000 }),
      large: fc.integer({ min: 0, max: 8000 }),
    });
    fc.assert(
      fc.property(rates, fc.array(packet, { maxLength: 60 }), ({ committed, more, small, large }, packets) => {
        const { clock, tested } = meter('bytes');
        const configured = [
          { rate: committed, burst: small },
          { rate: committed + more, burst: large },
        ];
        tested.setRates(0, configured);
        const buckets = configured.map(({ burst }) => ({ tokens: burst, made: 0 }));
        for (const { gap, length } of packets) {
          clock.nowUs += gap;
          clock.packetLength = length;
          let color = 0;
          for (const which of [1, 0]) {
            const bucket = buckets[which]!;
            const made = Math.trunc(clock.nowUs * configured[which]!.rate);
            bucket.tokens = Math.min(configured[which]!.burst, bucket.tokens + made - bucket.made);
            bucket.made = made;
            if (bucket.tokens < length) {
              color = which + 1;
              break;
            }
            bucket.tokens -= length;
          }
          expect(tested.execute(0)).toBe(color);
        }
      }),
      { seed, numRuns: 100 },
    );
  });

  it('refuse rates that are not two, or in the wrong order', () => {
    const { tested } = meter('packets');
    const one = { rate: 1, burst: 1 };
    expect(refusal(() => tested.setRates(0, [one]))).toBe('ERR_CONTROL_BAD_RATES');
    expect(refusal(() => tested.setRates(0, [{ rate: 2, burst: 1 }, one]))).toBe('ERR_CONTROL_BAD_RATES');
    expect(refusal(() => tested.setRates(0, [one, { rate: 2, burst: 0.5 }]))).toBe('ERR_CONTROL_BAD_RATES');
    expect(refusal(() => tested.setRates(4, [one, one]))).toBe('ERR_CONTROL_BAD_INDEX');
    expect(tested.rates(0)).toBeUndefined();
    tested.setAllRates([one, one]);
    expect(tested.rates(3)).toEqual([one, one]);
    tested.reset();
    expect(tested.rates(3)).toBeUndefined();
  });
});

describe('registers', () => {
  const types: readonly (readonly [DataType, unknown])[] = [
    [{ kind: 'bool' }, Uint8Array],
    [bits(7), Uint8Array],
    [bits(9), Uint16Array],
    [bits(32), Uint32Array],
    [bits(32, true), Int32Array],
    [bits(8, true), Int32Array],
    [bits(33), BigUint64Array],
    [bits(64), BigUint64Array],
    [bits(64, true), Array],
    [bits(128), Array],
  ];

  for (const [type, cells] of types) {
    it(`keep values of ${type.kind === 'bits' ? `${type.isSigned ? 'int' : 'bit'}<${type.width}>` : type.kind}`, () => {
      const register = new Register(extern(0, 'register', 'r', [integer(3)], [type]), environment());
      expect(register.cells).toBeInstanceOf(cells);
      expect(register.cells).toHaveLength(3);
      fc.assert(
        fc.property(fc.bigInt({ min: 0n, max: (1n << BigInt(register.width)) - 1n }), (value) => {
          register.set(1, value);
          const signed = type.kind === 'bits' && type.isSigned ? BigInt.asIntN(register.width, value) : value;
          expect(register.get(1)).toBe(signed);
          expect(register.pattern(1)).toBe(value);
          expect(register.read(1)).toBe(register.width <= 32 ? Number(signed) : signed);
          register.write(2, register.read(1));
          expect(register.pattern(2)).toBe(value);
        }),
        { seed, numRuns: 50 },
      );
      expect(refusal(() => register.set(1, 1n << BigInt(register.width)))).toBe('ERR_CONTROL_VALUE_TOO_WIDE');
      register.setCut(1, (1n << BigInt(register.width)) + 1n);
      expect(register.pattern(1)).toBe(1n);
      register.reset();
      expect(register.get(1)).toBe(0n);
    });
  }

  it('count indices out of bounds as faults, and read 0 there', () => {
    const clock = environment();
    const register = new Register(extern(0, 'register', 'r', [integer(3)], [bits(64)]), clock);
    expect(register.read(3)).toBe(0n);
    register.write(3, 1n);
    register.write(-1, 1n);
    expect(clock.faults.externIndex).toBe(3);
    expect(Array.from(register.cells as ArrayLike<bigint>)).toEqual([0n, 0n, 0n]);
    expect(refusal(() => register.get(3))).toBe('ERR_CONTROL_BAD_INDEX');
  });
});

describe('random numbers', () => {
  it('are the same for the same seed, and others for another', () => {
    const draw = (from: number): number[] => {
      const next = createRandomBits(from);
      return Array.from({ length: 20 }, () => next());
    };
    expect(draw(7)).toEqual(draw(7));
    expect(draw(7)).not.toEqual(draw(8));
    expect(draw(7).every((value) => Number.isInteger(value) && value >= 0 && value <= 0xffffffff)).toBe(true);
  });

  it('stay within their bounds, and reach both', () => {
    const next = createRandomBits(seed);
    const bounds = fc.bigInt({ min: 0n, max: 1n << 80n });
    fc.assert(
      fc.property(bounds, bounds, (a, b) => {
        const [low, high] = a < b ? [a, b] : [b, a];
        const value = randomBetween(next, low, high);
        expect(value >= low && value <= high).toBe(true);
      }),
      { seed, numRuns: 300 },
    );
    const seen = new Set(Array.from({ length: 200 }, () => randomBetween(next, 3n, 5n)));
    expect([...seen].sort()).toEqual([3n, 4n, 5n]);
    expect(randomBetween(next, 5n, 3n)).toBe(5n);
    expect(randomBetween(next, 0n, 0xffffffffn) <= 0xffffffffn).toBe(true);
  });
});

describe('digests', () => {
  it('wait to be taken, oldest first, and the oldest are lost when there are too many', () => {
    const queue = new DigestQueue(3);
    for (let i = 0; i < 4; i++) {
      queue.push({ receiver: 1, name: i % 2 === 0 ? 'a' : 'b', fields: [{ name: 'x', value: i }], timeUs: i });
    }
    expect(queue.lost).toBe(1);
    expect(queue.take('b').map((digest) => digest.timeUs)).toEqual([1, 3]);
    expect(queue.take().map((digest) => digest.timeUs)).toEqual([2]);
    expect(queue.pending).toEqual([]);
  });
});
