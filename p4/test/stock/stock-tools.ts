import { execFileSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { limit, requires } from '../../../.ci/test/requires.js';

/** The reference compiler and switch. */
export interface StockTools {
  /** p4c's back end for BMv2, with its arguments. */
  readonly compiler: readonly string[];
  readonly simpleSwitch: string;
  readonly commandLine: string;
  readonly python: string;
}

function inPath(name: string): string | undefined {
  return (process.env.PATH ?? '')
    .split(delimiter)
    .map((folder) => join(folder, name))
    .find((path) => isRunnable(path));
}

function isRunnable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Where INT_P4C (`PATH [-I FOLDER]`) and INT_SIMPLE_SWITCH say, or in the search path; without them the test is left out. */
export function stockTools(): StockTools {
  const { INT_P4C, INT_SIMPLE_SWITCH } = process.env;
  const compiler = INT_P4C?.split(/\s+/) ?? [inPath('p4c-bm2-ss')].flatMap((path) => path ?? []);
  const simpleSwitch = INT_SIMPLE_SWITCH ?? inPath('simple_switch');
  if (compiler.length === 0 || simpleSwitch === undefined) {
    return limit('p4c-bm2-ss and simple_switch are in no package registry: see p4/test/stock/README.md');
  }
  const beside = join(dirname(simpleSwitch), 'simple_switch_CLI');
  const commandLine = isRunnable(beside) ? beside : inPath('simple_switch_CLI');
  if (commandLine === undefined) throw new Error(`there is no simple_switch_CLI beside ${simpleSwitch}`);
  return { compiler, simpleSwitch, commandLine, python: python() };
}

/** Python, which simple_switch_CLI needs too; and the right to make network namespaces. */
export function python(): string {
  const path = requires('python3', 'npm run setup:system');
  requires('ip', 'npm run setup:system');
  try {
    execFileSync('unshare', [process.getuid?.() === 0 ? '-n' : '-rn', 'true'], { stdio: 'ignore', timeout: 10_000 });
  } catch {
    return limit('network namespaces cannot be made here');
  }
  return path;
}

/** Compiles a program. @returns path of its JSON */
export function compileStock({ compiler }: StockTools, program: string, folder: string): string {
  const [command = '', ...args] = compiler;
  const json = join(folder, 'program.json');
  execFileSync(command, [...args, '-o', json, program], { stdio: ['ignore', 'ignore', 'pipe'], timeout: 120_000 });
  return json;
}
