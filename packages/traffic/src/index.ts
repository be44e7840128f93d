/** Deterministic INT traffic from consistent topologies, flows, queues and bursts. @packageDocumentation */
export { TopologyError, type TopologyErrorCode } from './errors.js';
export { type FlowOptions, FlowTable } from './flows.js';
export { encodePacket, type GeneratedPacket, type GeneratorOptions, TrafficGenerator } from './generator.js';
export type { FabricOptions, TrafficMode, TrafficOptions, TrafficSettings } from './options.js';
export { type EpisodeOptions, FluidQueue, type FluidQueueOptions } from './queue.js';
export { ReportStream } from './report-stream.js';
export { MAX_REPORT_BYTES } from './report-writer.js';
export {
  type FabricSwitch,
  type FatTreeOptions,
  fatTree,
  type Host,
  type LeafSpineOptions,
  leafSpine,
  type PathHop,
  type Peer,
  parseTopology,
  type Tier,
  Topology,
} from './topology.js';
export {
  BurstProcess,
  type BurstQueueOptions,
  burstQueue,
  likelihoodRatio,
  WORKLOADS,
  type Workload,
  type WorkloadName,
} from './workload.js';
