import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeSeriesFrame, encodeSeriesFrame } from '../../src/protocol/frame.js';

const frames = fc
  .tuple(
    fc.integer({ min: 1, max: 0xffff }),
    fc.nat(),
    fc.nat({ max: 4e12 }),
    fc.nat({ max: 20 }),
    fc.integer({ min: 1, max: 6 }),
  )
  .chain(([id, sequence, t0, n, columns]) =>
    fc
      .array(fc.float32Array({ minLength: n, maxLength: n }), { minLength: columns, maxLength: columns })
      .map((values) => ({ id, sequence, t0, dt: 100, n, columns: n === 0 ? [] : values })),
  );

test('a frame is read as it was written', () => {
  fc.assert(
    fc.property(frames, (frame) => {
      expect(decodeSeriesFrame(encodeSeriesFrame(frame).buffer)).toEqual(frame);
    }),
  );
});

test('a frame has the layout that others rely on', () => {
  const bytes = encodeSeriesFrame({ id: 0x0201, sequence: 7, t0: 1000, dt: 100, n: 1, columns: [Float32Array.of(1)] });
  expect(Buffer.from(bytes).toString('hex')).toBe(
    ['01', '01', '0102', '07000000', '0000000000408f40', '0000c842', '01000000', '0000803f'].join(''),
  );
});

test('bytes that are no frame are none, whatever they are', () => {
  fc.assert(
    fc.property(frames, fc.nat(), fc.uint8Array({ maxLength: 8 }), (frame, cut, more) => {
      const bytes = encodeSeriesFrame(frame);
      const kept = bytes.subarray(0, cut % bytes.length);
      const mangled = Uint8Array.from([...kept, ...more]);
      const read = decodeSeriesFrame(mangled.buffer);
      if (read !== null) expect(read.columns.every(({ length }) => length === read.n)).toBe(true);
    }),
  );
});
