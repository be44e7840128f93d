/** Runs scenarios of every kind with many seeds, and scores them. */
import { LABEL_KINDS, type LabelKind, SCENARIO_KINDS, type ScenarioKind } from '@int/netsim';
import { observe } from '../observe.js';
import { quantile, type Score, scoreOf, sumOf } from './score.js';

/** How one kind of event did in all scenarios. */
export interface KindResult {
  readonly kind: LabelKind;
  readonly labels: number;
  readonly found: number;
  /** Share of labels found; null without labels. */
  readonly recall: number | null;
  readonly falseAlarms: number;
  /** Of these, on links that work, but that flows had been moved off. */
  readonly drained: number;
  readonly repeats: number;
  /** From the beginning to the event, milliseconds; null if none was found. */
  readonly delayMedianMs: number | null;
  readonly delayP90Ms: number | null;
  readonly delayMaxMs: number | null;
  /** All of them, ascending, in whole milliseconds. */
  readonly delaysMs: readonly number[];
}

/** How one kind of scenario did. */
export interface ScenarioKindResult {
  readonly scenario: ScenarioKind;
  readonly labels: number;
  readonly found: number;
  /** By kind of event; those with none are left out. */
  readonly falseAlarms: Readonly<Partial<Record<LabelKind, number>>>;
}

export interface StudyResult {
  readonly seeds: number;
  readonly firstSeed: number;
  readonly scenarios: number;
  /** Virtual time of all scenarios. */
  readonly minutes: number;
  readonly reports: number;
  readonly kinds: readonly KindResult[];
  readonly scenarioKinds: readonly ScenarioKindResult[];
}

export interface StudyOptions {
  readonly seeds: number;
  readonly firstSeed: number;
  /** Default: all. */
  readonly scenarios?: readonly ScenarioKind[];
  /** Watched flows of each scenario. Default: as many as scenarios have. */
  readonly flows?: number;
}

/** A start whose windows of a second begin somewhere else for each seed. */
function startOf(seed: number): number {
  return 1e15 + ((seed * 137) % 1000) * 1e6;
}

function resultOf(score: Score): KindResult {
  const { kind, labels, found, falseAlarms, drained, repeats, delaysMs } = score;
  return {
    ...{ kind, labels, found, falseAlarms, drained, repeats },
    recall: labels === 0 ? null : found / labels,
    delayMedianMs: quantile(delaysMs, 0.5),
    delayP90Ms: quantile(delaysMs, 0.9),
    delayMaxMs: delaysMs.at(-1) ?? null,
    delaysMs: delaysMs.map(Math.round),
  };
}

/** @param say is told what is being done */
export function measure(options: StudyOptions, say: (text: string) => void): StudyResult {
  const { seeds, firstSeed, scenarios = SCENARIO_KINDS, flows } = options;
  const all: Score[] = [];
  let reports = 0;
  let virtualNs = 0;
  const scenarioKinds = scenarios.map((scenario): ScenarioKindResult => {
    const scores: Score[] = [];
    for (let seed = firstSeed; seed < firstSeed + seeds; seed++) {
      const size = flows === undefined ? {} : { flows };
      const seen = observe({ kind: scenario, seed, startNs: startOf(seed), ...size });
      reports += seen.reports;
      virtualNs += seen.endNs - seen.startNs;
      scores.push(...scoreOf(seen).values());
    }
    all.push(...scores);
    const sums = LABEL_KINDS.map((kind) =>
      sumOf(
        scores.filter((score) => score.kind === kind),
        kind,
      ),
    );
    const labels = sums.reduce((sum, score) => sum + score.labels, 0);
    const found = sums.reduce((sum, score) => sum + score.found, 0);
    const falseAlarms = Object.fromEntries(
      sums.filter((score) => score.falseAlarms > 0).map((score) => [score.kind, score.falseAlarms]),
    );
    say(`${scenario}: ${found} of ${labels} labels found in ${seeds} scenarios`);
    return { scenario, labels, found, falseAlarms };
  });
  const kinds = LABEL_KINDS.map((kind) =>
    resultOf(
      sumOf(
        all.filter((score) => score.kind === kind),
        kind,
      ),
    ),
  );
  return {
    seeds,
    firstSeed,
    scenarios: seeds * scenarios.length,
    minutes: virtualNs / 60e9,
    reports,
    kinds,
    scenarioKinds,
  };
}
