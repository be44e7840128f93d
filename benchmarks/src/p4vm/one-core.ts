/** One core for a process, helper threads and all. */
import { spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';

const hasTaskset = spawnSync('taskset', ['--version']).status === 0;
/** The last one: the first has interrupts to serve. */
const core = availableParallelism() - 1;

/** A command line that keeps to one core, where `taskset` is there. */
export function onOneCore(command: readonly string[]): string[] {
  return hasTaskset ? ['taskset', '-c', String(core), ...command] : [...command];
}
