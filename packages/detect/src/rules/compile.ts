import { parseDuration, quoted, rateOf } from '@int/network/internals';
import { type RuleProblem, RulesError } from '../errors.js';
import { type ReadDetector, readDetector } from './detector.js';
import { described, type Finding, Given, type Shape } from './given.js';
import { type Known, laterKeys, type RulesContext } from './known.js';
import { LIFECYCLE_KEYS, readLifecycle } from './lifecycle.js';
import { readMatch } from './match.js';
import type { Adapt, Rule, RuleSet, Sample } from './model.js';
import { findOverlaps, packetText } from './overlap.js';
import { withProfile } from './profile-units.js';
import { findUnreachable } from './reach.js';
import type { RuleSpec, RulesSpec, UnitsSpec } from './spec.js';
import { NO_UNITS, readUnits } from './units.js';

const DETECT = 'detect: { perHop: { metric: hopLatency, threshold: 10us } }';

const ROOT: Shape = {
  what: 'a rule set',
  keys: {
    version: 'version: 1',
    $schema: '$schema: ...',
    default: 'default: report',
    units: 'units: { hopLatency: ns }',
    adapt: 'adapt: { target: 1000/s }',
    rules: 'rules: [], or a list of rules',
  },
  required: ['version', 'rules'],
  elsewhere: /* @__PURE__ */ Object.fromEntries([
    ...['name', 'priority', 'match', 'detect', 'sample'].map((key) => [key, 'into a rule, in the list rules']),
    ...Object.entries(laterKeys({ decide: 'all' })),
  ]),
};

const DECIDE = ['first', 'all'] as const;
const ROOT_2: Shape = { ...ROOT, keys: { ...ROOT.keys, version: 'version: 2', decide: 'decide: all' } };

const RULE: Shape = {
  what: 'a rule',
  keys: {
    name: 'name: web-latency',
    priority: 'priority: 100',
    match: 'match: any',
    detect: DETECT,
    sample: 'sample: { oneIn: 10 }',
    adapt: 'adapt: { target: 1000/s, min: 1us, max: 1ms }',
  },
  required: ['name', 'priority', 'match', 'detect'],
  aliases: { prio: 'priority', detector: 'detect', sampling: 'sample' },
  elsewhere: /* @__PURE__ */ Object.fromEntries([
    ...['noop', 'perHop', 'perFlow', 'movingAverage', 'threshold', 'change', 'pathChange', 'complex', 'metric'].map(
      (key) => [key, `into detect, as in ${DETECT}`],
    ),
    ...['protocol', 'source', 'destination', 'sourcePort', 'destinationPort', 'sourceMac', 'destinationMac'].map(
      (key) => [key, 'into match, as in match: { protocol: tcp, destination: 10.1.2.3 }'],
    ),
    ...Object.entries(laterKeys(LIFECYCLE_KEYS)),
    ...['oneIn', 'every'].map((key) => [key, 'into sample, as in sample: { oneIn: 10 }']),
  ]),
};
const RULE_2: Shape = { ...RULE, keys: { ...RULE.keys, ...LIFECYCLE_KEYS } };
const RULE_OF_ALL: Shape = { ...RULE_2, required: ['name', 'match', 'detect'] };

const DEFAULTS = ['report', 'drop'] as const;
const LONGEST_NAME = 200;
const INT32 = 2 ** 31;
const UINT32 = 2 ** 32 - 1;

/** Rules, or what is wrong with them. */
export interface Compiled {
  /** `null` if there is any finding. */
  readonly ruleSet: RuleSet | null;
  readonly findings: readonly Finding[];
  /** Those of the rule set. */
  readonly warnings: readonly RuleProblem[];
}

/**
 * Checks a rule set as people write it and turns it into numbers. Constants are converted exactly to device units, then
 * rounded so that comparisons keep their meaning. Thresholds are rounded down, because an event is above its threshold.
 *
 * @param spec anything: what is no rule set is refused as such
 * @param context units and names that the rules refer to
 * @throws RulesError with all problems found
 */
export function compileRules(spec: RulesSpec, context: RulesContext = {}): RuleSet {
  const { ruleSet, findings } = compileValue(spec, context);
  if (ruleSet === null) throw failure(findings);
  return ruleSet;
}

/**
 * Compiles one rule, to be added to a set that runs. It does not look for overlaps with other rules.
 *
 * @param units as in the rule set
 * @param context its `version` is that of the format, default 1; with `decide: all` a rule needs no priority
 * @throws RulesError with all problems found; their paths start in the rule, or in `units`
 */
export function compileRule(
  spec: RuleSpec,
  units: UnitsSpec = {},
  context: RulesContext & { readonly version?: 1 | 2; readonly decide?: 'first' | 'all' } = {},
): Rule {
  const given = new Given(spec);
  const read = readUnits(new Given(units, ['units'], given.findings));
  const { version = 1, decide = 'first', topology = null } = context;
  const { rule } = readRule(given, { version, topology, units: withProfile(read, context.profile) }, decide === 'all');
  if (rule === null || given.findings.length > 0) throw failure(given.findings);
  return rule;
}

const failure = (findings: readonly Finding[]): RulesError => new RulesError(findings.map(({ problem }) => problem));

/** As {@link compileRules}, with the findings not yet thrown. */
export function compileValue(spec: unknown, context: RulesContext = {}): Compiled {
  const given = new Given(spec);
  const { findings } = given;
  const isSecond = typeof spec === 'object' && spec !== null && (spec as { version?: unknown }).version === 2;
  const root = given.shaped(isSecond ? ROOT_2 : ROOT, `{ version: ${isSecond ? 2 : 1}, rules: [] }`);
  if (root === null) return { ruleSet: null, findings, warnings: [] };

  root.read('version', (each) => {
    const { value } = each;
    if (value === 1 || value === 2) return null;
    const message = `the format has the versions 1 and 2, not ${described(value)}: write version: 1, or version: 2`;
    return each.refuse(typeof value === 'number' ? 'BAD_VALUE' : 'WRONG_TYPE', message);
  });
  root.read('$schema', (each) => {
    const { value } = each;
    if (typeof value === 'string') return null;
    return each.refuse('WRONG_TYPE', `$schema is text, the address of a JSON Schema, not ${described(value)}`);
  });
  const fallback = root.has('default') ? root.read('default', (each) => each.choice('default', DEFAULTS)) : 'report';
  const decide =
    isSecond && root.has('decide') ? root.read('decide', (each) => each.choice('decide', DECIDE)) : 'first';
  const units = withProfile(root.read('units', readUnits) ?? NO_UNITS, context.profile);
  const known: Known = { version: isSecond ? 2 : 1, units, topology: context.topology ?? null };
  const adapt = root.read('adapt', readTarget);
  const isAll = decide === 'all';
  const rules = root.read('rules', (each) => readRuleList(each, known, isAll));
  if (findings.length > 0 || rules === null || fallback === null) return { ruleSet: null, findings, warnings: [] };
  const warnings = isAll ? [] : unreachable(rules);
  const more = { ...(isSecond && { decide: decide ?? 'first' }), ...(warnings.length > 0 && { warnings }) };
  return { ruleSet: { rules, default: fallback, adapt, ...more }, findings, warnings };
}

/** Rules that never decide. */
function unreachable(rules: readonly Rule[]): RuleProblem[] {
  return findUnreachable(rules).map(({ hidden, by }) => ({
    code: 'UNREACHABLE',
    path: ['rules', hidden],
    message:
      `${quoted(rules[hidden]!.name)} is never reached: ${quoted(rules[by]!.name)} has a higher priority ` +
      'and matches all that it matches; give it a higher priority, or remove it',
    other: { path: ['rules', by] },
  }));
}

function readRuleList(given: Given, known: Known, isAll: boolean): readonly Rule[] | null {
  const { value } = given;
  if (!Array.isArray(value)) {
    return given.refuse('WRONG_TYPE', `rules is a list of rules, as [], not ${described(value)}`);
  }
  const partial = Array.from(value as readonly unknown[], (each, i) => readRule(given.at(i, each), known, isAll));
  checkNames(partial);
  if (!isAll) checkOverlaps(partial);
  const rules = partial.flatMap(({ rule }) => rule ?? []);
  return rules.length === partial.length ? rules : null;
}

/** A rule, as far as it could be read; `null`: not. */
interface ReadRule extends Nullable<Pick<Rule, 'name' | 'priority' | 'match'>> {
  readonly given: Given;
  readonly rule: Rule | null;
}
type Nullable<T> = { readonly [K in keyof T]: T[K] | null };

function checkNames(rules: readonly ReadRule[]): void {
  const seen = new Map<string, number>();
  for (const [index, { name, given }] of rules.entries()) {
    if (name === null) continue;
    const first = seen.get(name);
    if (first === undefined) seen.set(name, index);
    else {
      const message = `the name ${quoted(name)} is taken by rule ${first + 1} of the list: names tell rules apart, write another`;
      given.at('name', name).refuse('DUPLICATE_NAME', message, { other: [...rules[first]!.given.path, 'name'] });
    }
  }
}

function checkOverlaps(rules: readonly ReadRule[]): void {
  const readable = rules.flatMap(({ name, priority, match, given }, index) =>
    priority === null || match === null ? [] : [{ label: labelOf(name, index), priority, match, given }],
  );
  for (const { first, second, example } of findOverlaps(readable)) {
    const [a, b] = [readable[first]!, readable[second]!];
    const message =
      `${b.label} and ${a.label} have the same priority ${b.priority} and both match ` +
      `${packetText(example, a.match, b.match)}: give the one that is to win a higher priority`;
    b.given.at('priority', b.priority).refuse('OVERLAP', message, { other: [...a.given.path, 'priority'] });
  }
}

const labelOf = (name: string | null, index: number): string =>
  name === null ? `rule ${index + 1} of the list` : quoted(name);

function readRule(given: Given, known: Known, isAll: boolean): ReadRule {
  const shape = known.version === 1 ? RULE : isAll ? RULE_OF_ALL : RULE_2;
  const mapping = given.shaped(shape, '{ name: all, priority: 1, match: any, detect: { noop: {} } }');
  if (mapping === null) return { given, name: null, priority: null, match: null, rule: null };
  const before = given.findings.length;
  const name = mapping.read('name', readName);
  const isFree = isAll && !mapping.has('priority');
  const priority = isFree ? 0 : mapping.read('priority', (each) => each.whole('priority', -INT32, INT32 - 1));
  const match = mapping.read('match', (each) => readMatch(each, known));
  const detector = mapping.read('detect', (each) => readDetector(each, known));
  const sample = mapping.read('sample', readSample);
  const adapt = mapping.read('adapt', (each) => readAdapt(each, detector));
  const lifecycle = known.version === 1 ? null : readLifecycle(mapping, detector);
  const isComplete = name !== null && priority !== null && match !== null && detector !== null;
  const isFaultless = isComplete && given.findings.length === before;
  const more = lifecycle === null ? {} : { lifecycle };
  const rule = isFaultless ? { name, priority, match, detector: detector.config, sample, adapt, ...more } : null;
  return { given, name, priority, match, rule };
}

function readName(given: Given): string | null {
  const { value } = given;
  if (typeof value !== 'string') {
    const isPlain = typeof value === 'number' || typeof value === 'boolean';
    const advice = isPlain ? `write "${value}" in quotes` : 'write one, as web-latency';
    return given.refuse('WRONG_TYPE', `a name is text, not ${described(value)}: ${advice}`);
  }
  if (value.trim() === value && value !== '' && value.length <= LONGEST_NAME && !/\p{Cc}/u.test(value)) return value;
  return given.refuse(
    'BAD_VALUE',
    `${quoted(value)} is no name: write 1 to ${LONGEST_NAME} characters without line ends or control characters, ` +
      'the first and the last no blank, as web-latency',
  );
}

function readSample(given: Given): Sample | null {
  const shape: Shape = { what: 'sample', keys: { oneIn: 'oneIn: 10', every: 'every: 1ms' } };
  const before = given.findings.length;
  const mapping = given.shaped(shape, '{ oneIn: 10 } or { every: 1ms }');
  if (mapping === null) return null;
  const every = mapping.get('every');
  if (mapping.has('oneIn') === (every !== undefined)) {
    if (given.findings.length > before) return null;
    if (every === undefined) {
      return given.refuse('MISSING_KEY', 'sample needs oneIn or every: write oneIn: 10, or every: 1ms');
    }
    return every.refuse('BAD_VALUE', 'sample has oneIn or every, not both: leave one of them out');
  }
  if (every === undefined) {
    const oneIn = mapping.read('oneIn', (each) => each.whole('oneIn', 1, UINT32));
    return oneIn === null ? null : { oneIn };
  }
  const { value } = every;
  if (typeof value !== 'string') {
    const advice = typeof value === 'number' ? `: add a unit, as ${value}ns or ${value}ms` : '';
    return every.refuse('WRONG_TYPE', `every is a duration with a unit, as 1ms, not ${described(value)}${advice}`);
  }
  const everyNs = every.attempt(() => parseDuration(value));
  return everyNs === null ? null : { everyNs };
}

function readRate(given: Given): number | null {
  const text = given.numberOrText('target', '1000/s');
  return text === null ? null : given.attempt(() => rateOf(text));
}

function readTarget(given: Given): { readonly target: number } | null {
  const shape: Shape = {
    what: 'adapt of a rule set',
    keys: { target: 'target: 1000/s' },
    required: ['target'],
    elsewhere: { min: "into a rule's adapt", max: "into a rule's adapt" },
  };
  const target = given.shaped(shape, '{ target: 1000/s }')?.read('target', readRate) ?? null;
  return target === null ? null : { target };
}

function readAdapt(given: Given, detector: ReadDetector | null): Adapt | null {
  const shape: Shape = {
    what: 'adapt of a rule',
    keys: { target: 'target: 1000/s', min: 'min: 1us', max: 'max: 1ms' },
    required: ['target', 'min', 'max'],
    aliases: { minimum: 'min', maximum: 'max', rate: 'target' },
  };
  const mapping = given.shaped(shape, '{ target: 1000/s, min: 1us, max: 1ms }');
  if (mapping === null) return null;
  const target = mapping.read('target', readRate);
  // Of a detector that cannot be read, nobody knows what its bounds are.
  if (detector === null) return null;
  const { config, bound } = detector;
  if (bound === null || !('threshold' in config)) {
    return given.refuse(
      'BAD_VALUE',
      `${config.kind} has no threshold to adapt: leave adapt out, or use perHop, perFlow, movingAverage, threshold or change`,
    );
  }
  if ('switchThresholds' in config) {
    return given.refuse(
      'BAD_VALUE',
      'adapt moves one threshold, and this rule has several, by switch: write the threshold as one number of device ' +
        'units, or a rule for each kind of switch, or leave adapt out',
    );
  }
  const minimum = mapping.read('min', bound);
  const maximum = mapping.read('max', bound);
  if (target === null || minimum === null || maximum === null) return null;
  const { threshold } = config;
  const refuse = (key: string, message: string): null => mapping.get(key)!.refuse('BAD_VALUE', message);
  if (minimum > maximum) {
    return refuse('min', `min is above max (${minimum} and ${maximum} device units): swap them`);
  }
  if (threshold < minimum) {
    return refuse(
      'min',
      `min is above the threshold it starts from (${minimum} and ${threshold} device units): write a lower min or a higher threshold`,
    );
  }
  if (threshold > maximum) {
    return refuse(
      'max',
      `max is below the threshold it starts from (${maximum} and ${threshold} device units): write a higher max or a lower threshold`,
    );
  }
  return { target, minimum, maximum };
}
