/** What is different in a new configuration, in words. */
import { isDeepStrictEqual } from 'node:util';
import { type IntConfig, nameOf, type SinkConfig } from './config.js';
import { sourceText } from './inputs.js';

/** Members whose change is told by their name. */
const MEMBERS = [
  'device',
  'decode',
  'detect',
  'flows',
  'dart',
  'drain',
  'dashboard',
  'topology',
  'keepUnknownSwitches',
  'workers',
] as const;

function without<T>(list: readonly T[], others: readonly T[]): readonly T[] {
  return list.filter((one) => !others.some((other) => isDeepStrictEqual(one, other)));
}

function sinkChanges(before: readonly SinkConfig[], after: readonly SinkConfig[]): string[] {
  const names = (sinks: readonly SinkConfig[]): string[] => sinks.map(nameOf);
  const [olds, news] = [names(before), names(after)];
  return [
    ...names(without(after, before)).map((name) => `sink ${name} ${olds.includes(name) ? 'replaced' : 'added'}`),
    ...olds.filter((name) => !news.includes(name)).map((name) => `sink ${name} removed`),
  ];
}

/** The changes, each in a few words; empty if there are none. */
export function changes(before: IntConfig, after: IntConfig): string[] {
  return [
    ...without(after.sources, before.sources).map((source) => `${sourceText(source)} added`),
    ...without(before.sources, after.sources).map((source) => `${sourceText(source)} removed`),
    ...MEMBERS.filter((key) => !isDeepStrictEqual(before[key], after[key])).map((key) => `${key} changed`),
    ...sinkChanges(before.sinks ?? [], after.sinks ?? []),
  ];
}
