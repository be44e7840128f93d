export { type WordMemory, XdpBatch } from './batch.js';
export { XdpError, type XdpErrorCode, type XdpErrorDetails } from './errors.js';
export { XdpLink, type XdpLinkOptions } from './link.js';
export { umemBytes, type XdpSocketOptions } from './options.js';
export { PacketSocket, type PacketSocketOptions, type PacketStats } from './packet-socket.js';
export {
  type SocketProgram,
  type XdpMode,
  XdpProgram,
  type XdpProgramCounters,
  type XdpProgramOptions,
} from './program.js';
export { XdpSocket } from './socket.js';
export type { XdpStats } from './stats.js';
export { queueCount, type XdpSupport, xdpSupport } from './support.js';
