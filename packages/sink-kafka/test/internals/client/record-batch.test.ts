import { Reader, readRecordsBatch } from '@platformatic/kafka';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { COMPRESSIONS, RecordBatchWriter, recordBytes, recordHeaders } from '../../../src/client/record-batch.js';
import { varintLength, writeVarint } from '../../../src/client/varint.js';
import { SEED } from '../../seed.js';
import { type Message, message, parcelOf } from '../parcels.js';

const HEADERS = [
  recordHeaders([['type', 'report']]),
  recordHeaders([]),
  recordHeaders([
    ['type', 'flow'],
    ['format', 'x'.repeat(200)],
  ]),
];
const TEXTS = [
  [['type', 'report']],
  [],
  [
    ['type', 'flow'],
    ['format', 'x'.repeat(200)],
  ],
];

const available = COMPRESSIONS.filter((each) => each !== 'zstd');

test('a record batch is what the client reads back, however it is compressed', () => {
  const writers = available.map((each) => new RecordBatchWriter(each));
  fc.assert(
    fc.property(
      fc.array(message, { minLength: 1, maxLength: 300 }),
      fc.record({
        id: fc.bigInt(0n, 2n ** 62n),
        epoch: fc.nat(32_767),
        sequence: fc.nat(2 ** 31 - 1),
        timeMs: fc.nat(),
      }),
      fc.infiniteStream(fc.boolean()),
      (messages, header, chosen) => {
        const parcel = parcelOf(messages);
        const rows = Uint32Array.from(messages.keys()).filter((row) => row === 0 || chosen.next().value === true);
        const { epoch: producerEpoch, id: producerId, sequence, timeMs } = header;
        const numbers = { producerId, producerEpoch, sequence, timeMs };
        for (const writer of writers) {
          const bytes = writer.write(parcel.slab, rows, 0, rows.length, HEADERS, numbers);
          const batch = readRecordsBatch(Reader.from(bytes));
          expect(batch).toMatchObject({
            firstOffset: 0n,
            length: bytes.length - 12,
            magic: 2,
            lastOffsetDelta: rows.length - 1,
            firstTimestamp: BigInt(timeMs),
            maxTimestamp: BigInt(timeMs),
            producerId,
            producerEpoch,
            firstSequence: sequence,
          });
          const read = batch.records.map(({ headers, key, offsetDelta, timestampDelta, value }) => ({
            key: [...key!],
            value: [...value!],
            offsetDelta,
            timestampDelta,
            headers: headers.map((pair) => pair.map(String)),
          }));
          const expected = [...rows].map((row, index) => {
            const { key, kind, value } = messages[row] as Message;
            const headers = TEXTS[kind];
            return { key: [...key], value: [...value], offsetDelta: index, timestampDelta: 0n, headers };
          });
          expect(read).toEqual(expected);
        }
        const plain = writers[0]!.write(parcel.slab, rows, 0, rows.length, HEADERS, numbers);
        const bound = rows.reduce((sum, row) => sum + recordBytes(parcel.slab, row, HEADERS), 61);
        expect(plain.length).toBeLessThanOrEqual(bound);
      },
    ),
    { seed: SEED, numRuns: 60 },
  );
});

test('variable-length integers have 7 bits a byte, lowest first', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 2 ** 31 - 1 }), (value) => {
      const bytes = new Uint8Array(8);
      const end = writeVarint(bytes, 1, value);
      expect(end - 1).toBe(varintLength(value));
      let read = 0;
      for (let at = 1; at < end; at++) {
        expect(bytes[at]! >= 0x80).toBe(at < end - 1);
        read += (bytes[at]! & 0x7f) * 2 ** (7 * (at - 1));
      }
      expect(read).toBe(value);
    }),
    { seed: SEED },
  );
});

test('a compression that this version of Node does not have is refused', () => {
  expect(() => new RecordBatchWriter('brotli' as never)).toThrow(/brotli/);
});
