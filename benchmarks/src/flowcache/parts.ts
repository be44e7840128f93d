/** The parts of the benchmark, which can be measured one by one, and what each has in the file of results. */
import { surroundings } from '../surroundings.js';

/** Members of the file by part. */
const MEMBERS = {
  speed: ['speed', 'reinserting'],
  events: ['rates', 'readers'],
  latency: ['latency'],
  shards: ['shards'],
  rounding: ['rounding'],
} as const;
export type Part = keyof typeof MEMBERS;
export const PARTS: readonly Part[] = Object.keys(MEMBERS) as Part[];

/** The parts that `--only` names. @throws RangeError for a name that is none */
export function partsOf(text: string): Part[] {
  return text.split(',').map((name) => {
    const part = PARTS.find((each) => each === name);
    if (part === undefined) throw new RangeError(`--only takes ${PARTS.join(', ')}, not "${name}"`);
    return part;
  });
}

/** Where and when one part was measured by itself, and how. */
interface Measured {
  readonly settings: unknown;
  readonly [name: string]: unknown;
}

/** A file of results. */
export interface ResultsFile {
  readonly settings: unknown;
  readonly targets: Readonly<Record<string, boolean>>;
  /** Parts that were measured after the rest, by themselves. */
  readonly measuredAlone?: Readonly<Partial<Record<Part, Measured>>>;
  readonly [name: string]: unknown;
}

/** The file with some parts measured anew: all else stays, with the time and the machine that it has. */
export function mergeParts(before: ResultsFile, now: ResultsFile, parts: readonly Part[]): ResultsFile {
  const around = Object.fromEntries(Object.keys(surroundings()).map((name) => [name, now[name]]));
  const replaced = Object.fromEntries(parts.flatMap((part) => MEMBERS[part].map((name) => [name, now[name]])));
  const measured = Object.fromEntries(parts.map((part) => [part, { ...around, settings: now.settings }]));
  return {
    ...before,
    ...replaced,
    targets: { ...before.targets, ...now.targets },
    measuredAlone: { ...before.measuredAlone, ...measured },
  };
}
