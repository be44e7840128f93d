/**
 * A software switch: runs a P4 program between network interfaces, UDP tunnels and captures.
 *
 * @packageDocumentation
 */
export { CapturePort, type CapturePortOptions } from './capture-port.js';
export { ForwardingLoop, type ForwardingLoopOptions } from './forwarding-loop.js';
export { type LinkOptions, LinkPort } from './link-port.js';
export type { FrameTaker, Port, PortCounts, PortDropReason, PortDrops, QueueCounts } from './port.js';
export { PortError, type PortErrorCode } from './port-error.js';
export {
  type FrameSocket,
  type FrameSocketStats,
  SocketPort,
  type SocketPortOptions,
  type SocketRows,
} from './socket-port.js';
export {
  type PacketInConsumer,
  type PreparedPipeline,
  SoftSwitch,
  type SoftSwitchOptions,
  type SwitchCounts,
  type SwitchDropReason,
} from './soft-switch.js';
export { type FramePayload, UdpPort, type UdpPortAddress, type UdpPortOptions } from './udp-port.js';
