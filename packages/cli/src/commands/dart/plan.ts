import { type MemoryPlan, type Policy, planMemory } from '@int/dart';
import type { Command } from 'commander';
import {
  checksumBitsOption,
  copiesOption,
  fraction,
  policyOption,
  policyText,
  valueBytesOption,
} from '../../dart/options.js';
import { EXIT, hasColour, type Io } from '../../io.js';
import { wholeNumber } from '../../options.js';
import { colours } from '../../output/colour.js';
import { DataOutput } from '../../output/data-output.js';
import { byteText, grouped, percent } from '../../output/numbers.js';

interface PlanFlags {
  readonly flows: number;
  readonly success: number;
  readonly valueBytes?: number;
  readonly checksumBits?: number;
  readonly copies?: number;
  readonly policy?: Policy;
  readonly oldest?: true;
  readonly json?: true;
}

export function define(command: Command, io: Io, done: (exitCode: number) => void): void {
  command
    .requiredOption('--flows <K>', 'flows written in an epoch', wholeNumber('a number of flows', 1, 1e15))
    .requiredOption('--success <F>', 'share of queries that are to succeed, such as 0.999 or 99.9%', fraction)
    .addOption(valueBytesOption())
    .addOption(checksumBitsOption())
    .addOption(copiesOption().default(undefined, 'the best'))
    .addOption(policyOption())
    .option('--oldest', 'the share is that of the oldest flow, not the mean over all')
    .option('--json', 'one JSON object')
    .action(async (flags: PlanFlags) => {
      const { flows, success, oldest, json, ...shape } = flags;
      let plan: MemoryPlan;
      try {
        plan = planMemory({ flows, success, ...shape, ...(oldest === true && { measure: 'oldest' }) });
      } catch (error) {
        if (error instanceof RangeError) return command.error(`error: ${error.message}`);
        throw error;
      }
      const output = new DataOutput(io.stdout);
      if (json === true) output.line(planJson(flows, plan));
      else for (const line of planText(flags, plan, io)) output.line(line);
      await output.end();
      done(EXIT.OK);
    });
}

function planJson(flows: number, { bytes, ...plan }: MemoryPlan): string {
  return JSON.stringify({ flows, memory: bytes, ...plan });
}

function planText({ flows, policy = 'plurality' }: PlanFlags, plan: MemoryPlan, io: Io): string[] {
  const colour = colours(hasColour(io));
  const { slots, slotBytes, bytes, bytesPerFlow, copies, load, collectors, oldest } = plan;
  const share = ({ success, empty, wrong }: typeof oldest): string =>
    `${percent(success)} found, ${percent(empty)} empty, ${wrong.toExponential(1)} wrong`;
  return [
    `memory     ${colour.bold(byteText(bytes))}: ${grouped(slots)} slots of ${slotBytes} bytes, ${bytesPerFlow.toFixed(1)} bytes per flow`,
    `copies     ${colour.bold(String(copies))}, policy ${policyText(policy)}`,
    `load       ${load.toFixed(4)} (${grouped(flows)} flows)`,
    `mean       ${share(plan)}`,
    `oldest     ${share(oldest)}`,
    ...(collectors > 1 ? [`collectors ${collectors}: a store has 2^32 - 1 slots at most`] : []),
  ];
}
