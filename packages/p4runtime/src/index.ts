/**
 * P4Runtime for Node: messages, P4Info of P4 programs, the protobuf text format, a server for switches and a client for
 * controllers.
 */
export * as p4config from './messages/p4config.js';
export * as p4v1 from './messages/p4v1.js';
