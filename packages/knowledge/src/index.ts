/** What telemetry says about a network: incidents, with their arithmetic. @packageDocumentation */
export { samplesToFalseAlarm, thresholdFor } from './change/false-alarms.js';
export { ConnLog } from './conn-log/conn-log.js';
export { ConnLogError } from './conn-log/error.js';
export {
  type Aggregate,
  type Clustered,
  type FlowSet,
  type SmallFlow,
  TrafficClusters,
} from './engineering/clusters.js';
export { type Decision, type EngineerOptions, type NetworkView, TrafficEngineer } from './engineering/engineer.js';
export { Forecast } from './engineering/forecast.js';
export type { Demand, LinkCapacity } from './engineering/network-load.js';
export { type Placement, placeDemands } from './engineering/placement.js';
export type { Move } from './engineering/search.js';
export { type BeaconScore, beaconScore } from './hosts/beacon-score.js';
export type { HostPhases, PhaseEvidence } from './hosts/phases.js';
export type { Finding, Incident, IncidentKind, Operands, Phase, Suggestion } from './incident/incident.js';
export type { ConnectionObservation, KnowledgeTotals, MetricObservation, PacketObservation } from './observation.js';
export type { Capacity, KnowledgeOptions } from './options.js';
export { type KnowledgeListener, KnowledgePlane } from './plane.js';
export { RandomWalk, type RandomWalkOptions } from './scan/random-walk.js';
