import { reportPayload } from '@int/arbitraries';
import { BatchDecoder, TelemetryBatch } from '@int/codec';
import { reportRecord } from '@int/collector';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../../.ci/test/length.js';
import { LineBatch } from '../../src/lines/batch.js';
import { putDecimal } from '../../src/lines/digits.js';
import { LineEncoder } from '../../src/lines/encoder.js';
import { IndexNames } from '../../src/lines/index-name.js';
import { Timestamps, timeMs } from '../../src/lines/timestamp.js';
import { SEED } from '../seed.js';

const words = (timeNs: bigint): [number, number] => [Number(timeNs >> 32n), Number(timeNs & 0xffff_ffffn)];

/** Slow and obvious: whole milliseconds by Date, the rest as text. */
function timestamp(timeNs: bigint): string {
  const ms = new Date(Number(timeNs / 1_000_000n)).toISOString();
  return `${ms.slice(0, -1)}${String(timeNs % 1_000_000n).padStart(6, '0')}Z`;
}

describe('Timestamps', () => {
  it('writes any time of 64 bits with all its nanoseconds', () => {
    const timestamps = new Timestamps();
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), fc.nat(20), (timeNs, at) => {
        const bytes = Buffer.alloc(60);
        const end = timestamps.put(bytes, at, ...words(timeNs));
        expect(bytes.toString('latin1', at, end)).toBe(timestamp(timeNs));
        expect(timeMs(...words(timeNs))).toBe(Number(timeNs / 1_000_000n));
      }),
      { seed: SEED, numRuns: runs(500) },
    );
  });

  it('writes times of one second after each other', () => {
    const timestamps = new Timestamps();
    const bytes = Buffer.alloc(30);
    for (const timeNs of [0n, 999_999_999n, 1_000_000_000n, 999_999_999n, 1_795_262_400_000_000_001n]) {
      timestamps.put(bytes, 0, ...words(timeNs));
      expect(bytes.toString('latin1')).toBe(timestamp(timeNs));
    }
  });
});

describe('putDecimal', () => {
  it('writes any number as JavaScript does', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), (value) => {
        const bytes = Buffer.alloc(20);
        expect(bytes.toString('latin1', 0, putDecimal(bytes, 0, value))).toBe(String(value));
      }),
      { seed: SEED },
    );
  });
});

describe('IndexNames', () => {
  it('cuts by day or month in UTC, or not at all', () => {
    const at = Date.UTC(2026, 0, 31, 23, 59, 59, 999);
    expect(new IndexNames('int-events', 'none').at(at)).toBe('int-events');
    const days = new IndexNames('int-events', 'day');
    expect([days.at(at), days.at(at + 1), days.at(at), days.at(0)]).toEqual([
      'int-events-2026.01.31',
      'int-events-2026.02.01',
      'int-events-2026.01.31',
      'int-events-1970.01.01',
    ]);
    const months = new IndexNames('x', 'month');
    expect([months.at(at), months.at(at + 1)]).toEqual(['x-2026.01', 'x-2026.02']);
  });
});

const time = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });

/** Decodes payloads with their times, from one of them on. */
function decodedFrom(
  made: readonly (readonly [{ readonly bytes: Uint8Array }, bigint])[],
  from: number,
): TelemetryBatch {
  const lengths = Uint32Array.from(made, ([{ bytes }]) => bytes.length);
  const offsets = new Uint32Array(made.length);
  for (let row = 1; row < made.length; row++) offsets[row] = offsets[row - 1]! + lengths[row - 1]!;
  const bytes = Buffer.concat(made.map(([payload]) => payload.bytes));
  const timestampsHigh = Uint32Array.from(made, ([, timeNs]) => words(timeNs)[0]);
  const timestampsLow = Uint32Array.from(made, ([, timeNs]) => words(timeNs)[1]);
  const batch = new TelemetryBatch({ frames: made.length });
  const frames = { bytes, offsets, lengths, timestampsHigh, timestampsLow };
  new BatchDecoder({ linkType: 'report' }).decode(batch, frames, from);
  return batch;
}

describe('LineEncoder', () => {
  it('writes each report as an action and a document: the record, with its time in front', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(reportPayload(), time), { minLength: 1, maxLength: 4 }), fc.nat(), (made, any) => {
        const from = any % made.length;
        const encoder = new LineEncoder({ prefix: 'int-', rotate: 'day', instance: '0123456789abcdef' });
        const batch = decodedFrom(made, from);
        const lines = new LineBatch(1024, 300);
        const expected: unknown[] = [];
        for (let row = 0; row < batch.reports; row++) {
          if (batch.code[row] !== 0) continue;
          const [, timeNs] = made[from + batch.frame[row]!]!;
          const id = `0123456789abcdef-${expected.length / 2}`;
          encoder.report(lines, batch, row);
          const day = timestamp(timeNs).slice(0, 10).replaceAll('-', '.');
          expected.push({ create: { _index: `int-reports-${day}`, _id: id } });
          expected.push({ '@timestamp': timestamp(timeNs), ...reportRecord(batch, row, id) });
          if (lines.isFull) break;
        }
        const text = Buffer.from(lines.lines(Array.from({ length: lines.count }, (_, row) => row))).toString('utf8');
        const found = text.split('\n');
        expect(found.pop()).toBe('');
        expect(found.map((line) => JSON.parse(line) as unknown)).toEqual(expected);
      }),
      { seed: SEED, numRuns: 200 },
    );
  });
});

describe('LineBatch', () => {
  it('gives the lines of any choice of rows', () => {
    const batch = new LineBatch(1024, 10);
    const texts = ['a\n', 'bb\n', 'ccc\n', 'd\n'];
    for (const text of texts) {
      batch.bytes.write(text, batch.used);
      batch.push('flows', text.length);
    }
    fc.assert(
      fc.property(fc.subarray([0, 1, 2, 3]), (rows) => {
        expect(Buffer.from(batch.lines(rows)).toString()).toBe(rows.map((row) => texts[row]).join(''));
      }),
      { seed: SEED },
    );
  });
});
