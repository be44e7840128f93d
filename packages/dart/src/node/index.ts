/**
 * The parts that need Node.js: stores on disk (checkpoints, epochs, history), and RDMA over UDP sockets.
 *
 * @packageDocumentation
 */
export type { CheckpointSummary } from './checkpointer.js';
export type { DamagedFile } from './damage.js';
export type {
  EpochAnswer,
  EpochInfo,
  EpochSource,
  EpochStatistics,
  EpochStoreOptions,
  HistoryQuery,
  Rotation,
} from './epoch-options.js';
export { EpochReader, type EpochReaderOptions } from './epoch-reader.js';
export { EpochStore } from './epoch-store.js';
export { DartStoreError, type DartStoreErrorCode } from './errors.js';
export { UdpRnic, type UdpRnicCounters, type UdpRnicOptions } from './udp-rnic.js';
export { type RdmaAnswer, UdpRdmaSender, type UdpRdmaSenderOptions } from './udp-sender.js';
