/** The switch roles: source, transit and sink as pure functions from packet to packet. */
export type {
  LocateOptions,
  RoleReason,
  SinkConfig,
  SinkResult,
  SourceConfig,
  SourceEncapsulation,
  SourceResult,
  TransitConfig,
  TransitResult,
} from './config.js';
export { sink } from './sink.js';
export { source } from './source.js';
export { STRIP, Stripper } from './strip.js';
export { transit } from './transit.js';
