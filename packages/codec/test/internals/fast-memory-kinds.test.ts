import { AcceleratorMemory, type DecodeOptions } from '@int/codec';
import { AcceleratorReport2 } from '@int/codec/internals';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { frame, OPTIONS } from '../fast-arbitraries.js';
import { layOut, wrapEthernet } from '../fast-frames.js';
import { contents, decodeAll, expected, marks } from './fast-oracle.js';

const SEED = Number(process.env.INT_SEED ?? 20201008);
const ROWS = { frames: 64, reports: 64, hops: 700 };
const INPUT_BYTES = 1 << 19;
const FRAMES: DecodeOptions = { ...OPTIONS[1]!, linkType: 'ethernet', reportPorts: [32766] };

/** An accelerator with all that it works on in one memory, the batch and the frames too. */
function place(memory: AcceleratorMemory): {
  accelerator: AcceleratorReport2;
  batch: ReturnType<AcceleratorMemory['batch']>;
  bytes: Uint8Array;
  offsets: Uint32Array;
  lengths: Uint32Array;
} {
  return {
    accelerator: new AcceleratorReport2(memory, marks(FRAMES), 4096),
    batch: memory.batch(ROWS),
    bytes: memory.bytes(INPUT_BYTES),
    offsets: memory.words(256),
    lengths: memory.words(256),
  };
}

describe('the accelerator', () => {
  it('decodes in place what lies in memory that threads share, or beyond 2 GiB', () => {
    const shared = new AcceleratorMemory(8 << 20, true);
    const large = new AcceleratorMemory(2 ** 31 + (16 << 20));
    // Address space that is never touched: what comes behind it has addresses with the upper bit set.
    large.bytes(2 ** 31);
    const places = [place(shared), place(large)];
    expect(places[0]!.batch.buffer).toBeInstanceOf(SharedArrayBuffer);
    expect(places[1]!.bytes.byteOffset).toBeGreaterThan(2 ** 31);
    let accepted = 0;
    fc.assert(
      fc.property(fc.array(frame, { minLength: 1, maxLength: 24 }), fc.nat(9), (payloads, gap) => {
        const frames = payloads.map((bytes, k) => wrapEthernet(bytes, 32766 + (k === 7 ? 1 : 0), k % 3));
        const input = layOut(frames, gap);
        const want = expected(frames, FRAMES, ROWS, input.offsets);
        accepted += want.columns.frame!.length;
        for (const { accelerator, batch, bytes, offsets, lengths } of places) {
          batch.clear();
          bytes.set(input.bytes);
          offsets.set(input.offsets);
          lengths.set(input.lengths);
          const refused = decodeAll(accelerator, batch, { bytes, offsets, lengths }, frames.length);
          expect(refused).toEqual(want.refused);
          const { state: _, ...columns } = contents(batch);
          expect(columns).toEqual(want.columns);
        }
      }),
      { seed: SEED, numRuns: 100 },
    );
    expect(accepted).toBeGreaterThan(100);
  });
});
