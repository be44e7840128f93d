import { Writable } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DataOutput } from '../../src/output/data-output.js';
import { PacedOutput } from '../../src/output/paced-output.js';
import { SEED } from '../seed.js';

/** A reader that takes one write at a time, when told to. */
class Reader extends Writable {
  text = '';
  /** Characters written to it, taken or not. */
  written = 0;
  #take: (() => void) | null = null;

  constructor() {
    super({ highWaterMark: 1, decodeStrings: true });
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.written += chunk.length;
    this.#take = (): void => {
      this.text += chunk.toString();
      this.#take = null;
      done();
    };
  }

  async take(): Promise<void> {
    this.#take?.();
    for (let turn = 0; turn < 3; turn++) await new Promise(setImmediate);
  }
}

describe('paced output', () => {
  test('keeps the order, refuses no line while there is room, and keeps no more than its limit and a line', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof(fc.constant('take' as const), fc.integer({ min: 0, max: 40 })), { maxLength: 60 }),
        fc.integer({ min: 1, max: 100 }),
        async (steps, limit) => {
          const reader = new Reader();
          const paced = new PacedOutput(new DataOutput(reader), limit);
          const accepted: string[] = [];
          let length = 0;
          for (const step of steps) {
            if (step === 'take') {
              await reader.take();
              continue;
            }
            const line = 'x'.repeat(step);
            const isFull = paced.isFull;
            // What is kept is what was accepted and not yet written.
            expect(isFull).toBe(paced.isBehind && length - reader.written > limit);
            expect(paced.add(line)).toBe(!isFull);
            if (isFull) continue;
            accepted.push(line);
            length += line.length + 1;
            void paced.flush();
          }
          while (paced.isBehind) await reader.take();
          expect(reader.text).toBe(accepted.map((line) => `${line}\n`).join(''));
        },
      ),
      { seed: SEED, numRuns: 60 },
    );
  });

  test('is full for good when the reader has gone', async () => {
    const reader = new Reader();
    const paced = new PacedOutput(new DataOutput(reader), 1000);
    expect(paced.add('a')).toBe(true);
    const written = paced.flush();
    expect(paced.isBehind).toBe(true);
    reader.destroy();
    await written;
    expect(paced.isBehind).toBe(false);
    expect(paced.add('b')).toBe(false);
    expect(paced.flush()).toBeUndefined();
  });
});
