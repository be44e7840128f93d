import { type ControlledThreshold, ThresholdController } from '../../../src/adapt/controller.js';

/** What tests vary of a controller of one threshold. */
export interface SingleOptions extends Partial<ControlledThreshold> {
  readonly target?: number;
  readonly intervalMs?: number;
}

/** A controller of one threshold. Default: 1000 events a second, from 10,000 on, without limits, of a level. */
export function single(options: SingleOptions): ThresholdController {
  const { target = 1000, intervalMs = 10, ...member } = options;
  const alone = { minimum: 0, maximum: 0xffff_ffff, initial: 10_000, kind: 'level' as const, ...member };
  return new ThresholdController(target, [alone], false, intervalMs);
}

/** A controller of several thresholds that keep their proportions. */
export function total(
  target: number,
  members: readonly (Pick<ControlledThreshold, 'initial' | 'kind'> & Partial<ControlledThreshold>)[],
): ThresholdController {
  return new ThresholdController(
    target,
    members.map((member) => ({ minimum: 0, maximum: 0xffff_ffff, ...member })),
    true,
    10,
  );
}
