import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeWatermark, encodeWatermark, messageKind, type Watermark } from '../../../src/index.js';
import { MESSAGE_FORMATS } from '../../../src/message/encoder.js';
import { PROTO, plain } from '../../message/proto.js';
import { SEED } from '../../seed.js';

const schema = JSON.parse(readFileSync(new URL('../../../schema/int.schema.json', import.meta.url), 'utf8')) as object;
const validate = new Ajv2020({ strict: true, allowUnionTypes: true }).compile(schema);

const word = fc.integer({ min: 0, max: 0xffffffff });
const watermarks: fc.Arbitrary<Watermark> = fc
  .record({
    instanceHigh: word,
    instanceLow: word,
    timeMs: fc.nat(2 ** 31).map((ms) => 1_700_000_000_000 + ms),
    ahead: fc.nat(100_000),
    dropped: fc.oneof(fc.constant(0), fc.maxSafeNat()),
    ended: fc.boolean(),
  })
  .map(({ ahead, ...one }) => ({ ...one, clockMs: one.timeMs + ahead }));

describe('a watermark', () => {
  it('is the same after a way through bytes, and what the published schemas describe', () => {
    fc.assert(
      fc.property(watermarks, (watermark) => {
        for (const format of MESSAGE_FORMATS) {
          expect(decodeWatermark(encodeWatermark(watermark, format), format)).toEqual(watermark);
        }
        const json: unknown = JSON.parse(Buffer.from(encodeWatermark(watermark, 'json')).toString());
        expect(validate(json) ? null : validate.errors).toBeNull();
        const { timeNs, clockNs, dropped } = plain(PROTO.Watermark, encodeWatermark(watermark, 'protobuf'));
        expect([timeNs, clockNs]).toEqual([`${watermark.timeMs}000000`, `${watermark.clockMs}000000`]);
        expect(dropped ?? '0').toBe(String(watermark.dropped));
      }),
      { seed: SEED, numRuns: 200 },
    );
  });

  it('is none if its bytes are cut, changed, or anything else', () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 60 }),
      fc.tuple(watermarks, fc.constantFrom(...MESSAGE_FORMATS), fc.nat()).map(([watermark, format, cut]) => {
        const value = encodeWatermark(watermark, format);
        return value.subarray(0, cut % value.length);
      }),
    );
    fc.assert(
      fc.property(bytes, fc.constantFrom(...MESSAGE_FORMATS), (value, format) => {
        const read = decodeWatermark(value, format);
        if (read !== null) expect(read.timeMs).toBeLessThanOrEqual(read.clockMs);
      }),
      { seed: SEED, numRuns: 500 },
    );
    for (const text of ['{}', 'null', '[]', '{"type":"report"}', '{"type":"watermark","instance":"x"}']) {
      expect(decodeWatermark(Buffer.from(text), 'json')).toBeNull();
    }
  });

  it('is known by its headers, and other types are others', () => {
    const headers = (type: string): [Uint8Array, Uint8Array][] => [[Buffer.from('type'), Buffer.from(type)]];
    expect(messageKind(headers('watermark'))).toEqual({ type: 'watermark', format: null });
    expect(messageKind(headers('report'))).toEqual({ type: 'report', format: null });
    expect(messageKind(headers('something'))).toEqual({ type: 'other', format: null });
    expect(messageKind([[null, null]])).toEqual({ type: null, format: null });
  });
});
