import { describe, it } from 'vitest';
import { seedOf } from './build.js';
import { expectSame, Random } from './compare.js';
import { ProgramGenerator } from './random-program.js';

const PROGRAMS = Number(process.env.INT_P4_PROGRAMS ?? 150);

describe('random programs', () => {
  it('do compiled what they do interpreted', () => {
    for (let turn = 0; turn < PROGRAMS; turn++) {
      const seed = seedOf() + turn;
      const random = new Random(seed);
      const program = new ProgramGenerator(random).program();
      const packets = Array.from({ length: 6 }, () => random.bytes(random.below(60)));
      try {
        expectSame(program, packets);
      } catch (thrown) {
        if (thrown instanceof Error) thrown.message = `INT_SEED=${seed} INT_P4_PROGRAMS=1\n${thrown.message}`;
        throw thrown;
      }
    }
  });
});
