/**
 * Event detection inside XDP: telemetry reports without an event are dropped before the network stack sees them.
 *
 * @packageDocumentation
 */

export type { AttachOptions, KernelStateForm, PrefilterOptions } from './options.js';
export { type LeftReason, type PlannedRule, type PrefilterPlan, planPrefilter, rulesBehind } from './plan.js';
export { Prefilter, type PrefilterCounts, type PrefilterProgram, type PrefilterRun } from './prefilter.js';
export { type Outcome, readVerdict, type Verdict } from './verdict.js';
