/** decode -> JSON text -> record -> encode -> decode must give the same JSON: that is what `int decode` and `int encode` do. */

import { isDeepStrictEqual } from 'node:util';
import { dressed, encodeOptionsFor, frame, malformed, plainPacket } from '@int/arbitraries';
import {
  type DecodeOptions,
  encodeFrame,
  FrameDecoder,
  type RecordJson,
  recordFromJson,
  recordToJson,
  type TelemetryRecord,
} from '@int/codec';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runs } from '../../../.ci/test/length.js';

/** The long form goes on for an hour at most. */
const TIME_LIMIT_MS = process.env.INT_LONG === '1' ? 3_600_000 : 180_000;

const SEED = Number(process.env.INT_SEED ?? 20_250_219);
fc.configureGlobal({ seed: SEED });
const RUNS = process.env.INT_LONG === '1' ? 60_000 : 800;

const textOf = (records: readonly TelemetryRecord[]): string => JSON.stringify(records.map(recordToJson));

/** Encoded frames are Ethernet, whatever the first one was. */
function again(text: string, options: DecodeOptions): TelemetryRecord[] {
  const records = (JSON.parse(text) as RecordJson[]).map(recordFromJson);
  const bytes = encodeFrame(records, encodeOptionsFor(options));
  return new FrameDecoder({ ...options, linkType: 'ethernet' }).decode(bytes);
}

/** Deep equality of the JSON: the order of names is not part of it. */
function same(first: string, second: string): void {
  if (!isDeepStrictEqual(JSON.parse(first), JSON.parse(second))) expect(JSON.parse(second)).toEqual(JSON.parse(first));
}

describe('records in JSON', () => {
  // Thousands of frames, through JSON and back.
  test(
    'of generated frames in any dressing encode and decode to the same JSON',
    () => {
      const all = dressed(fc.oneof({ arbitrary: frame(), weight: 9 }, { arbitrary: plainPacket(), weight: 1 }));
      fc.assert(
        fc.property(all, ({ bytes, options }) => {
          const text = textOf(new FrameDecoder(options).decode(bytes));
          same(text, textOf(again(text, options)));
        }),
        { numRuns: RUNS },
      );
    },
    TIME_LIMIT_MS,
  );

  // Thousands of frames, through JSON and back.
  test(
    'of changed frames that are still sound encode and decode to the same JSON',
    () => {
      const options = { reportPorts: [32766] };
      const decoder = new FrameDecoder(options);
      let sound = 0;
      fc.assert(
        fc.property(malformed(frame({ options })), (bytes) => {
          const records = decoder.decode(bytes);
          if (records.some(({ status }) => status !== 'ok' && status !== 'not-int')) return;
          sound++;
          const text = textOf(records);
          same(text, textOf(again(text, options)));
        }),
        { numRuns: RUNS },
      );
      expect(sound).toBeGreaterThan(RUNS / 10);
    },
    TIME_LIMIT_MS,
  );

  test('with the bytes of the frame beside them give those bytes back', () => {
    fc.assert(
      fc.property(malformed(frame()), (bytes) => {
        const line = JSON.stringify({ frameHex: Buffer.from(bytes).toString('hex') });
        const back = Buffer.from((JSON.parse(line) as { frameHex: string }).frameHex, 'hex');
        expect(Buffer.compare(back, bytes)).toBe(0);
      }),
      { numRuns: runs(500) },
    );
  });

  test('of frames that are not sound are refused by the encoder', () => {
    const decoder = new FrameDecoder();
    const [broken] = fc
      .sample(malformed(frame({ options: {} })), { numRuns: 500, seed: SEED })
      .map((bytes) => decoder.decode(bytes))
      .filter(([record]) => record!.status === 'truncated');
    expect(() => encodeFrame(broken!)).toThrow(TypeError);
  });
});
