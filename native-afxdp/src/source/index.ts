/**
 * AF_XDP sockets as a source of telemetry for `@int/collector`.
 *
 * @packageDocumentation
 */
export type { SourcePrefilter, XdpSourceOptions } from './options.js';
export { XdpSource, type XdpSourceStatistics } from './xdp-source.js';
