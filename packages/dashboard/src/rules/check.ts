import { type RuleProblem as DetectProblem, type RuleSet, type RulesContext, RulesError } from '@int/detect';
import { readRules } from '@int/detect/yaml';
import type { RuleProblem } from '../protocol/http.js';

/** Longest text of rules that is looked at, in characters: a longer one takes the thread too long. */
export const MOST_CHARACTERS = 1 << 18;
/** Problems that are told. */
const MOST_PROBLEMS = 100;

/** What is wrong with a text of rules; `ruleSet` is null if it cannot be used. */
export interface CheckedRules {
  readonly problems: readonly RuleProblem[];
  readonly ruleSet: RuleSet | null;
}

/** Reads a text of rules. Rules that are never reached are warnings. */
export function checkRules(yaml: string, context: RulesContext): CheckedRules {
  try {
    const ruleSet = readRules(yaml, { ...context, maxLength: MOST_CHARACTERS });
    return { ruleSet, problems: (ruleSet.warnings ?? []).slice(0, MOST_PROBLEMS).map((each) => told(each, 'warning')) };
  } catch (error) {
    if (!RulesError.is(error)) throw error;
    return { ruleSet: null, problems: error.problems.slice(0, MOST_PROBLEMS).map((each) => told(each, 'error')) };
  }
}

function told({ message, line = 1, column = 1 }: DetectProblem, severity: RuleProblem['severity']): RuleProblem {
  return { severity, message, line, column };
}
