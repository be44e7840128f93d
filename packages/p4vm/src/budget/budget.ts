import { type Diagnostics, Stopped } from '../source/diagnostics.js';
import type { Span } from '../source/position.js';
import { type LimitName, type Limits, limitLabel, MAX_MEMBERS, withDefaults } from './limits.js';

/** The resource that a limit bounds, in the words of its diagnostic. */
const WHAT: Readonly<Record<LimitName, string>> = {
  files: 'files are read',
  characters: 'characters are read or made by macros',
  tokens: 'tokens are read or made by macros',
  work: 'steps are needed to check and specialise the program',
  instances: 'parsers, controls, tables, actions, functions and extern objects are specialised',
  codeCharacters: 'characters of code are generated',
  stateBytes: 'bytes are kept while the program runs',
  steps: 'steps may be taken for one packet',
  packetBytes: 'bytes are in one packet',
};

/**
 * How deep a stage may recurse, in levels of expressions and statements: as deep as the parser lets one body be nested, and
 * some calls and instances around it. All stages stay within the stack of a thread as engines make it.
 */
export const MAX_DEPTH = 1000;
/** Levels that a call, an instance or a copy of a generic declaration stands for. */
export const CALL_DEPTH = 8;

/** Units of a resource that are taken between two calls of `onWork`. */
const WORK_STEPS = 8;

/** The resources that a program has left while it is read, checked and compiled. */
export class Budget {
  readonly limits: Limits;
  /** Nesting depth of the current stage. */
  depth = 0;
  readonly #left: Record<LimitName, number>;
  readonly #onWork: (() => void) | undefined;
  #steps = 0;

  /**
   * @param onWork called again and again while the budget is spent
   * @throws RangeError for a limit that is not a whole number from 1
   */
  constructor(limits: Partial<Limits> = {}, onWork?: () => void) {
    this.limits = withDefaults(limits);
    this.#onWork = onWork;
    this.#left = { ...this.limits };
  }

  /** Takes `amount` of a resource. `span` is the place that needs it. @throws Stopped if too little is left */
  spend(name: LimitName, amount: number, span: Span): void {
    this.#left[name] -= amount;
    if (this.#left[name] < 0) this.exceeded(name, span);
    this.work();
  }

  /** The amount taken so far. */
  spent(name: LimitName): number {
    return this.limits[name] - this.#left[name];
  }

  /** @throws Stopped always */
  exceeded(name: LimitName, span: Span): never {
    const limit = this.limits[name];
    const count = limit.toLocaleString('en');
    const raise = `limit ${limitLabel(name)}`;
    throw new Stopped(`limit-${limitLabel(name)}`, span, `more than ${count} ${WHAT[name]} (${raise})`);
  }

  /** Goes `levels` deeper. The caller then calls `leave`, or restores `depth`. @throws Stopped if that is too deep */
  enter(span: Span, levels = 1): void {
    this.depth += levels;
    if (this.depth > MAX_DEPTH) throw tooDeep(span);
    this.work();
  }

  leave(levels = 1): void {
    this.depth -= levels;
  }

  /** Counts a step of work that nothing bounds but what was taken before. */
  work(): void {
    if (this.#onWork === undefined || ++this.#steps < WORK_STEPS) return;
    this.#steps = 0;
    this.#onWork();
  }
}

/** The error that ends a stage which finds more than `MAX_MEMBERS` of something. */
export function tooManyMembers(span: Span): Stopped {
  return new Stopped('too-many-members', span, `more than ${MAX_MEMBERS} in one list`);
}

/** The error that ends a stage whose recursion gets too deep. */
export function tooDeep(span: Span): Stopped {
  return new Stopped('nesting-too-deep', span, 'expressions, statements, calls or instances are nested too deep');
}

/**
 * Runs a stage. A stage that is stopped leaves a diagnostic, and the result is undefined. The same holds for a stage
 * that runs out of stack: `Budget.enter` counts levels to prevent that, but the caller may have used most of the stack
 * before.
 *
 * @param whole the program
 */
export function runStage<T>(diagnostics: Diagnostics, whole: Span, stage: () => T): T | undefined {
  try {
    return stage();
  } catch (error) {
    if (error instanceof Stopped) diagnostics.stop(error);
    else if (isStackOverflow(error)) {
      diagnostics.stop(new Stopped('nesting-too-deep', whole, 'the program is nested deeper than the stack allows'));
    } else throw error;
    return undefined;
  }
}

/** Whether an error is the one that JavaScript engines throw when the stack is used up. */
export function isStackOverflow(error: unknown): boolean {
  return error instanceof RangeError && /call stack/i.test(error.message);
}
