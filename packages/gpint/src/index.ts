/**
 * Reliable GPINT: balanced probe paths over any network, their probes, and the recovery of lost probes.
 *
 * @packageDocumentation
 */
export { GpintError, type GpintErrorCode, type GpintErrorDetails } from './errors.js';
export { GraphBuilder } from './graph/builder.js';
export { type Components, components, requireConnected } from './graph/components.js';
export { erdosRenyi } from './graph/generate/erdos-renyi.js';
export { fatTreeGraph } from './graph/generate/fat-tree.js';
export { grid, ring, star } from './graph/generate/regular.js';
export { wattsStrogatz } from './graph/generate/watts-strogatz.js';
export { Graph, type GraphParts } from './graph/graph.js';
export { parseEdgeList } from './graph/load/edge-list.js';
export {
  type GraphmlLink,
  type GraphmlNetwork,
  type GraphmlNode,
  type GraphmlOptions,
  parseGraphmlNetwork,
} from './graph/load/graphml.js';
export { parseGraph, parseGraphFile } from './graph/load/topology.js';
export { Monitor } from './monitor/monitor.js';
export type {
  MonitorClock,
  MonitorCounters,
  MonitorEvent,
  MonitorOptions,
  PeriodicOptions,
  ProbeTransport,
  RequestType,
  SessionReport,
  SessionTelemetry,
  SwitchTelemetry,
  UncollectedReport,
} from './monitor/types.js';
export { type BoundsQuestion, lowerBounds } from './plan/bounds.js';
export { euler } from './plan/euler.js';
export { perNode } from './plan/per-node.js';
export { type Algorithm, type Bounds, Paths, type Plan } from './plan/plan.js';
export { type Failure, type Replan, type ReplanOptions, replan } from './plan/replan.js';
export {
  type PathProblem,
  type PathProblemCode,
  type PlanExpectations,
  type PlanReport,
  validatePlan,
} from './plan/validate.js';
export { type GpintOptions, gpint } from './planner/gpint.js';
export type { MeasurementRange, Measurements, PortOf, ProbeRoute, ProbeRoutes, RouteOptions } from './probe/route.js';
export { FINE_TUNED } from './recovery/config.js';
export type {
  AdaptiveOptions,
  IgnoredReason,
  LinkRecord,
  LinkStatus,
  PrefixFinder,
  PrefixRequest,
  RecoveryAction,
  RecoveryConfig,
  RecoveryCounters,
  RecoveryEvent,
  RecoveryState,
  RecoveryStep,
  SessionProbe,
  SessionResult,
  SwitchReason,
  SwitchRecord,
  UncollectedReason,
  UncollectedSwitch,
} from './recovery/model.js';
export { recoveryStep } from './recovery/step.js';
