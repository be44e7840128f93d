import { formatIpv4, formatIpv6 } from '@int/codec';
import { RecordIds, reportRecord } from '@int/collector';
import { ReportJson } from '@int/collector/internals';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../../../.ci/test/length.js';
import { anyBatch } from '../../../../../.ci/test/records/batches.js';
import {
  packText,
  putHex16,
  putInteger,
  putIpv4,
  putIpv6,
  putText,
  putUint32,
  putUint64,
} from '../../../src/records/ascii.js';
import { SEED } from '../../seed.js';

const uint32 = fc.oneof(
  fc.integer({ min: 0, max: 0xffffffff }),
  fc.constantFrom(0, 9, 10, 999, 1000, 999_999, 1_000_000, 999_999_999, 1_000_000_000, 0x7fffffff, 0x80000000),
);

function written(put: (view: DataView, at: number) => number): string {
  const view = new DataView(new ArrayBuffer(1000), 3);
  const end = put(view, 5);
  return Buffer.from(view.buffer, 8, end - 5).toString('latin1');
}

describe('numbers and addresses as bytes', () => {
  it('are the digits of every number', () => {
    fc.assert(
      fc.property(uint32, uint32, fc.maxSafeInteger(), (high, low, integer) => {
        expect(written((view, at) => putUint32(view, at, low | 0))).toBe(String(low));
        const both = (BigInt(high) << 32n) | BigInt(low);
        expect(written((view, at) => putUint64(view, at, high | 0, low | 0))).toBe(String(both));
        expect(written((view, at) => putInteger(view, at, Math.abs(integer)))).toBe(String(Math.abs(integer)));
      }),
      { seed: SEED, numRuns: runs(3000) },
    );
  });

  it('are right next to every power of ten and of two', () => {
    const powers = [10n, 2n].flatMap((base) => Array.from({ length: 65 }, (_, k) => base ** BigInt(k)));
    for (const number of powers.flatMap((power) => [power - 1n, power, power + 1n])) {
      if (number >= 1n << 64n) continue;
      const high = Number(BigInt.asIntN(32, number >> 32n));
      const low = Number(BigInt.asIntN(32, number));
      expect(written((view, at) => putUint64(view, at, high, low))).toBe(String(number));
    }
  });

  it('are addresses as the codec writes them', () => {
    const group = fc.oneof(fc.constant(0), fc.nat(0xffff));
    fc.assert(
      fc.property(fc.array(group, { minLength: 8, maxLength: 8 }), (groups) => {
        const words = [0, 2, 4, 6].map((k) => ((groups[k]! << 16) | groups[k + 1]!) >>> 0) as [
          number,
          number,
          number,
          number,
        ];
        expect(written((view, at) => putIpv6(view, at, ...words))).toBe(formatIpv6(...words));
        expect(written((view, at) => putIpv4(view, at, words[0]))).toBe(formatIpv4(words[0]));
        expect(written((view, at) => putHex16(view, at, groups[0]!))).toBe(groups[0]!.toString(16).padStart(4, '0'));
      }),
      { seed: SEED, numRuns: runs(2000) },
    );
    expect(written((view, at) => putIpv6(view, at, 0, 0, 0xffff, 0x0a000001))).toBe('::ffff:10.0.0.1');
  });

  it('are constant texts of any length', () => {
    for (const text of ['', 'a', 'seven77', 'eight888', 'nine99999', '"longer":"than sixteen"']) {
      expect(written((view, at) => putText(view, at, packText(text)))).toBe(text);
    }
    expect(() => packText('\u00e9')).toThrow(RangeError);
  });
});

describe('a report as JSON', () => {
  it('is what JSON.stringify makes of its object, for every batch', () => {
    const writer = new ReportJson();
    const ids = new RecordIds('00ff00ff12345678');
    fc.assert(
      fc.property(anyBatch, fc.maxSafeInteger(), ({ batch }, integer) => {
        const number = Math.abs(integer);
        for (let row = 0; row < batch.reports; row++) {
          if (batch.code[row] !== 0) continue;
          const bound = writer.bound(batch, row);
          // Exactly the room that was promised, at an odd offset.
          const view = new DataView(new ArrayBuffer(bound + 1), 1);
          const end = writer.write(view, 0, batch, row, ids, number);
          const text = Buffer.from(view.buffer, 1, end).toString('latin1');
          expect(text).toBe(JSON.stringify(reportRecord(batch, row, ids.text(number))));
        }
      }),
      { seed: SEED, numRuns: 200 },
    );
  });
});

describe('ids', () => {
  it('are random unless they are given', () => {
    expect(new RecordIds().instance).toMatch(/^[0-9a-f]{16}$/);
    expect(new RecordIds().instance).not.toBe(new RecordIds().instance);
    expect(new RecordIds('0123456789ABCDEF').text(7)).toBe('0123456789abcdef-7');
    expect(new RecordIds('fedcba9876543210').instanceHigh).toBe(0xfedcba98);
    expect(() => new RecordIds('xyz')).toThrow(TypeError);
  });
});
