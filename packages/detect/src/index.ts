/**
 * Programmable event detection over decoded telemetry.
 *
 * @packageDocumentation
 */

export { METRICS, type Metric, type MetricName, metricOf } from '@int/codec';
export {
  Adaptation,
  type AdaptationOptions,
  type AdaptationState,
  type AdaptiveDetector,
  type EventRows,
} from './adapt/adaptation.js';
export type { AdaptiveStatus, StatisticKind } from './adapt/control.js';
export { Classifier, type ClassifierShape } from './classify/classifier.js';
export { Detector } from './engine/detector.js';
export { type Event, type Evidence, evidenceOf } from './engine/event.js';
export { EventBatch } from './engine/event-batch.js';
export {
  EVENT_STATES,
  EVIDENCE,
  EVIDENCE_NAMES,
  type EventScope,
  type EventState,
  type EvidenceName,
  hasPrevious,
  hasThreshold,
  hasValue,
  KIND,
  NO_METRIC,
  NO_RULE,
  SCOPES,
} from './engine/event-columns.js';
export type { DetectorOptions, StateMode } from './engine/options.js';
export type { DetectorTotals, RuleTotals } from './engine/totals.js';
export { type RuleProblem, type RuleProblemCode, RulesError } from './errors.js';
export { toCnf } from './expression/cnf.js';
export type {
  Aggregate,
  Cnf,
  Condition,
  ConvertQuantity,
  Expression,
  Operator,
  Quantity,
  Span,
} from './expression/model.js';
export { parseExpression } from './expression/parse.js';
export { printCnf, printExpression } from './expression/print.js';
export { compileRule, compileRules } from './rules/compile.js';
export type { RulesContext } from './rules/known.js';
export {
  type Adapt,
  DETECTOR_KINDS,
  type DetectorConfig,
  type DetectorKind,
  type HopMatch,
  type IdRange,
  type Match,
  type PortRange,
  type Prefix,
  type Rule,
  type RuleSet,
  type Sample,
  type Scope,
} from './rules/model.js';
export { overlaps } from './rules/overlap.js';
export type {
  DetectSpec,
  MatchSpec,
  QuantitySpec,
  RuleSpec,
  RulesSpec,
  ScaleSpec,
  UnitsSpec,
} from './rules/spec.js';
export { exportTables, type RefusedRule, type TableExport, type TableOptions } from './tables/export.js';
export type { Lifecycle, Severity, WatchConfig, WatchKey } from './watch/config.js';
export type { EventLife } from './watch/event-life.js';
export { EventTracker, type EventTrackerOptions, type TrackedEvent, type TrackedRule } from './watch/event-tracker.js';
export { EventTracking, type EventTrackingOptions, type TrackedFinding } from './watch/event-tracking.js';
