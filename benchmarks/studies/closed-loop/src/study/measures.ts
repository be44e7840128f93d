/** What is measured of each scenario, and the bars that each seed shall meet. */
import { congestion } from '../scenarios/congestion.js';
import { linkFailure } from '../scenarios/link-failure.js';
import { scan } from '../scenarios/scan.js';
import type { Values } from '../scenarios/scenario.js';
import { synFlood } from '../scenarios/syn-flood.js';

export interface Measure {
  readonly scenario: ScenarioName;
  /** Of the value in the scenario's {@link Values}. */
  readonly name: string;
  readonly text: string;
  readonly unit: 'ms' | 'share' | 'ratio' | 'count';
  /** A seed meets the bar if the value is there, and within. */
  readonly bar?: { readonly least?: number; readonly most?: number };
}

/** Plays a scenario by its seed. */
export const SCENARIOS = {
  'link-failure': linkFailure,
  congestion,
  'syn-flood': synFlood,
  scan,
} as const satisfies Readonly<Record<string, (seed: number) => Promise<Values>>>;

export type ScenarioName = keyof typeof SCENARIOS;
export const SCENARIO_NAMES = Object.keys(SCENARIOS) as readonly ScenarioName[];

export const MEASURES: readonly Measure[] = [
  { scenario: 'link-failure', name: 'event', text: 'link fails → event', unit: 'ms' },
  { scenario: 'link-failure', name: 'installed', text: 'link fails → new tables', unit: 'ms' },
  { scenario: 'link-failure', name: 'delivered', text: 'link fails → all flows delivered', unit: 'ms', bar: {} },
  { scenario: 'congestion', name: 'below', text: 'large flows → highest load < 0.8', unit: 'ms', bar: { most: 3000 } },
  { scenario: 'congestion', name: 'reached', text: 'highest load in the end', unit: 'share', bar: { most: 0.8 } },
  { scenario: 'congestion', name: 'ofDivided', text: 'of the linear program’s', unit: 'ratio' },
  {
    scenario: 'congestion',
    name: 'ofUndivided',
    text: 'of the best of whole flows',
    unit: 'ratio',
    bar: { most: 1.1 },
  },
  { scenario: 'congestion', name: 'movesInCycle', text: 'moves in a cycle', unit: 'count', bar: { most: 5 } },
  { scenario: 'congestion', name: 'cycles', text: 'cycles', unit: 'count' },
  { scenario: 'syn-flood', name: 'blocked', text: 'flood begins → blocked', unit: 'ms' },
  {
    scenario: 'syn-flood',
    name: 'harmfulBelow',
    text: 'flood begins → harmful < 10 %',
    unit: 'ms',
    bar: { most: 5000 },
  },
  { scenario: 'syn-flood', name: 'benignLoss', text: 'benign packets lost', unit: 'share', bar: { most: 0.01 } },
  { scenario: 'syn-flood', name: 'renewed', text: 'renewals while it lasts', unit: 'count', bar: { least: 1 } },
  { scenario: 'syn-flood', name: 'removed', text: 'flood ends → block removed', unit: 'ms', bar: {} },
  { scenario: 'scan', name: 'convicted', text: 'scan begins → arithmetic says so', unit: 'ms' },
  { scenario: 'scan', name: 'blocked', text: 'arithmetic says so → blocked', unit: 'ms', bar: { least: 0 } },
  { scenario: 'scan', name: 'passed', text: 'probes behind the block', unit: 'count', bar: { most: 0 } },
];

/** Whether a value meets its bar. */
export function meets({ bar }: Measure, value: number | null): boolean {
  if (bar === undefined) return true;
  return (
    value !== null &&
    value >= (bar.least ?? Number.NEGATIVE_INFINITY) &&
    value <= (bar.most ?? Number.POSITIVE_INFINITY)
  );
}
