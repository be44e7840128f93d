/** Poison mode in the tests of the programs: `INT_POISON=SEED` runs all of them in it. */
import { formatUndefinedRead, type SwitchEnvironment } from '@int/p4vm';

/** Options of switches in tests: with a seed an undefined read is an error. */
export function undefinedOptions(
  seed: string | number | undefined = process.env.INT_POISON,
): Pick<SwitchEnvironment, 'undefined' | 'poisonSeed' | 'onUndefinedRead'> {
  if (seed === undefined) return {};
  return {
    undefined: 'poison',
    poisonSeed: Number(seed),
    onUndefinedRead: (read) => {
      throw new Error(formatUndefinedRead(read));
    },
  };
}
