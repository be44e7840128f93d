import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Model, Spoiling, Step } from '../model.program.js';
import { BUILDS, MODES, pairFor } from '../pair.js';
import { start } from '../program.js';
import { SEED } from '../seed.js';

const PROGRAM = new URL('../model.program.ts', import.meta.url);

const RUNS = process.env.INT_LONG === '1' ? { plain: 1_000, sanitized: 300 } : { plain: 60, sanitized: 25 };

const slot = fc.nat(2);
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ call: fc.constant('acquire' as const), slot, count: fc.nat(20) }),
  fc.record({ call: fc.constant('transmit' as const), slot }),
  fc.record({ call: fc.constant('receive' as const), slot }),
  fc.record({ call: fc.constant('release' as const), slot }),
  fc.constant({ call: 'wait' as const }),
  fc.record({
    call: fc.constant('spoil' as const),
    slot,
    what: fc.constantFrom(
      'received offset',
      'acquired offset',
      'acquired length',
      'received count',
      'acquired count',
    ) as fc.Arbitrary<Spoiling>,
    row: fc.nat(23),
    // Counts, lengths and places in any of the frames, and numbers far from them.
    value: fc.oneof(
      fc.integer({ min: -1, max: 13 }),
      fc.nat(96 * 2048),
      fc.nat(96).map((frame) => frame * 2048 + 256),
      fc.constantFrom(0x7fff_ffff, 0xffff_f800, 0xffff_ffff, 0.5),
    ),
  }),
);

const sequences = fc.record({
  mode: fc.constantFrom(...MODES),
  frames: fc.constantFrom(8, 16, 64),
  txFrames: fc.constantFrom(2, 8, 32),
  capacity: fc.integer({ min: 1, max: 24 }),
  steps: fc.array(step, { maxLength: 120, size: 'max' }),
});

describe.each(BUILDS)('random sequences of calls through %s', (_name, build) => {
  it('lose no frame and give none out twice', async () => {
    const pair = await pairFor({ together: true });
    const program = await start<Model>(PROGRAM, { at: pair.right, build });
    let sent = 0;
    let received = 0;
    await fc.assert(
      fc.asyncProperty(sequences, async (sequence) => {
        const result = await program.call('run', pair.left.interface, pair.right.interface, sequence);
        sent += result.sent;
        received += result.received;
      }),
      { seed: SEED, numRuns: RUNS[build], endOnFailure: true },
    );
    await program.stop();
    // The sequences must not be all refusals.
    expect(sent).toBeGreaterThan(500);
    expect(received).toBeGreaterThan(sent / 4);
  });
});
