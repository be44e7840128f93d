import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { programPath } from '@int/p4';
import { findWarnings } from '@int/p4vm';
import { describe, expect, test } from 'vitest';
import { Fuzz } from './fuzz.js';
import { edited, loadMutant, type Mutant, mutants } from './mutants.js';
import { undefinedOptions } from './options.js';

const isLong = process.env.INT_LONG === '1';
/** Of how many mutants one is tried by default. */
const ONE_IN = 50;
/** Programs that are looked at in a tenth of a second. */
const SMALL: ReadonlySet<string> = new Set(['gpint', 'intmon']);
/** Packets until a mutant counts as not found. */
const PACKETS = 3000;

/** What poison mode says of a mutant; undefined if it finds nothing. */
function findingOf(mutant: Mutant): string | undefined {
  const fuzz = new Fuzz(mutant.program, loadMutant(mutant), 1, undefinedOptions(1));
  try {
    fuzz.run(PACKETS);
  } catch (error) {
    if (!(error instanceof Error) || !error.message.includes('undefined value')) throw error;
    return error.message;
  }
  return undefined;
}

describe('undefined reads that are planted', () => {
  test('are a hundred, each in a place of its own that is there', () => {
    expect(mutants).toHaveLength(100);
    expect(new Set(mutants.map(({ file, find, replace }) => `${file} ${find} ${replace}`)).size).toBe(100);
    for (const mutant of mutants) {
      const path = join(dirname(programPath(mutant.program)), mutant.file);
      expect(edited(readFileSync(path, 'utf8'), mutant)).not.toBe('');
    }
  });

  test(
    'are found by poison mode: at least 95 of 100',
    () => {
      const tried = mutants.filter((_, index) => isLong || index % ONE_IN === 0);
      const missed = tried.filter((mutant) => findingOf(mutant) === undefined);
      expect(missed.length, JSON.stringify(missed, null, 1)).toBeLessThanOrEqual(0.05 * tried.length);
    },
    isLong ? 600_000 : 60_000,
  );

  // Some depend on nothing undefined: what they leave out is written again before it is read.
  test(
    'are warned of: at least 95 of 100',
    () => {
      const tried = mutants.filter(({ program }) => isLong || SMALL.has(program));
      // The programs themselves give no warning.
      const missed = tried.filter((mutant) => findWarnings(loadMutant(mutant)).list.length === 0);
      expect(missed.length, JSON.stringify(missed, null, 1)).toBeLessThanOrEqual(0.05 * tried.length);
    },
    isLong ? 600_000 : 60_000,
  );
});
