/** Long computations, by name. Arguments and results are plain data, which is copied between threads. */
import type { SimulateOptions, SimulationResult } from '@int/dart';
import type { RuleProblem, RuleSet } from '@int/detect';
import type { DeviceSpec } from '@int/network';
import type { Planned, PlanTask } from '../plan/planning.js';

/** Called at intervals with the completed share of the work, 0..1. */
export type OnProgress = (share: number) => void;

export type ReadRules =
  | { readonly ruleSet: RuleSet }
  | { readonly problems: readonly RuleProblem[]; readonly total: number };

/** Rules, and the switches whose units they may leave out. */
export interface RulesTask {
  readonly text: string;
  readonly device: DeviceSpec;
}

/** Most problems to return; further ones are only counted. */
const MOST_PROBLEMS = 100;

/** Each task imports its modules, because a new thread begins without any. */
export const TASKS = {
  /** @throws RangeError like `simulate` */
  async simulate(options: SimulateOptions, onProgress: OnProgress): Promise<SimulationResult> {
    const { simulate } = await import('@int/dart');
    return simulate({ ...options, onProgress });
  },
  /** @throws CliError if no plan exists */
  async plan(task: PlanTask): Promise<Planned> {
    const { planned } = await import('../plan/planning.js');
    return planned(task);
  },
  async rules({ text, device }: RulesTask): Promise<ReadRules> {
    const [{ readRules }, { RulesError }, { DeviceProfile }] = await Promise.all([
      import('@int/detect/yaml'),
      import('@int/detect'),
      import('@int/network'),
    ]);
    try {
      return { ruleSet: readRules(text, { profile: new DeviceProfile(device) }) };
    } catch (error) {
      if (!RulesError.is(error)) throw error;
      return { problems: error.problems.slice(0, MOST_PROBLEMS), total: error.problems.length };
    }
  },
} as const;

export type TaskName = keyof typeof TASKS;
export type TaskInput<N extends TaskName> = Parameters<(typeof TASKS)[N]>[0];
export type TaskResult<N extends TaskName> = Awaited<ReturnType<(typeof TASKS)[N]>>;
