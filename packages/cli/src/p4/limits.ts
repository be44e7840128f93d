import type { Limits } from '@int/p4vm';
import { LIMIT_NAMES, limitLabel } from '@int/p4vm/internals';
import { InvalidArgumentError, Option } from 'commander';

/** Values of `--limit`: limits of the program, and of the command itself. */
export interface LimitFlags extends Partial<Limits> {
  /** Heap limit of the command's thread in megabytes; command-aside reads it first. */
  readonly memory?: number;
  /** Most bytes of captures that a run may write. */
  readonly output?: number;
}

/** 16 GiB. */
export const DEFAULT_OUTPUT_BYTES: number = 2 ** 34;

const NAMES: ReadonlyMap<string, keyof LimitFlags> = /* @__PURE__ */ new Map<string, keyof LimitFlags>([
  ...LIMIT_NAMES.map((name) => [limitLabel(name), name] as const),
  ['memory', 'memory'],
  ['output', 'output'],
]);

function limit(text: string, previous?: LimitFlags): LimitFlags {
  const match = /^([a-z-]+)=([1-9]\d{0,14})$/.exec(text);
  const name = NAMES.get(match?.[1] ?? '');
  if (match === null || name === undefined) {
    throw new InvalidArgumentError(`Give NAME=N with a number from 1 and a NAME of ${[...NAMES.keys()].join(', ')}.`);
  }
  return { ...previous, [name]: Number(match[2]) };
}

export function limitOption(): Option {
  const description =
    'let the program use more, or less: such as steps=1000000; a wrong NAME shows all; repeat for more';
  return new Option('--limit <NAME=N>', description).argParser(limit);
}
