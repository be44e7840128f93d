/**
 * P4Runtime for Node: messages, P4Info of P4 programs, the protobuf text format, a server for switches and a client for
 * controllers.
 */
export * as p4config from './messages/p4config.js';
export * as p4v1 from './messages/p4v1.js';
export { p4infoOf } from './p4info/p4info.js';
export { P4InfoError, type P4InfoErrorCode } from './p4info/p4info-error.js';
export { formatText } from './text/format-text.js';
export { parseText } from './text/parse-text.js';
export { TextFormatError, type TextFormatErrorCode } from './text/text-format-error.js';
