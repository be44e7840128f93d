import { formatUndefinedRead, type SwitchEnvironment, type V1Switch } from '@int/p4vm';
import type { Command } from 'commander';
import { EXIT, type Io, say } from '../io.js';
import { wholeNumber } from '../options.js';
import { printable } from '../output/printable.js';

export interface PoisonFlags {
  /** Seed. */
  readonly poison?: number;
}

const LARGEST_SEED = 2 ** 32 - 1;

export function addPoisonOption(command: Command): Command {
  return command.option(
    '--poison <SEED>',
    'give what is undefined random values, and tell where the program depends on them (exit code 1 if it does)',
    wholeNumber('a seed', 0, LARGEST_SEED),
  );
}

/** The switch's options from `--poison`. */
export function poisonOf({ poison }: PoisonFlags): Pick<SwitchEnvironment, 'undefined' | 'poisonSeed'> {
  return poison === undefined ? {} : { undefined: 'poison', poisonSeed: poison };
}

/** Reports undefined reads. Returns the exit code: `exitCode` if there are none. */
export function reportUndefinedReads(
  target: Pick<V1Switch, 'undefinedReads'>,
  { poison }: PoisonFlags,
  io: Io,
  exitCode: number = EXIT.OK,
): number {
  if (poison === undefined) return exitCode;
  const reads = target.undefinedReads;
  for (const read of reads) io.stderr.write(`${printable(formatUndefinedRead(read))}\n`);
  say(io, reads.length === 0 ? 'no undefined reads' : `${reads.length} undefined read${reads.length === 1 ? '' : 's'}`);
  return reads.length === 0 ? exitCode : EXIT.INPUT;
}
