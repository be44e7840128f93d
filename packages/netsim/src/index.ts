/**
 * A deterministic network in virtual time: switches, links with loss, queues, hosts, and captures of any link.
 *
 * @packageDocumentation
 */
export { labelledFrame } from './attacks/frame.js';
export {
  type LabelledTraffic,
  type LabelledTrafficOptions,
  labelledTraffic,
} from './attacks/labelled-traffic.js';
export { ATTACK_KINDS, type AttackKind, type LabelledPacket, type Truth } from './attacks/packet.js';
export type { Behaviour } from './behaviour.js';
export {
  ADDRESSES,
  type BuildOptions,
  type BuiltNetwork,
  buildNetwork,
  type GpintSettings,
  type LinkSettings,
} from './build-network.js';
export type { Wakeable } from './event-queue.js';
export { UDP_HEADERS_BYTES, type UdpFrameOptions, udpFrame, udpPayload } from './frames.js';
export { type Datagram, Host, type HostOptions } from './hosts/host.js';
export { MonitorHost, type MonitorHostOptions, type PayloadHandler } from './hosts/monitor-host.js';
export { UdpTraffic, type UdpTrafficOptions } from './hosts/udp-traffic.js';
export type {
  DirectionName,
  DirectionOptions,
  FrameConsumer,
  Link,
  LinkCounters,
  LinkOptions,
  OutputState,
} from './link.js';
export type { LoadLink } from './loads/fat-tree.js';
export {
  type LabelledLoads,
  type LabelledLoadsOptions,
  LOAD_KINDS,
  type LoadFlow,
  type LoadKind,
  type LoadPacket,
  type LoadTruth,
  labelledLoads,
} from './loads/labelled-loads.js';
export { Network, type NetworkOptions, type TapOptions, type Timer } from './network.js';
export type { Node, NodeOptions } from './network-node.js';
export { PcapTap, type PcapTapOptions } from './pcap-tap.js';
export { shortestPathRoutes } from './routes.js';
export type { Fabric } from './scenarios/fabric.js';
export {
  type DrainedLink,
  LABEL_KINDS,
  type Label,
  type LabelKind,
  SCENARIO_KINDS,
  type ScenarioKind,
} from './scenarios/label.js';
export {
  runScenario,
  SCENARIO_NETWORK,
  Scenario,
  type ScenarioOptions,
  type ScenarioReport,
  type ScenarioResult,
} from './scenarios/scenario.js';
export type { ScenarioFlow } from './scenarios/traffic.js';
export type { AddressPrefix, FlowMatch } from './switches/flow-match.js';
export { ForwardingSwitch } from './switches/forwarding-switch.js';
export { GpintSwitch, type GpintSwitchOptions } from './switches/gpint-switch.js';
export {
  IntSwitch,
  type IntSwitchOptions,
  type SteeringRule,
  type WatchRule,
} from './switches/int-switch.js';
