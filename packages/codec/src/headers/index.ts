/** Header codecs, one object each. */
export type { FixedHeaderCodec, HeaderCodec } from './codec.js';
export * from './gpint.js';
export * from './hop.js';
export * from './int.js';
export * from './ip.js';
export * from './link.js';
export * from './report.js';
export * from './roce.js';
export * from './shim.js';
export * from './transport.js';
export * from './tunnels.js';
