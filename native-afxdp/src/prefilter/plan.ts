import { type DetectorConfig, type Match, overlaps, type Rule, type RuleSet } from '@int/detect';
import { MAX_RULES } from './layout.js';
import { placeOf } from './metrics.js';

/**
 * Why a rule is left to user space:
 *
 * - `detector`: the kernel does not have it: change, pathChange, complex, baseline, rate, absent, burst.
 * - `alpha`: the kernel has no floats.
 * - `metric`: not an item of an INT v2.1 hop.
 * - `switchThresholds`: the kernel has one threshold for all switches.
 * - `sample`: which reports are looked at depends on those that were not.
 * - `adapt`: its threshold moves with the values of all reports.
 * - `mac`: the kernel does not compare MAC addresses.
 * - `match`: the kernel does not compare DSCP, groups of hosts, switches, queues and egress interfaces.
 * - `decideAll`: every rule that matches looks, and the kernel has one rule decide.
 * - `lifecycle`: its events have a beginning and an end, for which user space sees all values.
 * - `room`: 16 rules or more come before it.
 * - `behindMac`: reports that a rule with MAC addresses (or a `match`) does not match come to it in user space, which would then hold
 *   other state than the kernel.
 * - `sharedState`: it shares state with a rule that is left to user space.
 */
export type LeftReason =
  | 'detector'
  | 'alpha'
  | 'metric'
  | 'switchThresholds'
  | 'sample'
  | 'adapt'
  | 'mac'
  | 'match'
  | 'decideAll'
  | 'lifecycle'
  | 'room'
  | 'behindMac'
  | 'sharedState';

/** What becomes of the reports that a rule matches. */
export interface PlannedRule {
  readonly rule: Rule;
  /** True: the kernel decides and filters. False: all its reports are handed on, and user space decides. */
  readonly inKernel: boolean;
  /** Why it is not in the kernel; `null` if it is. */
  readonly reason: LeftReason | null;
  /** The same as a sentence without a full stop. */
  readonly message: string | null;
}

/** What the kernel does with a set of rules. */
export interface PrefilterPlan {
  /** All rules, highest priority first. The kernel's table holds the first 16, those left to user space as well. */
  readonly rules: readonly PlannedRule[];
  /** What becomes of reports that no rule of the table matches. */
  readonly otherwise: 'pass' | 'drop';
  /** Whether the kernel filters anything at all. */
  readonly filters: boolean;
}

type Refusal = readonly [reason: LeftReason, message: string];

/** Why the kernel cannot run a rule, whatever the others are. */
function refusalOf({ detector, match, sample, adapt, lifecycle }: Rule): Refusal | null {
  if (isForHosts(detector)) return ['detector', `the kernel has no ${detector.kind} detector`];
  if ('alpha' in detector) return ['alpha', 'the kernel has no float average: give a weight of 0 to 15'];
  if ('metric' in detector && placeOf(detector.metric) === null) {
    return ['metric', `the kernel does not read ${detector.metric}`];
  }
  if ('switchThresholds' in detector && (detector.switchThresholds?.size ?? 0) > 0) {
    return ['switchThresholds', 'the kernel has one threshold for all switches'];
  }
  if (sample !== null) return ['sample', 'sampling decides before the detector, and by reports that it passes over'];
  if (adapt !== null) return ['adapt', 'its threshold moves while it runs'];
  if (hasMac(match)) return ['mac', 'the kernel does not compare MAC addresses'];
  if (needsUserSpace(match))
    return ['match', 'the kernel compares no DSCP, groups of hosts, switches, queues or interfaces'];
  if ((lifecycle ?? null) !== null) return ['lifecycle', 'its events have a beginning and an end'];
  return null;
}

const FOR_HOSTS = ['change', 'pathChange', 'complex', 'baseline', 'rate', 'absent', 'burst'] as const;
type ForHosts = (typeof FOR_HOSTS)[number];

/** Whether the kernel does not have a detector at all. */
export function isForHosts(detector: DetectorConfig): detector is Extract<DetectorConfig, { readonly kind: ForHosts }> {
  return (FOR_HOSTS as readonly string[]).includes(detector.kind);
}

function hasMac({ sourceMac, destinationMac }: Match): boolean {
  return sourceMac !== null || destinationMac !== null;
}

/** Whether a match has parts that the kernel leaves out when it compares. */
function needsUserSpace(match: Match): boolean {
  return (
    hasMac(match) ||
    [match.dscp, match.hops, match.sourceGroup, match.destinationGroup, match.group].some(
      (part) => (part ?? null) !== null,
    )
  );
}

/** The state that a detector shares with others of its kind and metric; `null`: none, or none that the kernel has too. */
function stateOf(detector: DetectorConfig): string | null {
  switch (detector.kind) {
    case 'perHop':
    case 'perFlow':
      return `${detector.kind} ${detector.metric}`;
    case 'movingAverage':
      return 'alpha' in detector ? null : `${detector.kind} ${detector.metric}`;
    default:
      return null;
  }
}

/**
 * Says which rules the kernel runs and which it leaves to user space, and why. The rules in both places together give
 * the events that all of them give on all reports: where state would be written in both places, neither rule that uses
 * it is in the kernel.
 *
 * The kernel looks at reports as detection does: of the rules that match, that of highest priority decides, alone.
 * All reports of a rule that is left are handed on.
 *
 * @param rules as `compileRules` or `readRules` of `@int/detect` give them; thresholds are in the unit of the device
 */
export function planPrefilter(rules: RuleSet): PrefilterPlan {
  const order = byPriority(rules.rules);
  const left = new Map<Rule, Refusal>();
  const all: Refusal | null =
    rules.decide === 'all'
      ? ['decideAll', 'every rule that matches looks at a report, and the kernel has one decide']
      : null;
  for (const [place, rule] of order.entries()) {
    const refusal = refusalOf(rule) ?? all;
    if (refusal !== null) left.set(rule, refusal);
    else if (place >= MAX_RULES) {
      left.set(rule, ['room', `the kernel's table holds ${MAX_RULES} rules, and so many come before it`]);
    }
  }
  leaveBehindMacs(order, left);
  leaveSharedState(order, left);
  return {
    rules: order.map((rule) => {
      const refusal = left.get(rule);
      return refusal === undefined
        ? { rule, inKernel: true, reason: null, message: null }
        : { rule, inKernel: false, reason: refusal[0], message: refusal[1] };
    }),
    otherwise: rules.default === 'report' || order.length > MAX_RULES ? 'pass' : 'drop',
    filters: rules.default === 'drop' || order.some((rule) => !left.has(rule) && rule.detector.kind !== 'noop'),
  };
}

/** Highest priority first; rules of equal priority match nothing in common, their order means nothing. */
function byPriority(rules: readonly Rule[]): readonly Rule[] {
  return [...rules].sort((a, b) => b.priority - a.priority);
}

/** Leaves rules with state whose reports are handed on in part, for a rule before them that only user space can match. */
function leaveBehindMacs(order: readonly Rule[], left: Map<Rule, Refusal>): void {
  const table = order.slice(0, MAX_RULES);
  for (const [place, { match, name }] of table.entries()) {
    if (!needsUserSpace(match)) continue;
    const more = {
      sourceMac: null,
      destinationMac: null,
      dscp: null,
      hops: null,
      sourceGroup: null,
      destinationGroup: null,
      group: null,
    };
    const reach: Match = { ...match, ...more };
    for (const rule of table.slice(place + 1)) {
      if (left.has(rule) || stateOf(rule.detector) === null || !overlaps(reach, rule.match)) continue;
      left.set(rule, ['behindMac', `only user space knows which of its reports '${name}' takes`]);
    }
  }
}

/** Leaves rules whose state rules in user space write as well. */
function leaveSharedState(order: readonly Rule[], left: Map<Rule, Refusal>): void {
  const writers = new Map<string, string>();
  for (const { detector, name } of left.keys()) {
    const state = stateOf(detector);
    if (state !== null && !writers.has(state)) writers.set(state, name);
  }
  for (const rule of order) {
    const writer = writers.get(stateOf(rule.detector) ?? '');
    if (writer === undefined || left.has(rule)) continue;
    left.set(rule, ['sharedState', `it shares its state with '${writer}', which user space runs`]);
  }
}

/**
 * The rules that a detector behind the filter is to run, so that it finds the events that it would find without one:
 * those of perHop, perFlow, threshold and noop as they are, since their state changes only with events, and those left to
 * user space. A movingAverage in the kernel becomes a noop of the same name, for its average moves with every report;
 * `applyVerdicts` gives the events their values back.
 */
export function rulesBehind(rules: RuleSet): RuleSet {
  const inKernel = new Set(planPrefilter(rules).rules.flatMap((each) => (each.inKernel ? [each.rule] : [])));
  return {
    ...rules,
    rules: rules.rules.map((rule) =>
      inKernel.has(rule) && rule.detector.kind === 'movingAverage' ? { ...rule, detector: { kind: 'noop' } } : rule,
    ),
  };
}
