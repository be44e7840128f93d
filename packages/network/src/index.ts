/** What a network's switches are like: units of what they measure, names, ports and links. */
export { isInPrefix, type Prefix, prefixOf } from './device/prefix.js';
export { DeviceProfile, type Measured, type UnitsByMetric } from './device/profile.js';
export type { DeviceSpec, UnitSpec, UnitsSpec } from './device/spec.js';
export { type BaseUnit, type MetricUnit, valueText } from './device/unit.js';
export { FrameSample, type SampleLimits } from './dialect/sample.js';
export { type DialectTrial, type TrialOptions, tryDialects } from './dialect/trial.js';
export { NetworkError, type NetworkProblem } from './errors.js';
export type { IdRange } from './ids.js';
export { type LearnerOptions, TopologyLearner } from './learn/learner.js';
export type { LearntPeer, LearntPort, LearntSwitch, LearntTopology } from './learn/learnt.js';
export type { HostSpec, PortSpec, SwitchSpec, TopologySpec } from './topology/spec.js';
export { type Host, type LinkEnd, type Port, type Switch, Topology } from './topology/topology.js';
