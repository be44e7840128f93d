/** What a trial of dialects is not sure of. */
import { CODES, type CodeName } from '@int/codec';
import { CODE_MESSAGES } from '@int/codec/internals';
import type { Reading } from './reading.js';
import type { Tried } from './trial.js';

/** Frames below this share of what is read are not worth a doubt. */
const WORTH_TELLING = 0.01;

/** Fewer frames prove little. */
const FEW = 10;

const frames = (count: number): string => `${count} ${count === 1 ? 'frame' : 'frames'}`;

/**
 * @param ranked profiles, the best first
 * @param wrong what is wrong with frames that the best one does not read
 */
export function doubtsOf(
  [best, ...others]: readonly Tried[],
  isFound: boolean,
  wrong: readonly (readonly [CodeName, number])[],
): string[] {
  const doubts: string[] = [];
  const only: [profile: string, frames: number][] = [];
  const otherwise: [profile: string, frames: number][] = [];
  if (isFound) {
    const { ok } = best!.reading;
    if (ok < FEW) doubts.push(`${frames(ok)} ${ok === 1 ? 'proves' : 'prove'} little: a larger sample says more`);
    const least = Math.max(1, WORTH_TELLING * best!.reading.ok);
    const isDialect = best!.profile !== 'spec';
    const alike = others.filter(({ reading }) => isDialect && isSame(reading, best!.reading));
    if (alike.length > 0) doubts.push(`${listed(best!, alike)} read this sample alike: only the tool's name decides`);
    for (const other of others) {
      const { different, more } = compare(best!.reading, other.reading);
      if (more >= least) only.push([other.profile, more]);
      if (different >= least) otherwise.push([other.profile, different]);
    }
    if (otherwise.length > 0) doubts.push(`${countsText(otherwise)} as well, with other values`);
    // Profiles that read the same frames are named once, by the first of them.
    const [first] = only.sort(([, a], [, b]) => b - a);
    if (first !== undefined) doubts.push(`${frames(first[1])} can be read only with profile ${first[0]}`);
  }
  for (const [code, count] of wrong.slice(0, 3)) {
    doubts.push(`${frames(count)} ${count === 1 ? 'is' : 'are'} not read: ${CODE_MESSAGES[CODES[code]]} (${code})`);
  }
  return doubts;
}

/** `profile a reads 3 frames`, or `profiles a, b and 2 more read up to 3 frames`. */
function countsText(counts: readonly (readonly [profile: string, frames: number])[]): string {
  const sorted = [...counts].sort(([, a], [, b]) => b - a);
  const [name, count] = sorted[0]!;
  if (sorted.length === 1) return `profile ${name} reads ${frames(count)}`;
  const names = sorted.slice(0, 2).map(([each]) => each);
  const more = sorted.length - names.length;
  return `profiles ${more > 0 ? `${names.join(', ')} and ${more} more` : names.join(' and ')} read up to ${frames(count)}`;
}

const listed = (best: Tried, alike: readonly Tried[]): string => {
  const names = [best, ...alike].map(({ profile }) => profile);
  return `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
};

/** Frames that two readings read as well as each other, with different values, and frames that only the second one reads. */
function compare(a: Reading, b: Reading): { readonly different: number; readonly more: number } {
  let different = 0;
  let more = 0;
  for (let frame = 0; frame < a.worth.length; frame++) {
    if (b.worth[frame]! <= 0) continue;
    if (a.worth[frame]! <= 0) more++;
    else if (a.worth[frame] === b.worth[frame] && a.digests[frame] !== b.digests[frame]) different++;
  }
  return { different, more };
}

function isSame(a: Reading, b: Reading): boolean {
  return a.worth.every((worth, frame) => worth === b.worth[frame] && a.digests[frame] === b.digests[frame]);
}
