import type { RuleProblem, RuleProblemCode } from '../errors.js';
import { nearestName } from './nearest.js';
import { QuantityError, quoted } from './quantity.js';

/** Keys and indices from the root of the rules. */
export type Path = readonly (string | number)[];

/** A problem, with what a reader of text needs to place it. */
export interface Finding {
  readonly problem: RuleProblem;
  /** The problem is the last key of the path, not the value there. */
  readonly atKey: boolean;
  /** The other place that has to do with it, such as the rule of the same name. */
  readonly other: Path | null;
}

/** A mapping of unknown values, without inherited keys. */
export type Mapping = ReadonlyMap<string, unknown>;

/** What a mapping may have. */
export interface Shape {
  /** The mapping in a sentence: `a rule`, `perHop`. */
  readonly what: string;
  /** Key -> what a message writes for it: `name: web-latency`. */
  readonly keys: Readonly<Record<string, string>>;
  readonly required?: readonly string[];
  /** Other names that people give the keys. */
  readonly aliases?: Readonly<Record<string, string>>;
  /** Keys that belong elsewhere -> where. */
  readonly elsewhere?: Readonly<Record<string, string>>;
}

/** A value in a sentence. */
export function described(value: unknown): string {
  if (value === null || value === undefined) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'string') return value === '' ? 'an empty text' : `the text ${quoted(value)}`;
  if (typeof value === 'number') return `the number ${value}`;
  if (typeof value === 'boolean') return String(value);
  return typeof value === 'object' ? 'a mapping' : `a ${typeof value}`;
}

/** `did you mean x?` if a name is near, then all names: the end of a message about an unknown one. */
export function suggestion(text: string, names: readonly string[]): string {
  const near = nearestName(text, names);
  return near === null ? `one of ${names.join(', ')}` : `did you mean ${near}? (one of ${names.join(', ')})`;
}

/** Collects what is wrong. */
export class Findings {
  readonly all: Finding[] = [];

  add(code: RuleProblemCode, path: Path, message: string): void {
    this.all.push({ problem: { code, path, message }, atKey: false, other: null });
  }

  /** A problem of the last key of `path`. */
  addKey(code: RuleProblemCode, path: Path, message: string): void {
    this.all.push({ problem: { code, path, message }, atKey: true, other: null });
  }

  /** A problem between two places. */
  addPair(code: RuleProblemCode, path: Path, other: Path, message: string): void {
    this.all.push({ problem: { code, path, message }, atKey: false, other });
  }

  /** A problem of a piece of the text at `path`. */
  addSpan(
    code: RuleProblemCode,
    path: Path,
    message: string,
    span: { readonly start: number; readonly end: number },
  ): void {
    const { start, end } = span;
    this.all.push({ problem: { code, path, message, span: { start, end } }, atKey: false, other: null });
  }

  /** Runs what may throw a {@link QuantityError}; `null` if it does. */
  attempt<T>(path: Path, run: () => T): T | null {
    try {
      return run();
    } catch (error) {
      if (!(error instanceof QuantityError)) throw error;
      this.add(error.code, path, error.message);
      return null;
    }
  }

  /** A value as a mapping; `null` and a finding if it is none. */
  mapping(value: unknown, path: Path, what: string, example: string): Mapping | null {
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      const prototype: unknown = Object.getPrototypeOf(value);
      if (prototype === null || Object.getPrototypeOf(prototype) === null) {
        // A key without a value is no key; as with optional properties.
        return new Map(Object.entries(value).filter(([, each]) => each !== undefined));
      }
    }
    this.add('WRONG_TYPE', path, `${what} is a mapping, as ${example}, not ${described(value)}`);
    return null;
  }

  /** As {@link mapping}, and checks the keys. */
  shaped(value: unknown, path: Path, shape: Shape, example: string): Mapping | null {
    const mapping = this.mapping(value, path, shape.what, example);
    if (mapping === null) return null;
    const names = Object.keys(shape.keys);
    for (const key of mapping.keys()) {
      if (!Object.hasOwn(shape.keys, key)) this.addKey('UNKNOWN_KEY', [...path, key], unknownKey(key, names, shape));
    }
    for (const key of shape.required ?? []) {
      if (mapping.has(key)) continue;
      this.add('MISSING_KEY', path, `${shape.what} needs ${key}: write ${shape.keys[key]}`);
    }
    return mapping;
  }

  /** Text that is one of some words; `null` and a finding if it is not. */
  choice<T extends string>(value: unknown, path: Path, what: string, words: readonly T[]): T | null {
    const found = words.find((word) => word === value);
    if (found !== undefined) return found;
    if (typeof value === 'string') {
      const near = nearestName(value, words);
      this.add(
        'BAD_VALUE',
        path,
        `${quoted(value)} is no ${what}: write ${words.join(' or ')}${near === null ? '' : `; did you mean ${near}?`}`,
      );
    } else this.add('WRONG_TYPE', path, `${what} is ${words.join(' or ')}, not ${described(value)}`);
    return null;
  }

  /** A whole number of a range; `null` and a finding if it is none. */
  whole(value: unknown, path: Path, what: string, from: number, to: number): number | null {
    if (typeof value !== 'number') {
      const number = typeof value === 'string' && /^\s*-?\d{1,15}\s*$/.test(value) ? Number(value) : null;
      const advice = number === null ? `write one from ${from} to ${to}` : `write ${number} without quotes`;
      this.add('WRONG_TYPE', path, `${what} is a whole number, not ${described(value)}: ${advice}`);
    } else if (!Number.isInteger(value) || value < from || value > to) {
      this.add('BAD_VALUE', path, `${what} is a whole number from ${from} to ${to}, not ${value}`);
    } else return value === 0 ? 0 : value;
    return null;
  }

  /** A number or text, from which a quantity can be read; `null` and a finding if it is neither. */
  numberOrText(value: unknown, path: Path, what: string, example: string): number | string | null {
    if (typeof value === 'number' || typeof value === 'string') return value;
    this.add('WRONG_TYPE', path, `${what} is a number or text, as ${example}, not ${described(value)}`);
    return null;
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

/** A value by a key that anybody may have written. */
function own(record: Readonly<Record<string, string>> | undefined, key: string): string | undefined {
  return record !== undefined && Object.hasOwn(record, key) ? record[key] : undefined;
}
