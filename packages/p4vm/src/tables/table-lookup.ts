import type { RuntimeValue } from '../machine/runtime.js';
import type { KeyWords } from './key-words.js';
import type { MatchIndex } from './match-index.js';
import type { BoundAction } from './table.js';

/** The data of a table's lookup functions. */
export interface LookupParts {
  readonly index: MatchIndex;
  readonly words: KeyWords;
  /** Per key, in order: whether it is a selector key. */
  readonly isSelector: readonly boolean[];
  /** Receives the values of selector keys. */
  readonly selectorValues: RuntimeValue[];
  /** The action of a slot; slot -1 is a miss. */
  found(slot: number): BoundAction;
}

/** Makes `TableRuntime.lookup`: a function with one parameter per key. For few keys it needs no array. */
export function createLookup(parts: LookupParts): (...keys: readonly RuntimeValue[]) => BoundAction {
  const { index, words, isSelector, selectorValues } = parts;
  const count = isSelector.length;
  if (!isSelector.includes(true)) {
    if (count === 0) return () => parts.found(-1);
    if (words.words.length === 1) return (a: RuntimeValue) => parts.found(index.find1(a as number));
    if (count === 1) return (a: RuntimeValue) => parts.found(index.find(words.load1(a)));
    if (count === 2) return (a: RuntimeValue, b: RuntimeValue) => parts.found(index.find(words.load2(a, b)));
    return (...values) => parts.found(index.find(words.load(values)));
  }
  const matched: RuntimeValue[] = [];
  const hasMatched = isSelector.includes(false);
  return (...values) => {
    let selectors = 0;
    let others = 0;
    for (let i = 0; i < values.length; i++) {
      if (isSelector[i]) selectorValues[selectors++] = values[i]!;
      else matched[others++] = values[i]!;
    }
    return parts.found(hasMatched ? index.find(words.load(matched)) : -1);
  };
}

/** Makes `TableRuntime.lookupWords`; undefined for tables with selector keys. */
export function createWordLookup(parts: LookupParts): ((...words: readonly number[]) => BoundAction) | undefined {
  if (parts.isSelector.includes(true)) return undefined;
  const { index } = parts;
  const { words } = parts.words;
  switch (words.length) {
    case 0:
      return () => parts.found(-1);
    case 1:
      return (a: number) => parts.found(index.find1(a));
    case 2:
      return (a: number, b: number) => {
        words[0] = a;
        words[1] = b;
        return parts.found(index.find(words));
      };
    case 3:
      return (a: number, b: number, c: number) => {
        words[0] = a;
        words[1] = b;
        words[2] = c;
        return parts.found(index.find(words));
      };
    case 4:
      return (a: number, b: number, c: number, d: number) => {
        words[0] = a;
        words[1] = b;
        words[2] = c;
        words[3] = d;
        return parts.found(index.find(words));
      };
    default:
      return (...given) => {
        for (let i = 0; i < given.length; i++) words[i] = given[i]!;
        return parts.found(index.find(words));
      };
  }
}
