/**
 * Runs hostile programs one after the other, in a process that has little memory, and says of each how it ended:
 * `hostile.program.mjs FROM TO STEP` takes each STEPth of these positions, and writes a line of JSON for each.
 */
import { writeSync } from 'node:fs';
import {
  createSwitch,
  formatDiagnostic,
  P4Error,
  runStf,
  type SourceFile,
  StfSyntaxError,
  type V1Switch,
} from '@int/p4vm';
import { CASES } from './cases.js';
import type { HostileCase } from './hostile-case.js';

/** Drops that a limit is the reason of. */
const LIMITS = ['steps', 'size', 'memory', 'loop'] as const;

function load({ text, files, limits }: HostileCase, onLog: (message: string) => void): V1Switch {
  const there = files?.() ?? {};
  const resolve = (path: string): SourceFile | undefined => {
    const found = Object.hasOwn(there, path) ? there[path] : undefined;
    return found === undefined ? undefined : { name: path, text: found };
  };
  return createSwitch({ name: 'hostile.p4', text: text() }, { resolve, onLog, limits });
}

function play(target: V1Switch, { commands, packets = 1, stf }: HostileCase): string {
  if (stf !== undefined) return runStf(target, stf()).passed ? 'result' : 'stf-failed';
  let refused: string | undefined;
  // One by one, as the command line gives them: what they print is not kept.
  for (const line of commands?.().split('\n') ?? []) refused ??= target.command(line).error?.code;
  if (refused !== undefined) return `refused: ${refused}`;
  for (let i = 0; i < packets; i++) target.process(0, new Uint8Array(64).fill(i));
  const dropped: Readonly<Record<string, number>> = { ...target.statistics.dropped };
  const limit = LIMITS.find((reason) => (dropped[reason] ?? 0) > 0);
  return limit === undefined ? 'result' : `dropped: ${limit}`;
}

/** How a case ended, and how many characters it had to say. */
function run(each: HostileCase): { readonly ended: string; readonly said: number } {
  let said = 0;
  try {
    const target = load(each, (message) => {
      said += message.length;
    });
    return { ended: play(target, each), said };
  } catch (error) {
    if (error instanceof StfSyntaxError) return { ended: 'stf-syntax', said: said + error.message.length };
    if (!(error instanceof P4Error)) return { ended: `${error}`.slice(0, 200), said };
    for (const diagnostic of error.diagnostics) said += formatDiagnostic(diagnostic).length;
    return { ended: error.diagnostics.find(({ severity }) => severity === 'error')?.code ?? 'nothing', said };
  }
}

const [from = 0, to = CASES.length, step = 1] = process.argv.slice(2).map(Number);
for (let at = from; at < to; at += step) {
  const each = CASES[at]!;
  const cpu = process.cpuUsage();
  const outcome = run(each);
  const { user, system } = process.cpuUsage(cpu);
  const peakMb = Math.round(process.resourceUsage().maxRSS / 1024);
  writeSync(
    1,
    `${JSON.stringify({ at, name: each.name, ...outcome, cpuMs: Math.round((user + system) / 1000), peakMb })}\n`,
  );
}
