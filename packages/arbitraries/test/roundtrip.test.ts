import { isDeepStrictEqual } from 'node:util';
import {
  dressed,
  encodeOptionsFor,
  frame,
  type GeneratedFrame,
  plainPacket,
  reportPayload,
  reportRecords,
  telemetryRecord,
} from '@int/arbitraries';
import { decodeFrame, encodeFrame, FrameDecoder, recordFromJson, recordToJson, type TelemetryRecord } from '@int/codec';
import { PROFILES } from '@int/codec/internals';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runs } from '../../../.ci/test/length.js';
import { SEED } from './seed.js';

fc.configureGlobal({ seed: SEED });

const json = (records: readonly TelemetryRecord[]): unknown => records.map(recordToJson);

/** Deep equality of what is shown; the slow comparison, for its message, only where they differ. */
function same(actual: readonly TelemetryRecord[], expected: readonly TelemetryRecord[]): void {
  if (!isDeepStrictEqual(json(actual), json(expected))) expect(json(actual)).toEqual(json(expected));
}

function decodesBack({ bytes, records, options }: GeneratedFrame): void {
  same(new FrameDecoder(options).decode(bytes), records);
}

/** Values that shrinking comes to: some steps down from a generated one, each to one of the first few candidates. */
class Shrunk<T> extends fc.Arbitrary<T> {
  readonly #inner: fc.Arbitrary<T>;

  constructor(inner: fc.Arbitrary<T>) {
    super();
    this.#inner = inner;
  }

  override generate(random: fc.Random, bias: number | undefined): fc.Value<T> {
    let value = this.#inner.generate(random, bias);
    for (let steps = random.nextInt(1, 25); steps > 0; steps--) {
      const smaller = this.#inner.shrink(value.value_, value.context).getNthOrLast(random.nextInt(0, 3));
      if (smaller === null) break;
      value = smaller;
    }
    return value;
  }

  override canShrinkWithoutContext(value: unknown): value is T {
    return this.#inner.canShrinkWithoutContext(value);
  }

  override shrink(): fc.Stream<fc.Value<T>> {
    return fc.Stream.nil();
  }
}

describe('records', () => {
  test('decoding an encoded record gives the record, under default options', () => {
    fc.assert(
      fc.property(telemetryRecord(), (record) => {
        same(decodeFrame(encodeFrame(record)), [record]);
      }),
      { numRuns: runs(2000) },
    );
  });

  test.each(PROFILES)('decoding an encoded record gives the record, under profile %s', (profile) => {
    const options = { profile, reportPorts: [32766] };
    fc.assert(
      fc.property(telemetryRecord({ options }), (record) => {
        same(decodeFrame(encodeFrame(record, encodeOptionsFor(options)), options), [record]);
      }),
      { numRuns: runs(300) },
    );
  });

  test('decoding the encoded reports of a datagram gives the reports', () => {
    fc.assert(
      fc.property(reportRecords(), (records) => {
        same(decodeFrame(encodeFrame(records)), records);
      }),
      { numRuns: runs(300) },
    );
  });

  test('a record comes back from its JSON text', () => {
    fc.assert(
      fc.property(telemetryRecord(), (record) => {
        const back = recordFromJson(JSON.parse(JSON.stringify(recordToJson(record))));
        expect(isDeepStrictEqual(back, record)).toBe(true);
      }),
      { numRuns: runs(300) },
    );
  });
});

describe('frames', () => {
  test('what a frame shrinks to decodes to its records too', () => {
    fc.assert(fc.property(new Shrunk(dressed(frame())), decodesBack), { numRuns: runs(150) });
  });

  test('a generated frame decodes to its records', () => {
    fc.assert(fc.property(frame(), decodesBack), { numRuns: runs(1500) });
  });

  test('a dressed frame decodes to the same records', () => {
    fc.assert(fc.property(dressed(frame()), decodesBack), { numRuns: runs(1500) });
  });

  test('a report payload decodes to its records', () => {
    fc.assert(fc.property(reportPayload(), decodesBack), { numRuns: runs(800) });
  });

  test('a plain packet decodes to one record that is not INT, dressed or not', () => {
    fc.assert(
      fc.property(dressed(plainPacket()), (generated) => {
        expect(generated.records.map(({ status }) => status)).toEqual(['not-int']);
        decodesBack(generated);
      }),
      { numRuns: runs(800) },
    );
  });
});
