/** fast-check generators for INT packets, telemetry reports and malformed frames. @packageDocumentation */
export { chunks } from './chunks.js';
export { encodeOptionsFor } from './context.js';
export { type Dressing, type DressingName, dress, dressed, dressing } from './dressing.js';
export { type FlowConstraints, flow } from './flow.js';
export { frame, type GeneratedFrame, plainPacket, reportPayload } from './frame.js';
export { gpint } from './gpint.js';
export { type HopConstraints, hop } from './int.js';
export type { BlockLayout } from './layout.js';
export { malformed } from './malformed.js';
export { intHeader, type RecordConstraints, type RecordKind, reportRecords, telemetryRecord } from './record.js';
