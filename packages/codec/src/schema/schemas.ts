/** All schemas of headers by name. */
export * from './gpint.js';
export * from './int.js';
export * from './metadata.js';
export * from './packet.js';
export * from './report.js';
export * from './roce.js';
