/** Plays each scenario with many seeds, and says how far off the bars the worst of them is. */
import { Progress } from '@int/harness';
import type { Values } from '../scenarios/scenario.js';
import { MEASURES, type Measure, meets, SCENARIO_NAMES, SCENARIOS, type ScenarioName } from './measures.js';
import { Played } from './played.js';

export interface StudyOptions {
  readonly seeds: number;
  readonly firstSeed: number;
  readonly scenarios: readonly ScenarioName[];
  /** See {@link Played}. */
  readonly played: readonly string[];
}

export interface MeasureResult {
  readonly scenario: ScenarioName;
  readonly name: string;
  /** Seeds that do not meet the bar. */
  readonly missed: readonly number[];
  readonly median: number | null;
  readonly p90: number | null;
  readonly worst: number | null;
  readonly worstSeed: number | null;
  /** By seed, from the first one on; `null`: it has not happened. */
  readonly values: readonly (number | null)[];
}

export interface StudyResult {
  readonly seeds: number;
  readonly firstSeed: number;
  readonly scenarios: readonly ScenarioName[];
  readonly measures: readonly MeasureResult[];
}

/** @param say is told what is being done */
export async function measure(
  { seeds, firstSeed, scenarios, played }: StudyOptions,
  say: (text: string) => void,
): Promise<StudyResult> {
  const store = new Played(played);
  const progress = new Progress(seeds * scenarios.length, 'scenarios', say);
  const values = new Map<ScenarioName, Values[]>(scenarios.map((scenario) => [scenario, []]));
  for (let seed = firstSeed; seed < firstSeed + seeds; seed++) {
    for (const scenario of scenarios) {
      let outcome = store.get(scenario, seed);
      if (outcome === undefined) {
        outcome = { scenario, seed, values: await SCENARIOS[scenario](seed) };
        store.add(outcome);
      }
      values.get(scenario)!.push(outcome.values);
      progress.step();
    }
  }
  const measures = MEASURES.filter(({ scenario }) => scenarios.includes(scenario)).map((each) =>
    resultOf(
      each,
      values.get(each.scenario)!.map((all) => all[each.name] ?? null),
      firstSeed,
    ),
  );
  const named = SCENARIO_NAMES.filter((name) => scenarios.includes(name));
  return { seeds, firstSeed, scenarios: named, measures };
}

function resultOf(each: Measure, values: readonly (number | null)[], firstSeed: number): MeasureResult {
  const ascending = values.filter((value) => value !== null).sort((a, b) => a - b);
  const quantile = (share: number): number | null =>
    ascending[Math.min(ascending.length - 1, Math.floor(share * ascending.length))] ?? null;
  // Where more is better, the least is the worst.
  const isMoreBetter = each.bar?.least !== undefined && each.bar.least > 0;
  const none = values.indexOf(null);
  const worst = none >= 0 ? null : quantile(isMoreBetter ? 0 : 1);
  const at = none >= 0 ? none : values.indexOf(worst);
  return {
    ...{ scenario: each.scenario, name: each.name },
    missed: values.flatMap((value, k) => (meets(each, value) ? [] : [firstSeed + k])),
    ...{ median: quantile(0.5), p90: quantile(0.9), worst },
    worstSeed: at < 0 ? null : firstSeed + at,
    values,
  };
}
