/**
 * Rules from YAML or JSON text, every problem with its line and column.
 *
 * @packageDocumentation
 */
import type { DeviceProfile, Topology } from '@int/network';
import { type RuleProblem, RulesError } from '../errors.js';
import { compileValue } from '../rules/compile.js';
import type { Finding } from '../rules/given.js';
import type { RuleSet } from '../rules/model.js';
import { YamlText } from './document.js';

/** Options of {@link readRules}. */
export interface ReadRulesOptions {
  /**
   * Longest text, in characters (UTF-16 code units); default 16777216. A text of any length may have 250,000 words and
   * signs.
   */
  readonly maxLength?: number;
  /** What one device unit is where the rules have no `units`: those of the rules win, metric by metric. */
  readonly profile?: DeviceProfile;
  /** Names of switches and groups of hosts that a match may have. */
  readonly topology?: Topology;
}

const MAX_LENGTH = 1 << 24;

/**
 * Reads a rule set from text: one document of YAML 1.2 (core schema), of which JSON is a part. Aliases stand for
 * values; merge keys (`<<`) are not read.
 *
 * @throws RulesError with all problems found. Each has a line and a column, from 1, columns in UTF-16 code units: of
 *   the key, of the value, of the piece of an expression, or, if something is missing, of what lacks it
 * @throws TypeError if `text` is no string
 */
export function readRules(text: string, options: ReadRulesOptions = {}): RuleSet {
  if (typeof text !== 'string') throw new TypeError(`rules are read from text, not ${typeof text}`);
  const { maxLength = MAX_LENGTH } = options;
  if (text.length > maxLength) {
    const message = `${text.length} characters of rules are more than ${maxLength}: raise maxLength, or use fewer rules`;
    throw new RulesError([{ code: 'CAPACITY', path: [], message, line: 1, column: 1 }]);
  }
  const yaml = new YamlText(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text);
  // Text that is no YAML leaves gaps; its error has been reported.
  if (!yaml.isComplete) throw new RulesError(sorted(yaml.problems));
  const { ruleSet, findings } = compileValue(yaml.value, options);
  const problems = [...yaml.problems, ...findings.map((finding) => placed(finding, yaml))];
  if (ruleSet === null || problems.length > 0) throw new RulesError(sorted(problems));
  if (ruleSet.warnings === undefined) return ruleSet;
  return { ...ruleSet, warnings: sorted(ruleSet.warnings.map((warning) => located(warning, yaml))) };
}

/** A warning with the places in the text of both rules. */
function located(warning: RuleProblem, yaml: YamlText): RuleProblem {
  const { path, message, other } = warning;
  const place = yaml.position(path, false);
  if (other === undefined) return { ...warning, ...place };
  const there = yaml.position(other.path, false);
  return {
    ...warning,
    message: `${message} (the other is in line ${there.line})`,
    ...place,
    other: { ...other, ...there },
  };
}

function placed({ problem, atKey, other }: Finding, yaml: YamlText): RuleProblem {
  const position = yaml.position(problem.path, atKey, problem.span?.start);
  const isEmpty = problem.path.length === 0 && yaml.value === null;
  let message = isEmpty ? 'there are no rules in this text: write version: 1, and rules: []' : problem.message;
  if (other !== null) message += ` (the other is in line ${yaml.position(other, false).line})`;
  return { ...problem, message, ...position };
}

function sorted(problems: readonly RuleProblem[]): RuleProblem[] {
  return problems.toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0));
}
