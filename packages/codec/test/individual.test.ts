/** What becomes of the individual reports behind a malformed one. */

import {
  BatchDecoder,
  CODE_NAMES,
  CODES,
  type DecodeOptions,
  decodeFrame,
  decodeReport,
  TelemetryBatch,
} from '@int/codec';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { wrapEthernet } from './fast-frames.js';

const SEED = Number(process.env.INT_SEED ?? 20_261_123);
const OPTIONS: DecodeOptions = { reportPorts: [32_766] };
const GROUP = [0x20, 0, 0, 1, 0, 0, 0, 9];

/** Reports that are nothing but a header, and one with a metadata word of its own. */
const EMPTY = [0x00, 0, 0, 0];
const POSTCARD = [0x10, 3, 1, 0x20, 0x40, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 2];
/** Malformed ones whose length is right: two words for no packet; an 'IPv4' packet that is none; MD Length too long. */
const BROKEN = [
  [0x00, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
  [0x04, 1, 0, 0, 0x77, 0, 0, 0],
  [0x10, 2, 9, 0x20, 0, 0, 0, 0, 0, 0, 0, 0],
];
/** A report of a type that is not defined: what it says may be right. */
const UNKNOWN = [0xf0, 1, 0, 0, 1, 2, 3, 4];

/** Codes of the records of a datagram, which the batch decoders must give too. */
function codes(payload: readonly number[], cut = 0): string[] {
  const whole = wrapEthernet(Uint8Array.from(payload), 32_766);
  const frame = whole.subarray(0, whole.length - cut);
  const records = decodeFrame(frame, OPTIONS);
  const list = records.map(({ error }) => error?.code ?? 'OK');
  expect(records.map(({ index }) => index)).toEqual(list.map((_, index) => index));
  for (const fastPath of [true, false]) {
    const batch = new TelemetryBatch({ frames: 1, reports: 64 });
    new BatchDecoder({ ...OPTIONS, fastPath }).decode(batch, {
      bytes: frame,
      offsets: Uint32Array.of(0),
      lengths: Uint32Array.of(frame.length),
    });
    expect(Array.from(batch.code.subarray(0, batch.reports), (code) => CODE_NAMES[code])).toEqual(list);
    expect(batch.frameCode[0]).toBe(CODES[(list.find((code) => code !== 'OK') ?? 'OK') as keyof typeof CODES]);
  }
  return list;
}

describe('behind a malformed individual report', () => {
  it.each(BROKEN)('reports follow where the lengths end with the payload', (...broken) => {
    const [code] = codes([...GROUP, ...broken]);
    expect(code).not.toBe('OK');
    expect(codes([...GROUP, ...broken, ...POSTCARD, ...EMPTY])).toEqual([code, 'OK', 'OK']);
    expect(codes([...GROUP, ...EMPTY, ...broken, ...POSTCARD])).toEqual(['OK', code, 'OK']);
    expect(codes([...GROUP, ...broken, ...broken, ...EMPTY])).toEqual([code, code, 'OK']);
    // A length of 255 words says: to the end.
    expect(codes([...GROUP, ...broken, ...EMPTY, 0, 255, 0, 0, 1])).toEqual([code, 'OK', 'BAD_REPORT_LENGTH']);
  });

  it.each(BROKEN)('nothing follows where they do not', (...broken) => {
    const [code] = codes([...GROUP, ...broken]);
    // What stands there may look like reports for a while.
    expect(codes([...GROUP, ...broken, ...EMPTY, ...EMPTY, 0, 0])).toEqual([code]);
    expect(codes([...GROUP, ...broken, ...EMPTY, ...POSTCARD.slice(0, 12)])).toEqual([code]);
    expect(codes([...GROUP, ...broken, ...EMPTY, 0, 9, 0, 0])).toEqual([code]);
    expect(codes([...GROUP, ...EMPTY, ...broken, ...EMPTY, 0])).toEqual(['OK', code]);
    // Of a frame that is cut nobody knows where they would have ended.
    expect(codes([...GROUP, ...broken, ...EMPTY, ...POSTCARD], 16)).toEqual([code]);
  });

  it('that is too short by a word nothing follows: the rest is a part of it', () => {
    const longer = [0x00, 1, 0, 0, 1, 2, 3, 4];
    expect(codes([...GROUP, ...longer, 0x10, 0x20, 0x30, 0x40, ...POSTCARD])).toEqual(['BAD_REPORT_LENGTH']);
  });

  it('reports are read as before where the one in front is sound, cut, or of an unknown type', () => {
    expect(codes([...GROUP, ...EMPTY, ...POSTCARD, 0, 0])).toEqual(['OK', 'OK', 'TRAILING_BYTES']);
    expect(codes([...GROUP, ...UNKNOWN, ...POSTCARD, 0, 0])).toEqual([
      'UNSUPPORTED_REPORT_TYPE',
      'OK',
      'TRAILING_BYTES',
    ]);
    expect(codes([...GROUP, ...EMPTY, ...POSTCARD], 4)).toEqual(['OK', 'TRUNCATED']);
    expect(codes([...GROUP, ...EMPTY, ...POSTCARD], 16)).toEqual(['OK', 'TRUNCATED']);
  });

  it('the chain decides, whatever it consists of', () => {
    let open = 0;
    let closed = 0;
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(EMPTY, POSTCARD, UNKNOWN, ...BROKEN), { minLength: 1, maxLength: 8 }),
        fc.integer({ min: 0, max: 3 }),
        (parts, trailing) => {
          const list = codes([...GROUP, ...parts.flat(), ...new Array<number>(trailing).fill(0)]);
          const first = parts.findIndex((part) => BROKEN.includes(part));
          if (first < 0) {
            expect(list.length).toBe(parts.length + (trailing > 0 ? 1 : 0));
          } else if (trailing > 0) {
            expect(list.length).toBe(first + 1);
            open++;
          } else {
            expect(list.length).toBe(parts.length);
            closed++;
          }
        },
      ),
      { seed: SEED, numRuns: 300 },
    );
    expect(Math.min(open, closed)).toBeGreaterThan(20);
  });

  it('decodeReport has thrown already', () => {
    expect(() => decodeReport(Uint8Array.from([...GROUP, ...BROKEN[0]!, ...POSTCARD]))).toThrow('the report length');
  });
});
