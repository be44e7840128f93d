import type { RuleProblem, RuleSet, RulesContext } from '@int/detect';

export type ReadRules =
  | { readonly ruleSet: RuleSet }
  | { readonly problems: readonly RuleProblem[]; readonly total: number };

/** Most problems to return; further ones are only counted. */
const MOST_PROBLEMS = 100;

/** Reads rules, in whatever thread. @param context units and names that the rules may refer to */
export async function readRulesText(text: string, context: RulesContext): Promise<ReadRules> {
  const [{ readRules }, { RulesError }] = await Promise.all([import('@int/detect/yaml'), import('@int/detect')]);
  try {
    return { ruleSet: readRules(text, context) };
  } catch (error) {
    if (!RulesError.is(error)) throw error;
    return { problems: error.problems.slice(0, MOST_PROBLEMS), total: error.problems.length };
  }
}
