import { RecordIds, reportRecord } from '@int/collector';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyBatch } from '../../../../../.ci/test/records/batches.js';
import { MESSAGE_CODE } from '../../../src/message/decoder.js';
import { ProtobufEncoder } from '../../../src/message/protobuf-encoder.js';
import { MessageReader } from '../../../src/message/reader.js';
import { MessageSlab, MIN_SLAB_BYTES } from '../../../src/message/slab.js';
import { existing } from '../../message/carried.js';
import { PROTO, plain, reportMessage } from '../../message/proto.js';
import { SEED } from '../../seed.js';

describe('reports as the published messages', () => {
  const encoder = new ProtobufEncoder();
  const slab = new MessageSlab({ messages: 64, bytes: MIN_SLAB_BYTES });

  it('are read by another implementation', () => {
    fc.assert(
      fc.property(anyBatch, ({ batch }) => {
        existing(batch);
        slab.clear();
        const ids = new RecordIds('80000000deadbeef');
        ids.next = 2 ** 40;
        encoder.reports(batch, 0, slab, ids);
        const rows = Array.from({ length: batch.reports }, (_, row) => row).filter((row) => batch.code[row] === 0);
        rows.forEach((row, index) => {
          const record = reportRecord(batch, row, ids.text(2 ** 40 + index));
          expect(plain(PROTO.Report, slab.value(index))).toEqual(reportMessage(record));
        });
      }),
      { seed: SEED, numRuns: 100 },
    );
  });

  it('written by another implementation are read', () => {
    const reader = new MessageReader({ frames: 64, reports: 64, hops: 2048 });
    fc.assert(
      fc.property(anyBatch, ({ batch }) => {
        existing(batch);
        reader.clear();
        const rows = Array.from({ length: batch.reports }, (_, row) => row).filter((row) => batch.code[row] === 0);
        rows.forEach((row, index) => {
          const record = reportRecord(batch, row, `80000000deadbeef-${row}`);
          const value = PROTO.Report.encode(PROTO.Report.fromObject(reportMessage(record))).finish();
          expect(reader.read(value)).toBe(MESSAGE_CODE.OK);
          expect(reader.record(index)).toEqual(record);
        });
      }),
      { seed: SEED, numRuns: 100 },
    );
  });

  it('may have their fields in any order and more than are known', () => {
    const [{ batch }] = fc.sample(
      anyBatch.filter(({ batch: { reports, code, hopCount } }) => reports > 0 && code[0] === 0 && hopCount[0]! > 2),
      { numRuns: 1, seed: SEED },
    ) as [Parameters<typeof anyBatch.filter>[0] extends (value: infer T) => unknown ? T : never];
    existing(batch);
    const record = reportRecord(batch, 0, '80000000deadbeef-7');
    const message = reportMessage(record);
    const pieces = Object.entries(message).map(([key, value]) =>
      PROTO.Report.encode(PROTO.Report.fromObject({ [key]: value })).finish(),
    );
    // Field 100: a varint, a fixed64, bytes, a fixed32.
    const unknown = [
      [0xa0, 0x06, 0xff, 0x01],
      [0xa1, 0x06, 1, 2, 3, 4, 5, 6, 7, 8],
      [0xa2, 0x06, 2, 9, 9],
      [0xa5, 0x06, 1, 2, 3, 4],
    ].map((bytes) => Uint8Array.from(bytes));
    const reader = new MessageReader({ frames: 4 });
    expect(reader.read(Buffer.concat([...unknown, ...pieces.reverse()]))).toBe(MESSAGE_CODE.OK);
    expect(reader.record(0)).toEqual(record);
    // Groups are in no message here.
    expect(reader.read(Buffer.concat([...pieces, Uint8Array.of(0xa3, 0x06)]))).toBe(MESSAGE_CODE.MALFORMED);
  });
});
