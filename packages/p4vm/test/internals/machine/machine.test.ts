import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatLog } from '../../../src/machine/log-format.js';
import { BitBuffer, growOutput, sum16 } from '../../../src/machine/packing.js';
import {
  copyVarbit,
  equalVarbits,
  formatVarbit,
  loadVarbit,
  storeVarbit,
  Varbit,
} from '../../../src/machine/varbit.js';
import { join2, join3, join4, joinWords, split2, splitWords, word } from '../../../src/machine/wide.js';

const seed = Number(process.env.INT_SEED ?? 20_260_601);
const bytes = fc.uint8Array({ maxLength: 40 });

describe('words of wide values', () => {
  it('are taken apart and put together again', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(1n << 130n), max: 1n << 130n }), (value) => {
        split2(value);
        expect(join2(word[0]!, word[1]!)).toBe(BigInt.asUintN(64, value));
        splitWords(value, 3);
        expect(join3(word[0]!, word[1]!, word[2]!)).toBe(BigInt.asUintN(96, value));
        splitWords(value, 4);
        expect(join4(word[0]!, word[1]!, word[2]!, word[3]!)).toBe(BigInt.asUintN(128, value));
        splitWords(value, 5);
        expect(joinWords(5)).toBe(BigInt.asUintN(160, value));
      }),
      { seed },
    );
  });
});

describe('packing', () => {
  it('appends bits one behind the other', () => {
    const field = fc.integer({ min: 1, max: 32 }).chain((width) => fc.tuple(fc.nat(0xffffffff), fc.constant(width)));
    fc.assert(
      fc.property(fc.array(field, { maxLength: 90 }), (fields) => {
        const buffer = new BitBuffer();
        buffer.bytes.fill(0xff);
        for (const [value, width] of fields) buffer.put(value, width);
        const text = fields
          .map(([value, width]) => BigInt.asUintN(width, BigInt(value)).toString(2).padStart(width, '0'))
          .join('');
        const length = Math.ceil(text.length / 8);
        const expected = Array.from({ length }, (_, at) =>
          Number.parseInt(text.slice(at * 8, at * 8 + 8).padEnd(8, '0'), 2),
        );
        expect([...buffer.bytes.subarray(0, length)]).toEqual(expected);
        expect(buffer.bits).toBe(text.length);
      }),
      { seed },
    );
  });

  it("sums 16-bit words in ones' complement", () => {
    fc.assert(
      fc.property(bytes, (data) => {
        let sum = 0n;
        for (let at = 0; at < data.length; at += 2) sum += BigInt((data[at]! << 8) | (data[at + 1] ?? 0));
        while (sum > 0xffffn) sum = (sum & 0xffffn) + (sum >> 16n);
        expect(sum16(data, data.length)).toBe(Number(~sum & 0xffffn));
      }),
      { seed },
    );
    expect(sum16(new Uint8Array(65_535).fill(255), 65_535)).toBe(0xff);
  });

  it('keeps what was written when an output grows', () => {
    const output = { bytes: Uint8Array.of(1, 2, 3), bits: 0, most: 100 };
    expect(growOutput(output, 3, 10).subarray(0, 3)).toEqual(Uint8Array.of(1, 2, 3));
    expect(output.bytes.length).toBeGreaterThanOrEqual(13);
  });
});

describe('varbits', () => {
  it('are loaded and stored at any bit', () => {
    fc.assert(
      fc.property(bytes, fc.integer({ min: 0, max: 7 }), (data, phase) => {
        const size = Math.max(0, data.length - 1);
        const value = new Varbit(400);
        loadVarbit(value, data, 0, phase, size * 8);
        const text = [...data].map((each) => each.toString(2).padStart(8, '0')).join('');
        expect(value.bits).toBe(size * 8);
        const digits = size === 0 ? '' : BigInt(`0b${text.slice(phase, phase + size * 8)}`).toString(16);
        expect(formatVarbit(value)).toBe(`0x${digits.padStart(size * 2, '0')}`.replace(/^0x$/, '0x'));
        const stored = new Uint8Array(size + 1);
        storeVarbit(value, stored, 0, phase);
        const out = [...stored].map((each) => each.toString(2).padStart(8, '0')).join('');
        expect(out.slice(phase, phase + size * 8)).toBe(text.slice(phase, phase + size * 8));
      }),
      { seed },
    );
  });

  it('are equal if they are as long and have the same bits', () => {
    const one = new Varbit(32);
    const other = new Varbit(32);
    loadVarbit(one, Uint8Array.of(1, 2, 3), 0, 0, 24);
    copyVarbit(other, one);
    expect(equalVarbits(one, other)).toBe(true);
    other.bits = 16;
    expect(equalVarbits(one, other)).toBe(false);
    const small = new Varbit(8);
    copyVarbit(small, one);
    expect(formatVarbit(small)).toBe('0x01');
  });
});

describe('log messages', () => {
  it('put values where braces are', () => {
    expect(formatLog('a {} b {} {}', [1, 2n, true])).toBe('a 1 b 2 1');
    expect(formatLog('\\{x\\} {}', [5])).toBe('{x} 5');
    expect(formatLog('{} {}', [5])).toBe('5 {}');
    expect(formatLog('open {', [])).toBe('open {');
  });
});
