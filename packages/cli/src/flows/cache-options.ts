import type { MetricName } from '@int/codec';
import { FlowStage, type SweepOptions } from '@int/collector';
import { type Command, InvalidArgumentError } from 'commander';
import { given, ifGiven } from '../given.js';
import { CliError, EXIT } from '../io.js';
import { duration, wholeNumber } from '../options.js';

/** Values of the options for a flow cache, parsed by commander. */
export interface CacheFlags {
  readonly rows?: number;
  readonly buckets?: number;
  readonly hops?: number;
  readonly metrics?: readonly MetricName[];
  /** In nanoseconds. */
  readonly idle?: number;
}

const time = duration('a time', 2 ** 31 - 1);

function idleTime(text: string): number {
  const ns = time(text);
  if (ns === 0) throw new InvalidArgumentError('Give a time above 0; without the option, flows stay.');
  return ns;
}

/** Adds `--rows`, `--buckets` and `--idle`. @param cache its name in the help @param idle the help of `--idle` */
export function addCacheOptions(command: Command, cache: string, idle: string): Command {
  return command
    .option('--rows <R>', `rows of ${cache} (524288)`, wholeNumber('a number of rows', 1, 1 << 28))
    .option('--buckets <B>', 'flows that fit into a row (12)', wholeNumber('a number of buckets', 1, 64))
    .option('--idle <DURATION>', idle, idleTime);
}

/** @throws CliError if memory is insufficient */
export function flowStageOf({ rows, buckets, hops, metrics, idle }: CacheFlags, sweep?: SweepOptions): FlowStage {
  try {
    const idleNs = ifGiven(idle, (ns) => BigInt(Math.ceil(ns)));
    return new FlowStage(given({ rows, buckets, hops, metrics, idleNs, sweep: ifGiven(idle, () => sweep) }));
  } catch (error) {
    // The options were checked before, so a RangeError means that memory is insufficient.
    if (!(error instanceof RangeError)) throw error;
    throw new CliError(`no memory for so large a cache (${error.message}): give fewer --rows`, EXIT.USAGE, error);
  }
}
