import type { FamilyName, Policy, SimulateOptions, SimulationResult } from '@int/dart';
import { slotsFor } from '@int/dart/internals';
import type { Command } from 'commander';
import { aside } from '../../aside/aside.js';
import { TASKS } from '../../aside/tasks.js';
import {
  addHashOptions,
  checksumBitsOption,
  copiesOption,
  policyOption,
  policyText,
  type ShapeFlags,
  valueBytesOption,
} from '../../dart/options.js';
import { CliError, EXIT, hasColour, type Io, say } from '../../io.js';
import { positiveNumber, wholeNumber } from '../../options.js';
import { colours } from '../../output/colour.js';
import { DataOutput } from '../../output/data-output.js';
import { byteText, grouped } from '../../output/numbers.js';
import { Progress } from '../../output/progress.js';
import { interruptedCode } from '../../stopping.js';

interface SimulateFlags extends ShapeFlags {
  readonly flows: number;
  readonly bytesPerFlow: number;
  readonly copies: number;
  readonly policy?: Policy;
  readonly json?: true;
}

/** Up to this number, keys take less than a second and need no thread of their own. */
const QUICK_KEYS = 500_000;

export function define(command: Command, io: Io, done: (exitCode: number) => void): void {
  command
    .requiredOption('--flows <K>', 'flows; each is written once', wholeNumber('a number of flows', 1, 0xffff_ffff))
    .requiredOption('--bytes-per-flow <B>', 'bytes of slots for each flow', positiveNumber('bytes'))
    .addOption(copiesOption().makeOptionMandatory())
    .addOption(checksumBitsOption())
    .addOption(valueBytesOption())
    .addOption(policyOption());
  addHashOptions(command)
    .option('--json', 'one JSON object; shares are fractions')
    .action(async (flags: SimulateFlags) => {
      const { flows, json, ...options } = flags;
      const { bytesPerFlow, valueBytes = 20, checksumBits = 32 } = options;
      const slots = slotsFor(bytesPerFlow * flows, valueBytes, checksumBits);
      if (slots < 1) command.error('error: there is no room for a slot: give more --bytes-per-flow');
      if (slots >= 2 ** 32) command.error('error: a store has 2^32 - 1 slots at most: give fewer --bytes-per-flow');
      const progress = new Progress(io, false);
      const onProgress = (share: number): void => progress.update(() => `${Math.floor(share * 100)} %`);
      const result = await run({ keys: flows, ...options }, onProgress, io, command);
      progress.done();
      if (result === null) {
        say(io, 'interrupted before there was a result');
        done(interruptedCode(io));
        return;
      }
      const output = new DataOutput(io.stdout);
      if (json === true) output.line(resultJson(result));
      else for (const line of resultText(flags, result, io)) output.line(line);
      await output.end();
      done(EXIT.OK);
    });
}

/** @returns null if it was interrupted */
async function run(
  options: SimulateOptions,
  onProgress: (share: number) => void,
  io: Io,
  command: Command,
): Promise<SimulationResult | null> {
  try {
    if (options.keys <= QUICK_KEYS) return await TASKS.simulate(options, onProgress);
    return await aside('simulate', options, io, onProgress);
  } catch (error) {
    if (error instanceof RangeError) return command.error(`error: ${error.message}`);
    throw new CliError(`the simulation failed: ${(error as Error).message}`, EXIT.OPEN, error);
  }
}

function resultJson({ success, empty, wrong, theory, oldest, ages, ...rest }: SimulationResult): string {
  const { keys: flows, slots, bytes, load, copies, absent, conflict } = rest;
  return JSON.stringify({
    success,
    empty,
    wrong,
    theory: { success: theory.success, empty: theory.empty, wrong: theory.wrong },
    oldest: { success: oldest.success, theory: oldest.theory, flows: oldest.keys },
    absent,
    conflict,
    ages: ages.map((age) => ({ from: age.from, to: age.to, success: age.success, theory: age.theory })),
    flows,
    slots,
    bytes,
    load,
    copies,
  });
}

/** A share with as many digits as the number of keys supports. */
function share(value: number): string {
  return `${(value * 100).toFixed(4)} %`.padStart(12);
}

function resultText(flags: SimulateFlags, result: SimulationResult, io: Io): string[] {
  const colour = colours(hasColour(io));
  const { keys, slots, bytes, load, copies, theory, oldest, ages } = result;
  const { hash = 'xxhash' as FamilyName, seed = 0, policy = 'plurality', bytesPerFlow } = flags;
  const row = (name: string, measured: number, expected: number): string =>
    `${name.padEnd(22)}${share(measured)}${share(expected)}`;
  const percent = (fraction: number): string => `${Math.round(fraction * 1000) / 10}`;
  return [
    `${grouped(keys)} flows in ${grouped(slots)} slots (${byteText(bytes)}, ${bytesPerFlow} bytes per flow), load ${load.toFixed(4)}`,
    `N = ${copies}, ${policyText(policy)}, ${hash}${hash === 'xxhash' ? `, seed ${seed}` : ''}`,
    colour.bold(`${''.padEnd(22)}${'measured'.padStart(12)}${'theory'.padStart(12)}`),
    row('success', result.success, theory.success),
    row('empty', result.empty, theory.empty),
    row('wrong', result.wrong, theory.wrong),
    row('success of the oldest', oldest.success, oldest.theory),
    ...ages.map((age) =>
      colour.dim(row(`  age ${percent(age.from)} to ${percent(age.to)} %`, age.success, age.theory)),
    ),
  ];
}
