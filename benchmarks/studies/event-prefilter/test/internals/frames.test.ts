import { AcceleratorMemory, decodeFrame, encodeFrame } from '@int/codec';
import { Random } from '@int/random';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { DECODE_OPTIONS, QueueFrames, queueRecord, SHAPES, shapeFrames, shapeRecord } from '../../src/frames.js';
import { SEED } from '../seed.js';

it('the frames of the trace are those that encodeFrame makes, byte for byte, checksums included', () => {
  const frames = new QueueFrames(new AcceleratorMemory(1 << 20), 3);
  fc.assert(
    fc.property(fc.nat(2), fc.nat(0xff_ffff), fc.nat(0xff_fffe), (index, sequence, queueNs) => {
      frames.set(index, sequence, queueNs);
      const from = frames.offsets[index]!;
      const frame = frames.bytes.subarray(from, from + frames.lengths[index]!);
      expect(frame).toEqual(encodeFrame(queueRecord(sequence, queueNs)));
      const [record] = decodeFrame(frame, { ...DECODE_OPTIONS, verifyChecksums: true });
      expect(record?.status).toBe('ok');
      expect(record?.hops).toEqual([{ nodeId: 7, queueId: 0, queueOccupancy: queueNs }]);
    }),
    { seed: SEED, numRuns: 500 },
  );
});

it('the reports of each shape decode to hops and items of that shape', () => {
  const memory = new AcceleratorMemory(16 << 20);
  for (const shape of SHAPES) {
    const { bytes, offsets, lengths } = shapeFrames(memory, shape, 20, 1);
    const random = new Random(1).derive(`shape ${shape.hops}x${shape.items}`);
    for (let k = 0; k < 20; k++) {
      const [record] = decodeFrame(bytes.subarray(offsets[k]!, offsets[k]! + lengths[k]!), DECODE_OPTIONS);
      const made = shapeRecord(shape, k, random);
      expect(record?.status).toBe('ok');
      expect(record?.hops).toEqual(made.hops);
      expect(record?.flow).toEqual(made.flow);
      expect(record?.hops).toHaveLength(shape.hops);
    }
  }
});
