/** The switch roles: source, transit and sink as pure functions from packet to packet. */
export {
  type LocateOptions,
  type RoleReason,
  type SinkConfig,
  type SinkResult,
  SOURCE_ENCAPSULATIONS,
  type SourceConfig,
  type SourceEncapsulation,
  type SourceResult,
  type TransitConfig,
  type TransitResult,
} from './config.js';
export { sink } from './sink.js';
export { source } from './source.js';
export { STRIP, Stripper } from './strip.js';
export { transit } from './transit.js';
