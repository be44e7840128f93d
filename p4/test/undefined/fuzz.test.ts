import { type ProgramName, programPath } from '@int/p4';
import { loadProgram } from '@int/p4vm/node';
import { describe, expect, test } from 'vitest';
import { Fuzz, faultsOf } from './fuzz.js';
import { undefinedOptions } from './options.js';

const isLong = process.env.INT_LONG === '1';
const PACKETS = isLong ? 1_000_000 : 120;
/** Each begins with another switch. */
const ROUNDS = isLong ? 20 : 1;

const programs: readonly ProgramName[] = ['dart', 'flowcache', 'gpint', 'int', 'intmon'];

describe('any packets, in poison mode', () => {
  test.each(programs)(
    '%s.p4 reads nothing undefined, and nothing beyond stacks and registers',
    (name) => {
      const program = loadProgram(programPath(name));
      const seed = Number(process.env.INT_SEED ?? 1);
      for (let round = 0; round < ROUNDS; round++) {
        const fuzz = new Fuzz(name, program, seed + round, undefinedOptions(seed + round));
        fuzz.run(PACKETS / ROUNDS);
        expect(fuzz.machine.undefinedReads).toEqual([]);
        expect(faultsOf(fuzz.machine)).toBe(0);
        expect(fuzz.machine.statistics.transmitted).toBeGreaterThan(PACKETS / ROUNDS / 20);
      }
    },
    // Some 0.5 to 1 ms a packet.
    isLong ? 3_600_000 : 60_000,
  );
});
