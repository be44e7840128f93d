/**
 * A monitor on UDP sockets, for Node.
 *
 * @packageDocumentation
 */
export {
  type PayloadHandler,
  realClock,
  type SwitchAddress,
  UdpProbeTransport,
  type UdpTransportCounters,
  type UdpTransportOptions,
} from './udp.js';
