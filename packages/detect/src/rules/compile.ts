import { type RuleProblem, RulesError } from '../errors.js';
import { type ReadDetector, readDetector } from './detector.js';
import { readMatch } from './match.js';
import type { Adapt, Rule, RuleSet, Sample } from './model.js';
import { findOverlaps, packetText } from './overlap.js';
import { described, Findings, type Path, type Shape } from './problems.js';
import { parseDuration, quoted, rateOf } from './quantity.js';
import type { RuleSpec, RulesSpec, UnitsSpec } from './spec.js';
import { NO_UNITS, readUnits, type Units } from './units.js';

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
  elsewhere: {
    name: 'into a rule, in the list rules',
    priority: 'into a rule, in the list rules',
    match: 'into a rule, in the list rules',
    detect: 'into a rule, in the list rules',
    sample: 'into a rule, in the list rules',
  },
};

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
    ...['oneIn', 'every'].map((key) => [key, 'into sample, as in sample: { oneIn: 10 }']),
  ]),
};

const DEFAULTS = ['report', 'drop'] as const;
const LONGEST_NAME = 200;
const INT32 = 2 ** 31;
const UINT32 = 2 ** 32 - 1;

/** Rules, or what is wrong with them. */
export interface Compiled {
  /** `null` if there is any finding. */
  readonly ruleSet: RuleSet | null;
  readonly findings: Findings;
}

/**
 * Checks a rule set as people write it and turns it into numbers. Constants are converted exactly to device units, then
 * rounded such that comparisons keep their meaning: thresholds down, as an event is above them.
 *
 * @param spec anything: what is no rule set is refused as such
 * @throws RulesError with all problems found
 */
export function compileRules(spec: RulesSpec): RuleSet {
  const { ruleSet, findings } = compileValue(spec);
  if (ruleSet === null) throw failure(findings);
  return ruleSet;
}

/**
 * One rule, to be added to a set that runs. Whether it overlaps with others is not looked at.
 *
 * @param units as in the rule set
 * @throws RulesError with all problems found; their paths start in the rule, or in `units`
 */
export function compileRule(spec: RuleSpec, units: UnitsSpec = {}): Rule {
  const findings = new Findings();
  const known = readUnits(units, ['units'], findings);
  const rule = readRule(spec, [], findings, known);
  if (findings.all.length > 0) throw failure(findings);
  return rule.rule!;
}

const problemOf = ({ problem }: { readonly problem: RuleProblem }): RuleProblem => problem;
const failure = (findings: Findings): RulesError => new RulesError(findings.all.map(problemOf));

/** As {@link compileRules}, with the findings not yet thrown. */
export function compileValue(spec: unknown): Compiled {
  const findings = new Findings();
  const root = findings.shaped(spec, [], ROOT, '{ version: 1, rules: [] }');
  if (root === null) return { ruleSet: null, findings };

  const version = root.get('version');
  if (root.has('version') && version !== 1) {
    const code = typeof version === 'number' ? 'BAD_VALUE' : 'WRONG_TYPE';
    findings.add(
      code,
      ['version'],
      `this is read as version 1 of the format only, not ${described(version)}: write version: 1`,
    );
  }
  const schema = root.get('$schema');
  if (root.has('$schema') && typeof schema !== 'string') {
    findings.add('WRONG_TYPE', ['$schema'], `$schema is text, the address of a JSON Schema, not ${described(schema)}`);
  }
  const fallback = root.has('default')
    ? findings.choice(root.get('default'), ['default'], 'default', DEFAULTS)
    : 'report';
  const units = root.has('units') ? readUnits(root.get('units'), ['units'], findings) : NO_UNITS;
  const adapt = root.has('adapt') ? readTarget(root.get('adapt'), ['adapt'], findings) : null;
  const rules = root.has('rules') ? readRuleList(root.get('rules'), ['rules'], findings, units) : null;
  if (findings.all.length > 0 || rules === null || fallback === null) return { ruleSet: null, findings };
  return { ruleSet: { rules, default: fallback, adapt }, findings };
}

function readRuleList(value: unknown, path: Path, findings: Findings, units: Units): readonly Rule[] | null {
  if (!Array.isArray(value)) {
    findings.add('WRONG_TYPE', path, `rules is a list of rules, as [], not ${described(value)}`);
    return null;
  }
  const partial = Array.from(value as readonly unknown[], (each, i) => readRule(each, [...path, i], findings, units));
  checkNames(partial, path, findings);
  checkOverlaps(partial, path, findings);
  const rules = partial.flatMap(({ rule }) => rule ?? []);
  return rules.length === partial.length ? rules : null;
}

/** A rule, as far as it could be read. */
interface ReadRule extends Partial<Pick<Rule, 'name' | 'priority' | 'match'>> {
  readonly rule: Rule | null;
}

function checkNames(rules: readonly ReadRule[], path: Path, findings: Findings): void {
  const seen = new Map<string, number>();
  for (const [index, { name }] of rules.entries()) {
    if (name === undefined) continue;
    const first = seen.get(name);
    if (first === undefined) seen.set(name, index);
    else {
      findings.addPair(
        'DUPLICATE_NAME',
        [...path, index, 'name'],
        [...path, first, 'name'],
        `the name ${quoted(name)} is taken by rule ${first + 1} of the list: names tell rules apart, write another`,
      );
    }
  }
}

function checkOverlaps(rules: readonly ReadRule[], path: Path, findings: Findings): void {
  const readable = rules.flatMap(({ name, priority, match }, index) =>
    priority === undefined || match === undefined ? [] : [{ name, priority, match, index }],
  );
  for (const { first, second, example } of findOverlaps(readable)) {
    const [a, b] = [readable[first]!, readable[second]!];
    const label = ({ name, index }: { readonly name: string | undefined; readonly index: number }): string =>
      name === undefined ? `rule ${index + 1} of the list` : quoted(name);
    findings.addPair(
      'OVERLAP',
      [...path, b.index, 'priority'],
      [...path, a.index, 'priority'],
      `${label(b)} and ${label(a)} have the same priority ${b.priority} and both match ` +
        `${packetText(example, a.match, b.match)}: give the one that is to win a higher priority`,
    );
  }
}

function readRule(value: unknown, path: Path, findings: Findings, units: Units): ReadRule {
  const mapping = findings.shaped(value, path, RULE, '{ name: all, priority: 1, match: any, detect: { noop: {} } }');
  if (mapping === null) return { rule: null };
  const at = (key: string): Path => [...path, key];
  const before = findings.all.length;
  const name = mapping.has('name') ? readName(mapping.get('name'), at('name'), findings) : null;
  const priority = mapping.has('priority')
    ? findings.whole(mapping.get('priority'), at('priority'), 'priority', -INT32, INT32 - 1)
    : null;
  const match = mapping.has('match') ? readMatch(mapping.get('match'), at('match'), findings) : null;
  const detector = mapping.has('detect') ? readDetector(mapping.get('detect'), at('detect'), findings, units) : null;
  const sample = mapping.has('sample') ? readSample(mapping.get('sample'), at('sample'), findings) : null;
  const adapt = mapping.has('adapt') ? readAdapt(mapping.get('adapt'), at('adapt'), findings, detector) : null;
  const isComplete = name !== null && priority !== null && match !== null && detector !== null;
  return {
    ...(name === null ? {} : { name }),
    ...(priority === null ? {} : { priority }),
    ...(match === null ? {} : { match }),
    rule:
      isComplete && findings.all.length === before
        ? { name, priority, match, detector: detector.config, sample, adapt }
        : null,
  };
}

function readName(value: unknown, path: Path, findings: Findings): string | null {
  if (typeof value !== 'string') {
    const advice =
      typeof value === 'number' || typeof value === 'boolean'
        ? `write "${value}" in quotes`
        : 'write one, as web-latency';
    findings.add('WRONG_TYPE', path, `a name is text, not ${described(value)}: ${advice}`);
  } else if (value.trim() !== value || value === '' || value.length > LONGEST_NAME || /\p{Cc}/u.test(value)) {
    findings.add(
      'BAD_VALUE',
      path,
      `${quoted(value)} is no name: write 1 to ${LONGEST_NAME} characters without line ends or control characters, ` +
        'the first and the last no blank, as web-latency',
    );
  } else return value;
  return null;
}

function readSample(value: unknown, path: Path, findings: Findings): Sample | null {
  const shape: Shape = { what: 'sample', keys: { oneIn: 'oneIn: 10', every: 'every: 1ms' } };
  const before = findings.all.length;
  const mapping = findings.shaped(value, path, shape, '{ oneIn: 10 } or { every: 1ms }');
  if (mapping === null) return null;
  const [oneIn, every] = [mapping.get('oneIn'), mapping.get('every')];
  if ((oneIn === undefined) === (every === undefined)) {
    if (findings.all.length > before) return null;
    if (oneIn === undefined)
      findings.add('MISSING_KEY', path, 'sample needs oneIn or every: write oneIn: 10, or every: 1ms');
    else findings.add('BAD_VALUE', [...path, 'every'], 'sample has oneIn or every, not both: leave one of them out');
    return null;
  }
  if (oneIn !== undefined) {
    const whole = findings.whole(oneIn, [...path, 'oneIn'], 'oneIn', 1, UINT32);
    return whole === null ? null : { oneIn: whole };
  }
  const at = [...path, 'every'];
  if (typeof every !== 'string') {
    const text = typeof every === 'number' ? `: add a unit, as ${every}ns or ${every}ms` : '';
    findings.add('WRONG_TYPE', at, `every is a duration with a unit, as 1ms, not ${described(every)}${text}`);
    return null;
  }
  const everyNs = findings.attempt(at, () => parseDuration(every));
  return everyNs === null ? null : { everyNs };
}

function readRate(value: unknown, path: Path, findings: Findings): number | null {
  const text = findings.numberOrText(value, path, 'target', '1000/s');
  return text === null ? null : findings.attempt(path, () => rateOf(text));
}

function readTarget(value: unknown, path: Path, findings: Findings): { readonly target: number } | null {
  const shape: Shape = {
    what: 'adapt of a rule set',
    keys: { target: 'target: 1000/s' },
    required: ['target'],
    elsewhere: { min: "into a rule's adapt", max: "into a rule's adapt" },
  };
  const mapping = findings.shaped(value, path, shape, '{ target: 1000/s }');
  const target = mapping?.has('target') ? readRate(mapping.get('target'), [...path, 'target'], findings) : null;
  return target === null ? null : { target };
}

function readAdapt(value: unknown, path: Path, findings: Findings, detector: ReadDetector | null): Adapt | null {
  const shape: Shape = {
    what: 'adapt of a rule',
    keys: { target: 'target: 1000/s', min: 'min: 1us', max: 'max: 1ms' },
    required: ['target', 'min', 'max'],
    aliases: { minimum: 'min', maximum: 'max', rate: 'target' },
  };
  const mapping = findings.shaped(value, path, shape, '{ target: 1000/s, min: 1us, max: 1ms }');
  if (mapping === null) return null;
  const target = mapping.has('target') ? readRate(mapping.get('target'), [...path, 'target'], findings) : null;
  // Of a detector that cannot be read, nobody knows what its bounds are.
  if (detector === null) return null;
  const { config, bound } = detector;
  if (bound === null || !('threshold' in config)) {
    findings.add(
      'BAD_VALUE',
      path,
      `${config.kind} has no threshold to adapt: leave adapt out, or use perHop, perFlow, movingAverage, threshold or change`,
    );
    return null;
  }
  if ('switchThresholds' in config) {
    findings.add(
      'BAD_VALUE',
      path,
      'adapt moves one threshold, and this rule has several, by switch: write the threshold as one number of device ' +
        'units, or a rule for each kind of switch, or leave adapt out',
    );
    return null;
  }
  const minimum = mapping.has('min') ? bound(mapping.get('min'), [...path, 'min']) : null;
  const maximum = mapping.has('max') ? bound(mapping.get('max'), [...path, 'max']) : null;
  if (target === null || minimum === null || maximum === null) return null;
  const { threshold } = config;
  if (minimum > maximum) {
    findings.add('BAD_VALUE', [...path, 'min'], `min is above max (${minimum} and ${maximum} device units): swap them`);
  } else if (threshold < minimum) {
    findings.add(
      'BAD_VALUE',
      [...path, 'min'],
      `min is above the threshold it starts from (${minimum} and ${threshold} device units): write a lower min or a higher threshold`,
    );
  } else if (threshold > maximum) {
    findings.add(
      'BAD_VALUE',
      [...path, 'max'],
      `max is below the threshold it starts from (${maximum} and ${threshold} device units): write a higher max or a lower threshold`,
    );
  } else return { target, minimum, maximum };
  return null;
}
