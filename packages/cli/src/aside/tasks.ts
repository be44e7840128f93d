/** Computations that may take long, by name. What goes in and comes out is data: it is copied from thread to thread. */
import type { SimulateOptions, SimulationResult } from '@int/dart';
import type { RuleProblem, RuleSet } from '@int/detect';
import type { Planned, PlanTask } from '../plan/planning.js';

/** Told now and then: the share of the work that is done. */
export type OnProgress = (share: number) => void;

/** Rules that were read, or what is wrong with them. */
export type ReadRules =
  | { readonly ruleSet: RuleSet }
  | { readonly problems: readonly RuleProblem[]; readonly total: number };

/** Problems that are told: more are only counted. */
const MOST_PROBLEMS = 100;

/** Each loads what it needs: a thread of its own begins with nothing. */
export const TASKS = {
  /** @throws RangeError as `simulate` does */
  async simulate(options: SimulateOptions, onProgress: OnProgress): Promise<SimulationResult> {
    const { simulate } = await import('@int/dart');
    return simulate({ ...options, onProgress });
  },
  /** @throws CliError if there is no such plan */
  async plan(task: PlanTask): Promise<Planned> {
    const { planned } = await import('../plan/planning.js');
    return planned(task);
  },
  async rules(text: string): Promise<ReadRules> {
    const [{ readRules }, { RulesError }] = await Promise.all([import('@int/detect/yaml'), import('@int/detect')]);
    try {
      return { ruleSet: readRules(text) };
    } catch (error) {
      if (!RulesError.is(error)) throw error;
      return { problems: error.problems.slice(0, MOST_PROBLEMS), total: error.problems.length };
    }
  },
} as const;

export type TaskName = keyof typeof TASKS;
export type TaskInput<N extends TaskName> = Parameters<(typeof TASKS)[N]>[0];
export type TaskResult<N extends TaskName> = Awaited<ReturnType<(typeof TASKS)[N]>>;
