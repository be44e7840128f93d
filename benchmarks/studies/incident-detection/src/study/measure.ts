/** Every scenario with many seeds, and the thresholds of the detectors from far too low to far too high. */
import type { KnowledgeOptions } from '@int/knowledge';
import { ATTACK_KINDS, type AttackKind } from '@int/netsim';
import { play, playShifts, type ShiftOptions } from './observe.js';
import { precisionOf, recallOf, type Score, sumOf } from './score.js';

export interface ScenarioResult {
  readonly scenario: AttackKind;
  readonly attacks: number;
  readonly found: number;
  readonly falseAlarms: number;
  /** `null` without attacks, and without incidents. */
  readonly recall: number | null;
  readonly precision: number | null;
  readonly delayMedianMs: number | null;
  readonly delayMaxMs: number | null;
  readonly delaysMs: readonly number[];
  /** The seed with the fewest found, then with the most false alarms, then with the longest delay. */
  readonly worstSeed: number;
}

export interface CurvePoint {
  /** The threshold, and how many times its default that is. */
  readonly value: number;
  readonly times: number;
  readonly recall: number | null;
  readonly precision: number | null;
  readonly falseAlarms: number;
}

export interface Curve {
  readonly name: string;
  /** Which option of the plane. */
  readonly option: string;
  readonly points: readonly CurvePoint[];
}

export interface StudyResult {
  readonly seeds: number;
  readonly firstSeed: number;
  readonly scenarios: readonly ScenarioResult[];
  readonly curves: readonly Curve[];
  /** Beacons by the share of their period by which they vary. */
  readonly jitter: readonly { readonly jitter: number; readonly recall: number }[];
}

export interface StudyOptions {
  readonly seeds: number;
  readonly firstSeed: number;
  readonly isShort: boolean;
}

interface Sweep {
  readonly name: string;
  readonly option: string;
  readonly scenarios: readonly AttackKind[];
  readonly values: readonly number[];
  readonly default: number;
  readonly set: (value: number) => KnowledgeOptions;
  /** Where the threshold is a function of the option. */
  readonly thresholdOf?: (value: number) => number;
}

/** What a walk has to reach: see `RandomWalk`. */
const logOfBound = (falsePositives: number): number => Math.log(0.99 / falsePositives);

const SWEEPS: readonly Sweep[] = [
  {
    name: 'SYN flood',
    option: 'leastSyns',
    scenarios: ['syn-flood', 'flash-crowd', 'calm'],
    values: [1, 2, 5, 12, 25, 50, 100, 200, 400, 800, 1600, 3200, 6400, 12_800],
    default: 50,
    set: (leastSyns) => ({ leastSyns }),
  },
  {
    name: 'DDoS',
    option: 'leastPackets',
    scenarios: ['reflection', 'pulsing', 'flash-crowd', 'calm'],
    values: [6, 12, 25, 50, 100, 200, 400, 800, 1600, 3200, 6400, 12_800],
    default: 200,
    set: (leastPackets) => ({ leastPackets }),
  },
  {
    name: 'scans',
    option: 'randomWalk.falsePositives',
    scenarios: ['scan-vertical', 'scan-horizontal', 'scan-slow', 'backup', 'calm'],
    values: [0.5, 0.2, 0.05, 1e-2, 1e-3, 1e-4, 1e-5, 1e-7, 1e-10, 1e-15, 1e-25, 1e-50, 1e-100],
    default: 1e-5,
    set: (falsePositives) => ({ randomWalk: { falsePositives } }),
    thresholdOf: logOfBound,
  },
];
const JITTERS = [0, 0.1, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5];
const SHIFT_THRESHOLDS = [2, 4, 6, 8, 12, 17, 24, 34, 48, 68, 96, 136];
const SHIFT_DEFAULT = 17;
const SHIFTS: ShiftOptions = { metrics: 1000, seconds: 1800, shifts: 20, factor: 1.2, shiftSeconds: 60 };

/** @param say is told what is being done */
export function measure({ seeds, firstSeed, isShort }: StudyOptions, say: (text: string) => void): StudyResult {
  const all = Array.from({ length: seeds }, (_, k) => firstSeed + k);
  // Every fourth of the thresholds, the default, and the last.
  const some = (values: readonly number[], usual: number): readonly number[] =>
    isShort ? values.filter((value, k) => k % 4 === 0 || value === usual || k === values.length - 1) : values;

  const scenarios = ATTACK_KINDS.map((scenario): ScenarioResult => {
    const scores = all.map((seed) => play(scenario, seed));
    const sum = sumOf(scores);
    say(`${scenario}: ${sum.found} of ${sum.attacks} attacks found, ${sum.falseAlarms} false alarms`);
    return {
      scenario,
      attacks: sum.attacks,
      found: sum.found,
      falseAlarms: sum.falseAlarms,
      recall: recallOf(sum),
      precision: precisionOf(sum),
      delayMedianMs: sum.delaysMs[Math.floor(sum.delaysMs.length / 2)] ?? null,
      delayMaxMs: sum.delaysMs.at(-1) ?? null,
      delaysMs: sum.delaysMs.map(Math.round),
      worstSeed: firstSeed + worstOf(scores),
    };
  });

  const curves = SWEEPS.map(({ name, option, values, default: usual, set, thresholdOf = Number, ...sweep }): Curve => {
    const points = some(values, usual).map((value) => {
      const scores = sweep.scenarios.flatMap((scenario) => all.map((seed) => play(scenario, seed, set(value))));
      return pointOf(value, thresholdOf(value) / thresholdOf(usual), sumOf(scores));
    });
    say(`${name}: ${points.length} thresholds`);
    return { name, option, points };
  });

  const options = isShort ? { ...SHIFTS, metrics: 100, seconds: 600, shifts: 4 } : SHIFTS;
  const shifts = some(SHIFT_THRESHOLDS, SHIFT_DEFAULT).map((threshold) => {
    const scores = all.map((seed) => playShifts(seed, threshold, options));
    return pointOf(threshold, threshold / SHIFT_DEFAULT, sumOf(scores));
  });
  say(`shifts of queues: ${shifts.length} thresholds`);

  const jitter = (isShort ? [0, 0.5] : JITTERS).map((share) => ({
    jitter: share,
    recall: recallOf(sumOf(all.map((seed) => play('beacon', seed, {}, { jitter: share }))))!,
  }));
  say(`beacons: ${jitter.length} jitters`);

  return {
    seeds,
    firstSeed,
    scenarios,
    curves: [...curves, { name: 'congestion', option: 'threshold', points: shifts }],
    jitter,
  };
}

function pointOf(value: number, times: number, score: Score): CurvePoint {
  return { value, times, recall: recallOf(score), precision: precisionOf(score), falseAlarms: score.falseAlarms };
}

/** Where, in the list, the worst score is. */
function worstOf(scores: readonly Score[]): number {
  const missed = ({ attacks, found }: Score): number => attacks - found;
  const isWorse = (a: Score, b: Score): boolean => {
    if (missed(a) !== missed(b)) return missed(a) > missed(b);
    if (a.falseAlarms !== b.falseAlarms) return a.falseAlarms > b.falseAlarms;
    return (a.delaysMs.at(-1) ?? 0) > (b.delaysMs.at(-1) ?? 0);
  };
  return scores.reduce((worst, score, k) => (isWorse(score, scores[worst]!) ? k : worst), 0);
}
