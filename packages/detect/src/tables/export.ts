/** Rules as table entries and register writes of the P4 sink, in the command language of simple_switch_CLI. */
import { checkRule } from '../engine/check-rule.js';
import { type RuleProblem, RulesError } from '../errors.js';
import { MAX_CLAUSES, MAX_CONDITIONS } from '../expression/model.js';
import type { DetectorConfig, Match, PortRange, Prefix, Rule, RuleSet } from '../rules/model.js';
import { logicWrites, type RegisterWrite } from './logic.js';
import {
  DETECTOR_NUMBERS,
  EXPRESSIONS,
  HOST_DETECTORS,
  type IpVersion,
  metricNumber,
  NO_METRIC_NUMBER,
  REGISTERS,
  RULE_TABLES,
  SCOPE_NUMBERS,
  TABLE_ACTIONS,
  TABLE_KEYS,
  TABLE_SIZE,
  type TableAction,
} from './names.js';

/** Settings of {@link exportTables}. */
export interface TableOptions {
  /**
   * The bank to fill; the last command puts it in use. To change rules while traffic runs, fill the bank that is not in
   * use: packets see the old rules or the new ones, never a mixture, and the state of flows stays. Default 0.
   */
  readonly bank?: 0 | 1;
  /**
   * What becomes of a rule that the data plane cannot run. `throw` refuses the whole set. `report` makes the switch
   * report all that the rule matches, so that a host can run its detector; without the rule, its packets would go to
   * the next one. Default `throw`.
   */
  readonly unsupported?: 'throw' | 'report';
}

/** A rule that the data plane cannot run, and why. */
export interface RefusedRule {
  readonly rule: string;
  readonly reason: string;
}

/** What {@link exportTables} gives. */
export interface TableExport {
  /** Lines for simple_switch_CLI, in order; none ends with a newline. */
  readonly commands: readonly string[];
  /** Names of the rules by the number that the tables give them: the parameter `rule` of an entry. */
  readonly ruleNames: readonly string[];
  /** Rules that are merely reported; empty unless `unsupported` is `report`. */
  readonly refused: readonly RefusedRule[];
}

/** Why the data plane cannot run a rule. Paths are relative to the rule. */
function refusalsOf({ detector, sample, match, lifecycle }: Rule): RuleProblem[] {
  const { kind } = detector;
  const refusals: RuleProblem[] = [];
  const refuse = (key: readonly (string | number)[], message: string): void => {
    refusals.push({ code: 'BAD_VALUE', path: ['detect', kind, ...key], message: `${message}: hosts only` });
  };
  if (HOST_DETECTORS.includes(kind)) refuse([], `the data plane has no ${kind} detector`);
  else if ('metric' in detector && metricNumber(detector.metric) < 0) {
    refuse(['metric'], `the data plane does not read ${detector.metric}`);
  }
  if ('alpha' in detector) refuse(['alpha'], 'the data plane has no float average, give a weight of 0 to 15');
  if ('switchThresholds' in detector && detector.switchThresholds !== undefined && detector.switchThresholds.size > 0) {
    refuse(['threshold'], 'the data plane has one threshold for all switches');
  }
  if (detector.kind === 'complex') {
    const { expression } = detector;
    for (const metric of new Set(expression.flat().map((condition) => condition.metric))) {
      if (metric !== null && metricNumber(metric) < 0) refuse([], `the data plane does not read ${metric}`);
    }
  }
  if (sample !== null && 'everyNs' in sample && sample.everyNs % 1000 !== 0) {
    const message = `the data plane's clock counts microseconds, ${sample.everyNs} ns is no whole number of them: hosts only`;
    refusals.push({ code: 'BAD_VALUE', path: ['sample', 'every'], message });
  }
  for (const [key, what] of FOR_HOSTS) {
    if ((match[key] ?? null) === null) continue;
    refusals.push({ code: 'BAD_VALUE', path: ['match'], message: `the data plane does not match ${what}: hosts only` });
  }
  if ((lifecycle ?? null) !== null) {
    const message =
      'the data plane has no events with a beginning and an end (for, clear, every, severity, key): hosts only';
    refusals.push({ code: 'BAD_VALUE', path: [], message });
  }
  return refusals;
}

/** Parts of a match that the tables have no keys for. */
const FOR_HOSTS = [
  ['dscp', 'DSCP'],
  ['sourceGroup', 'groups of hosts'],
  ['destinationGroup', 'groups of hosts'],
  ['group', 'groups of hosts'],
  ['hops', 'switches, queues and egress interfaces'],
] as const;

function hex(value: bigint | number): string {
  return `0x${value.toString(16)}`;
}

function addressKey(prefix: Prefix | null, bits: number): string {
  if (prefix === null) return '0x0&&&0x0';
  const value = prefix.words.reduce((sum, word) => (sum << 32n) | BigInt(word), 0n);
  const mask = ((1n << BigInt(prefix.length)) - 1n) << BigInt(bits - prefix.length);
  return `${hex(value & mask)}&&&${hex(mask)}`;
}

function exactKey(value: number | null, bits: number): string {
  return value === null ? '0x0&&&0x0' : `${hex(value)}&&&${hex(2 ** bits - 1)}`;
}

function rangeKey(range: PortRange | null): string {
  return `${range?.from ?? 0}->${range?.to ?? 65535}`;
}

/** The key fields of a match in a table, in the order of TABLE_KEYS. */
function keysOf(match: Match, version: IpVersion): string[] {
  const fields: Record<string, (bits: number) => string> = {
    source_address: (bits) => addressKey(match.source, bits),
    destination_address: (bits) => addressKey(match.destination, bits),
    protocol: (bits) => exactKey(match.protocol, bits),
    source_port: () => rangeKey(match.sourcePort),
    destination_port: () => rangeKey(match.destinationPort),
    source_mac: (bits) => exactKey(match.sourceMac, bits),
    destination_mac: (bits) => exactKey(match.destinationMac, bits),
  };
  return TABLE_KEYS.map(({ name, width }) => fields[name]!(width[version]));
}

/** The tables of a match: both, unless an address tells the version; none, if two addresses disagree. */
function versionsOf({ source, destination }: Match): IpVersion[] {
  const versions: readonly IpVersion[] = [4, 6];
  return versions.filter(
    (version) => (source?.version ?? version) === version && (destination?.version ?? version) === version,
  );
}

/** An action and its parameters by name. */
interface Call {
  readonly action: TableAction;
  readonly values: Readonly<Record<string, number>>;
}

function callOf(rule: Rule, number: number, expression: number, isReported: boolean): Call {
  const detector: DetectorConfig = isReported ? { kind: 'noop' } : rule.detector;
  const sample = isReported ? null : rule.sample;
  const sampling = {
    one_in: sample !== null && 'oneIn' in sample ? sample.oneIn : 0,
    every: sample !== null && 'everyNs' in sample ? sample.everyNs / 1000 : 0,
  };
  if (detector.kind === 'complex') {
    return { action: TABLE_ACTIONS.complexDetection, values: { rule: number, index: expression, ...sampling } };
  }
  const scope = 'scope' in detector ? detector.scope : detector.kind === 'perHop' ? 'hop' : 'flow';
  return {
    action: TABLE_ACTIONS.fastDetection,
    values: {
      rule: number,
      algorithm: DETECTOR_NUMBERS[detector.kind],
      metric: 'metric' in detector ? metricNumber(detector.metric) : NO_METRIC_NUMBER,
      scope: SCOPE_NUMBERS[scope],
      threshold: 'threshold' in detector ? detector.threshold : 0,
      weight: 'weight' in detector ? detector.weight : 0,
      ...sampling,
    },
  };
}

/** A register_write; here the switch's command line takes decimal numbers only. */
function writeCommand({ register, index, value }: RegisterWrite): string {
  return `register_write ${register} ${index} ${value}`;
}

/**
 * Writes a rule set as commands for simple_switch_CLI.
 *
 * The commands clear the tables of one bank, set their default actions, write the expressions, add the entries, and put
 * the bank in use. They leave the state of detectors alone. The priority of an entry is the rank of its rule's
 * priority, from 1: in simple_switch_CLI the smaller number wins. The order depends on the rules alone, highest
 * priority first.
 *
 * Thresholds are those of the rules. After moving a threshold, export again, into the other bank. Entries of a table in
 * use cannot be changed one by one: the switch gives them handles that commands made beforehand cannot know.
 *
 * @throws RulesError if the data plane cannot run all rules (see {@link TableOptions.unsupported}), or has no room, or
 *   if the rules have `decide: all`
 * @throws RangeError for a number of a rule out of range
 */
export function exportTables(rules: RuleSet, options: TableOptions = {}): TableExport {
  const bank = options.bank ?? 0;
  if (bank !== 0 && bank !== 1) throw new RangeError(`tables: bank must be 0 or 1, not ${String(bank)}`);
  const problems: RuleProblem[] = [];
  if (rules.decide === 'all') {
    const message = 'in the data plane one rule decides each report: write decide: first';
    throw new RulesError([{ code: 'BAD_VALUE', path: ['decide'], message }]);
  }
  const refused: RefusedRule[] = [];
  const isRefused = rules.rules.map((rule, number) => {
    const tooLarge = sizeProblem(rule);
    if (tooLarge === null) checkRule(rule);
    const found = tooLarge === null ? refusalsOf(rule) : [tooLarge];
    for (const { code, path, message } of found) problems.push({ code, path: ['rules', number, ...path], message });
    if (found.length > 0) refused.push({ rule: rule.name, reason: found.map(({ message }) => message).join('; ') });
    return found.length > 0;
  });
  if (problems.length > 0 && options.unsupported !== 'report') throw new RulesError(problems);

  const logic: string[] = [];
  const entries: string[] = [];
  const counts: { [V in IpVersion]: number } = { 4: 0, 6: 0 };
  let expressions = 0;
  const ranked = rules.rules
    .map((rule, number) => ({ rule, number }))
    .sort((a, b) => b.rule.priority - a.rule.priority || a.number - b.number);
  let rank = 0;
  ranked.forEach(({ rule, number }, place) => {
    if (place === 0 || rule.priority !== ranked[place - 1]!.rule.priority) rank++;
    const expression = bank * EXPRESSIONS + expressions;
    if (rule.detector.kind === 'complex' && !isRefused[number]) {
      expressions++;
      if (expressions <= EXPRESSIONS)
        logic.push(...logicWrites(rule.detector.expression, expression).map(writeCommand));
    }
    const { action, values } = callOf(rule, number, expression, isRefused[number]!);
    const parameters = action.parameters.map(({ name }) => values[name]!).join(' ');
    for (const version of versionsOf(rule.match)) {
      const table = RULE_TABLES[version][bank];
      const keys = keysOf(rule.match, version).join(' ');
      entries.push(`table_add ${table} ${action.name} ${keys} => ${parameters} ${rank}`);
      counts[version]++;
    }
  });
  checkRoom(expressions, counts);

  const tables = [RULE_TABLES[4][bank], RULE_TABLES[6][bank]];
  const fallback = rules.default === 'report' ? TABLE_ACTIONS.reportAll : TABLE_ACTIONS.reportNone;
  return {
    commands: [
      ...tables.map((table) => `table_clear ${table}`),
      ...tables.map((table) => `table_set_default ${table} ${fallback.name}`),
      ...logic,
      ...entries,
      writeCommand({ register: REGISTERS.bank, index: 0, value: BigInt(bank) }),
    ],
    ruleNames: rules.rules.map(({ name }) => name),
    refused,
  };
}

/** An expression beyond the logic registers. */
function sizeProblem({ detector }: Rule): RuleProblem | null {
  if (detector.kind !== 'complex') return null;
  const { expression } = detector;
  const most = Math.max(0, ...expression.map((clause) => clause.length));
  if (expression.length <= MAX_CLAUSES && most <= MAX_CONDITIONS) return null;
  const message = `the data plane takes ${MAX_CLAUSES} clauses of ${MAX_CONDITIONS} conditions, not ${expression.length} of up to ${most}`;
  return { code: 'EXPRESSION_TOO_LARGE', path: ['detect', 'complex'], message };
}

/** @throws RulesError if the switch has no room for so many */
function checkRoom(expressions: number, entries: { readonly [V in IpVersion]: number }): void {
  const problems: RuleProblem[] = [];
  const lack = (count: number, room: number, what: string): void => {
    if (count <= room) return;
    problems.push({
      code: 'CAPACITY',
      path: ['rules'],
      message: `${count} ${what}: the data plane has room for ${room}`,
    });
  };
  lack(expressions, EXPRESSIONS, 'complex rules');
  lack(entries[4], TABLE_SIZE, 'rules that IPv4 packets can match');
  lack(entries[6], TABLE_SIZE, 'rules that IPv6 packets can match');
  if (problems.length > 0) throw new RulesError(problems);
}
