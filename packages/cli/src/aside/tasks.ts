/** Long computations, by name. Arguments and results are plain data, which is copied between threads. */
import type { SimulateOptions, SimulationResult } from '@int/dart';
import type { ReadRules } from '../input/rules-text.js';
import type { Planned, PlanTask } from '../plan/planning.js';

/** Called at intervals with the completed share of the work, 0..1. */
export type OnProgress = (share: number) => void;

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
  async rules(text: string): Promise<ReadRules> {
    const { readRulesText } = await import('../input/rules-text.js');
    return readRulesText(text, {});
  },
} as const;

export type TaskName = keyof typeof TASKS;
export type TaskInput<N extends TaskName> = Parameters<(typeof TASKS)[N]>[0];
export type TaskResult<N extends TaskName> = Awaited<ReturnType<(typeof TASKS)[N]>>;
