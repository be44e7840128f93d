/** Messages about a network interface that goes down or away and comes back. */
import type { Outage } from '@int/collector';
import { Option } from 'commander';

/** The reaction to an interface that goes down or away. */
export type OnDown = 'wait' | 'exit';

/** `--on-down`. */
export function onDownOption(context = ''): Option {
  return new Option(
    '--on-down <WHAT>',
    `${context}when an interface goes down or away: wait for it, or exit (wait)`,
  ).choices(['wait', 'exit']);
}

/** Listeners that print a line when an interface goes, and one when it is back. */
export function linkWords(
  name: string,
  tell: (message: string) => void,
): { readonly onProblem: (problem: Error) => void; readonly onRecovered: (outage: Outage) => void } {
  return {
    onProblem: ({ message }) => tell(`${message} Waiting for it.`),
    onRecovered: ({ lastedMs }) => tell(`${name} is up again after ${(lastedMs / 1000).toFixed(1)} s`),
  };
}
