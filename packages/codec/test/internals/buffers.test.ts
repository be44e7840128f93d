/** Node's Buffers are byte arrays too, and their `slice` gives a view: what is decoded must not hang on to one. */
import { dressed, frame } from '@int/arbitraries';
import { FrameDecoder, recordToJson } from '@int/codec';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runs } from '../../../../.ci/test/length.js';
import { SEED } from './header-samples.js';

fc.configureGlobal({ seed: SEED });

test('records of a frame in a Buffer stay as they are when it is used again', () => {
  fc.assert(
    fc.property(dressed(frame({ maxStackWords: 60 })), ({ bytes, records, options }) => {
      const buffer = Buffer.from(bytes);
      const decoded = new FrameDecoder(options).decode(buffer);
      buffer.fill(0x55);
      expect(decoded.map(recordToJson)).toEqual(records.map(recordToJson));
    }),
    { numRuns: runs(500) },
  );
});
