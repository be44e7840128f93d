import { RecordIds, reportRecord } from '@int/collector';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../../../.ci/test/length.js';
import { anyBatch } from '../../../../../.ci/test/records/batches.js';
import { MESSAGE_CODE } from '../../../src/message/decoder.js';
import { MESSAGE_FORMATS } from '../../../src/message/encoder.js';
import { partitionHash } from '../../../src/message/key.js';
import { makeEncoder } from '../../../src/message/make-encoder.js';
import { MessageReader } from '../../../src/message/reader.js';
import { MessageSlab, MIN_SLAB_BYTES } from '../../../src/message/slab.js';
import { carried, existing } from '../../message/carried.js';
import { SEED } from '../../seed.js';

describe.each(MESSAGE_FORMATS)('reports as %s', (format) => {
  it('come back with every column that a message carries, and as the same objects', () => {
    const encoder = makeEncoder(format);
    const slab = new MessageSlab({ messages: 64, bytes: MIN_SLAB_BYTES });
    const reader = new MessageReader({ frames: 64, reports: 64, hops: 2048 });
    const ids = new RecordIds('00c0ffee00000001');
    fc.assert(
      fc.property(anyBatch, fc.maxSafeInteger(), ({ batch }, start) => {
        existing(batch);
        slab.clear();
        reader.clear();
        ids.next = Math.floor(Math.abs(start) / 2);
        const before = ids.next;
        expect(encoder.reports(batch, 0, slab, ids)).toBe(batch.reports);
        const rows = Array.from({ length: batch.reports }, (_, row) => row).filter((row) => batch.code[row] === 0);
        expect(slab.count).toBe(rows.length);
        expect(ids.next).toBe(before + rows.length);
        rows.forEach((row, index) => {
          expect(reader.read(slab.value(index))).toBe(MESSAGE_CODE.OK);
          expect(carried(reader.batch, index)).toEqual(carried(batch, row));
          expect(reader.record(index)).toEqual(reportRecord(batch, row, ids.text(before + index)));
          expect(slab.kind[index]).toBe(0);
        });
      }),
      { seed: SEED, numRuns: 150 },
    );
  });

  it('go on with the next slab where the last one was full', () => {
    const encoder = makeEncoder(format);
    const ids = new RecordIds('00c0ffee00000001');
    fc.assert(
      fc.property(anyBatch, ({ batch }) => {
        const all = new MessageSlab({ messages: 64, bytes: MIN_SLAB_BYTES });
        const one = new MessageSlab({ messages: 1, bytes: MIN_SLAB_BYTES });
        ids.next = 0;
        encoder.reports(batch, 0, all, ids);
        ids.next = 0;
        const values: string[] = [];
        for (let row = 0; row < batch.reports; ) {
          one.clear();
          const next = encoder.reports(batch, row, one, ids);
          if (one.count === 1) values.push(Buffer.from(one.value(0)).toString('hex'));
          expect(next).toBeGreaterThan(row);
          row = next;
        }
        expect(values).toEqual(
          Array.from({ length: all.count }, (_, index) => Buffer.from(all.value(index)).toString('hex')),
        );
      }),
      { seed: SEED, numRuns: 50 },
    );
  });

  it('have the flow as key, big-endian, or else the node', () => {
    const encoder = makeEncoder(format);
    const slab = new MessageSlab({ messages: 64, bytes: MIN_SLAB_BYTES });
    fc.assert(
      fc.property(anyBatch, ({ batch }) => {
        slab.clear();
        encoder.reports(batch, 0, slab, new RecordIds());
        const rows = Array.from({ length: batch.reports }, (_, row) => row).filter((row) => batch.code[row] === 0);
        rows.forEach((row, index) => {
          const { flow } = reportRecord(batch, row, '');
          const key = Buffer.from(slab.key(index));
          const node = Buffer.alloc(4);
          node.writeUInt32BE(batch.nodeId[row]!);
          if (flow === null) {
            expect(key).toEqual(node);
            return;
          }
          const bytes = flow.source.includes(':') ? 16 : 4;
          expect(key.length).toBe(2 * bytes + 5);
          expect(key.readUInt32BE(0)).toBe(batch.source0[row]);
          expect(key.readUInt32BE(bytes)).toBe(batch.destination0[row]);
          expect(key[2 * bytes]).toBe(flow.protocol);
          expect(key.readUInt16BE(2 * bytes + 1)).toBe(flow.sourcePort);
          expect(key.readUInt16BE(2 * bytes + 3)).toBe(flow.destinationPort);
          if (bytes === 16) expect(key.readUInt32BE(28)).toBe(batch.destination3[row]);
          expect(slab.partitionHash[index]).toBe(partitionHash(slab.view, slab.keyStart[index]!, slab.keyEnd[index]!));
        });
      }),
      { seed: SEED, numRuns: 80 },
    );
  });

  it('that were damaged give a code and leave nothing', () => {
    const encoder = makeEncoder(format);
    const slab = new MessageSlab({ messages: 64, bytes: MIN_SLAB_BYTES });
    const reader = new MessageReader({ frames: 64, reports: 64, hops: 2048 });
    const damage = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(anyBatch, damage, fc.nat(), ({ batch }, bytes, cut) => {
        slab.clear();
        reader.clear();
        existing(batch);
        encoder.reports(batch, 0, slab, new RecordIds());
        for (let index = 0; index < slab.count; index++) {
          const value = Uint8Array.from(slab.value(index)).subarray(0, (cut % slab.value(index).length) + 1);
          for (const [at, byte] of bytes) value[at % value.length] = byte;
          const rows = reader.batch.reports;
          const hops = reader.batch.hops;
          const code = reader.read(value, format);
          expect(Object.values(MESSAGE_CODE)).toContain(code);
          if (code === MESSAGE_CODE.OK) continue;
          expect([reader.batch.reports, reader.batch.hops]).toEqual([rows, hops]);
        }
        // What is left behind the rows does not show in what is read next.
        reader.clear();
        for (let index = 0; index < slab.count; index++) reader.read(slab.value(index), format);
        const again = new MessageReader({ frames: 64, reports: 64, hops: 2048 });
        for (let index = 0; index < slab.count; index++) again.read(slab.value(index), format);
        expect(reader.batch.reports).toBe(again.batch.reports);
        for (let row = 0; row < again.batch.reports; row++) {
          expect(carried(reader.batch, row)).toEqual(carried(again.batch, row));
        }
      }),
      { seed: SEED, numRuns: 100 },
    );
  });

  it('that are any bytes at all do no harm', () => {
    const reader = new MessageReader({ frames: 4, reports: 4, hops: 256 });
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (value) => {
        reader.clear();
        expect(Object.values(MESSAGE_CODE)).toContain(reader.read(value, format));
        expect(reader.batch.frames).toBe(1);
      }),
      { seed: SEED, numRuns: runs(1000) },
    );
  });
});

describe('a reader', () => {
  it('is full when frames, reports or hops are, and reads the value again after it was cleared', () => {
    const encoder = makeEncoder('protobuf');
    const slab = new MessageSlab({ messages: 64, bytes: MIN_SLAB_BYTES });
    const [{ batch }] = fc.sample(
      anyBatch.filter(({ batch: { reports, code, hopCount } }) => reports > 0 && code[0] === 0 && hopCount[0]! > 2),
      { numRuns: 1, seed: SEED },
    ) as [Parameters<typeof anyBatch.filter>[0] extends (value: infer T) => unknown ? T : never];
    existing(batch);
    encoder.reports(batch, 0, slab, new RecordIds());
    const value = slab.value(0);
    for (const capacity of [
      { frames: 2, reports: 8, hops: 256 },
      { frames: 8, reports: 2, hops: 256 },
      { frames: 512, reports: 512, hops: 256 },
    ]) {
      const reader = new MessageReader(capacity);
      let read = 0;
      while (reader.read(value) === MESSAGE_CODE.OK) read++;
      expect(reader.batch.frames).toBe(read);
      expect(reader.read(value)).toBe(MESSAGE_CODE.FULL);
      reader.clear();
      expect(reader.read(value)).toBe(MESSAGE_CODE.OK);
    }
  });

  it('has a frame for each value, without bytes', () => {
    const reader = new MessageReader({ frames: 2 });
    reader.read(Uint8Array.of(0x7b, 0x7d));
    expect(reader.batch.frames).toBe(1);
    expect(reader.batch.frameCode[0]).toBe(MESSAGE_CODE.MALFORMED);
    expect([reader.batch.frameLength[0], reader.batch.timeNs(0)]).toEqual([0, 0n]);
  });
});

describe('the hash of a key', () => {
  // Apache Kafka: clients/src/test/java/org/apache/kafka/common/utils/UtilsTest.java, testMurmur2.
  it.each([
    ['21', -973932308],
    ['foobar', -790332482],
    ['a-little-bit-long-string', -985981536],
    ['a-little-bit-longer-string', -1486304829],
    ['lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8', -58897971],
    ['abc', 479470107],
  ])('of %j is that of the default partitioner', (key, hash) => {
    const bytes = Buffer.from(`??${key}`);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    expect(partitionHash(view, 2, bytes.length)).toBe(hash & 0x7fffffff);
  });
});

describe('a slab', () => {
  it('refuses to be too small for the longest message', () => {
    expect(() => new MessageSlab({ messages: 0, bytes: MIN_SLAB_BYTES })).toThrow(RangeError);
    expect(() => new MessageSlab({ messages: 1, bytes: MIN_SLAB_BYTES - 1 })).toThrow(RangeError);
  });
});
