import { nearestName, quoted, ValueError } from '@int/network/internals';
import type { RuleProblem, RuleProblemCode } from '../errors.js';
import type { Span } from '../expression/model.js';

/** Keys and indices from the root of the rules. */
export type Path = readonly (string | number)[];

/** A problem, with what a reader of text needs to place it. */
export interface Finding {
  readonly problem: RuleProblem;
  /** Whether the problem is the last key of the path, not the value there. */
  readonly atKey: boolean;
  /** Another place that belongs to the problem, such as the rule of the same name. */
  readonly other: Path | null;
}

/** What a mapping may have. */
export interface Shape {
  /** The mapping as messages call it: `a rule`, `perHop`. */
  readonly what: string;
  /** Key -> what messages write for it: `name: web-latency`. */
  readonly keys: Readonly<Record<string, string>>;
  readonly required?: readonly string[];
  /** Other names that people give the keys. */
  readonly aliases?: Readonly<Record<string, string>>;
  /** Keys that belong elsewhere -> where. */
  readonly elsewhere?: Readonly<Record<string, string>>;
}

/** A value as messages describe it. */
export function described(value: unknown): string {
  if (value === null || value === undefined) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'string') return value === '' ? 'an empty text' : `the text ${quoted(value)}`;
  if (typeof value === 'number') return `the number ${value}`;
  if (typeof value === 'boolean') return String(value);
  return typeof value === 'object' ? 'a mapping' : `a ${typeof value}`;
}

/** The end of a message about an unknown name: `did you mean x?` if one is near, then all names. */
export function suggestion(text: string, names: readonly string[]): string {
  const near = nearestName(text, names);
  return near === null ? `one of ${names.join(', ')}` : `did you mean ${near}? (one of ${names.join(', ')})`;
}

/** The values of a mapping by key; inherited keys are not among them. */
export class Mapping extends Map<string, Given> {
  /** Reads the value of a key; `null` if there is none, or if it is wrong. */
  read<T>(key: string, reader: (given: Given) => T | null): T | null {
    const given = this.get(key);
    return given === undefined ? null : reader(given);
  }
}

/** A value as people wrote it, and where it stands. The values of a rule set share a list of what is wrong with them. */
export class Given {
  constructor(
    readonly value: unknown,
    readonly path: Path = [],
    readonly findings: Finding[] = [],
  ) {}

  /** Notes that the value, or a part of it, is wrong. Returns `null`, in place of what was to be read. */
  refuse(
    code: RuleProblemCode,
    message: string,
    { atKey = false, other = null, span }: { atKey?: boolean; other?: Path | null; span?: Span } = {},
  ): null {
    const { path } = this;
    const place = span === undefined ? {} : { span: { start: span.start, end: span.end } };
    this.findings.push({ problem: { code, path, message, ...place }, atKey, other });
    return null;
  }

  /** A value within this one. */
  at(key: string | number, value: unknown): Given {
    return new Given(value, [...this.path, key], this.findings);
  }

  /** Runs what may throw a {@link ValueError}; refuses the value if it does. */
  attempt<T>(run: () => T): T | null {
    try {
      return run();
    } catch (error) {
      if (!(error instanceof ValueError)) throw error;
      return this.refuse(error.code, error.message);
    }
  }

  mapping(what: string, example: string): Mapping | null {
    const { value } = this;
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      const prototype: unknown = Object.getPrototypeOf(value);
      if (prototype === null || Object.getPrototypeOf(prototype) === null) {
        // A key without a value is no key, as with optional properties.
        const entries = Object.entries(value).filter(([, each]) => each !== undefined);
        return new Mapping(entries.map(([key, each]) => [key, this.at(key, each)]));
      }
    }
    return this.refuse('WRONG_TYPE', `${what} is a mapping, as ${example}, not ${described(value)}`);
  }

  /** As {@link mapping}, and checks the keys. */
  shaped(shape: Shape, example: string): Mapping | null {
    const mapping = this.mapping(shape.what, example);
    if (mapping === null) return null;
    const names = Object.keys(shape.keys);
    for (const [key, given] of mapping) {
      if (Object.hasOwn(shape.keys, key)) continue;
      given.refuse('UNKNOWN_KEY', unknownKey(key, names, shape), { atKey: true });
    }
    for (const key of shape.required ?? []) {
      if (!mapping.has(key)) this.refuse('MISSING_KEY', `${shape.what} needs ${key}: write ${shape.keys[key]}`);
    }
    return mapping;
  }

  /** Text that is one of some words. */
  choice<T extends string>(what: string, words: readonly T[]): T | null {
    const { value } = this;
    const found = words.find((word) => word === value);
    if (found !== undefined) return found;
    const all = words.join(' or ');
    if (typeof value !== 'string') return this.refuse('WRONG_TYPE', `${what} is ${all}, not ${described(value)}`);
    const near = nearestName(value, words);
    const hint = near === null ? '' : `; did you mean ${near}?`;
    return this.refuse('BAD_VALUE', `${quoted(value)} is no ${what}: write ${all}${hint}`);
  }

  /** A whole number of a range. */
  whole(what: string, from: number, to: number): number | null {
    const { value } = this;
    if (typeof value !== 'number') {
      const number = typeof value === 'string' && /^\s*-?\d{1,15}\s*$/.test(value) ? Number(value) : null;
      const advice = number === null ? `write one from ${from} to ${to}` : `write ${number} without quotes`;
      return this.refuse('WRONG_TYPE', `${what} is a whole number, not ${described(value)}: ${advice}`);
    }
    if (Number.isInteger(value) && value >= from && value <= to) return value === 0 ? 0 : value;
    return this.refuse('BAD_VALUE', `${what} is a whole number from ${from} to ${to}, not ${value}`);
  }

  /** A number or text, from which a quantity can be read. */
  numberOrText(what: string, example: string): number | string | null {
    const { value } = this;
    if (typeof value === 'number' || typeof value === 'string') return value;
    return this.refuse('WRONG_TYPE', `${what} is a number or text, as ${example}, not ${described(value)}`);
  }
}

function unknownKey(key: string, names: readonly string[], { what, keys, aliases, elsewhere }: Shape): string {
  const start = `${what} has no key ${quoted(key)}`;
  if (key === '<<') return `${start}: merge keys are not read; write the keys out, or use an alias as a value`;
  const alias = own(aliases, key);
  if (alias !== undefined) return `${start}: write ${keys[alias]}`;
  const place = own(elsewhere, key);
  if (place !== undefined) return `${start}: it belongs ${place}`;
  return names.length === 0 ? `${start}: it takes none, write {}` : `${start}: ${suggestion(key, names)}`;
}

/** The value of a key that anybody may have written. */
function own(record: Readonly<Record<string, string>> | undefined, key: string): string | undefined {
  return record !== undefined && Object.hasOwn(record, key) ? record[key] : undefined;
}
