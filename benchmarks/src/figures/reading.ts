/** Results, as their programs have written them, and numbers as texts show them. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Head, paragraph, REPOSITORY, readResults } from '@int/harness';

/** A file of benchmarks/results, by its name without the ending. */
export function results<Content extends object>(name: string): Head & Content {
  return readResults<Content>(join(REPOSITORY, 'benchmarks', 'results', `${name}.json`));
}

/** Figures of a program whose results may not have been written yet. */
export function ofFile<Content extends object>(name: string, text: (all: Head & Content) => string): string {
  if (existsSync(join(REPOSITORY, 'benchmarks', 'results', `${name}.json`))) return text(results<Content>(name));
  return paragraph(`There are no results yet: \`npm run bench:${name} -w @int/benchmarks\` writes them.`);
}

/** A file of results of a study. */
export function studied<Content extends object>(study: string, file: string): Head & Content {
  return readResults<Content>(join(REPOSITORY, 'benchmarks', 'studies', study, 'results', file));
}

/**
 * What was measured of a contender. Files from before 2026-11-23 call the accelerator a kernel.
 * @throws Error if there is none of the name
 */
export function contender<Figures>(contenders: Readonly<Record<string, Figures>>, name: string): Figures {
  const found = contenders[name] ?? contenders[name.replace('accelerator', 'kernel')];
  if (found === undefined) throw new Error(`no contender is called ${name}: ${Object.keys(contenders).join(', ')}`);
  return found;
}

/** The first that suits. @throws Error that says what is missing */
export function pick<Row>(rows: readonly Row[], what: string, suits: (row: Row) => boolean): Row {
  const found = rows.find(suits);
  if (found === undefined) throw new Error(`the results have no ${what}`);
  return found;
}

/** A machine, behind "a". */
export function machineOf({ machine, node }: Head): string {
  if (machine === null || node === null) return 'machine that is not known';
  return `${machine.cpus}-core ${machine.cpu.replaceAll('(R)', '')} with Node ${node.slice(1)}`;
}

export const percent = (share: number, digits = 1): string => `${(100 * share).toFixed(digits)} %`;
export const whole = (value: number): string => Math.round(value).toLocaleString('en');
const fixed =
  (digits: number) =>
  (value: number | null): string =>
    value === null ? '' : value.toFixed(digits);
export const one = fixed(1);
export const two = fixed(2);
/** `1.05 to 1.11`, or one of them where they are shown alike. */
export function range(values: readonly number[], show: (value: number) => string): string {
  const [low, high] = [show(Math.min(...values)), show(Math.max(...values))];
  return low === high ? low : `${low} to ${high}`;
}
