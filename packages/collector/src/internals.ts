/**
 * Internals for the other packages of this repository. Not stable: any release may change them.
 *
 * @packageDocumentation
 */
export { prefixesOf, SenderList } from './admission/sender-list.js';
export { type Deferred, deferred } from './deferred.js';
export { BackOff } from './delivery/back-off.js';
export { lockFolder } from './delivery/folder-lock.js';
export { integer, MAX_MS, oneOf, text } from './delivery/option-checks.js';
export { OutageLog } from './delivery/outage.js';
export { isRunning, startOf } from './delivery/processes.js';
export { within } from './delivery/within.js';
export { reportIndex } from './detection/stage.js';
export { fillFrameTimes, frameTimeMs, sourceTimeMs } from './frames.js';
export { linkLayerOf, linkTypeOf } from './link-layer.js';
export { EventJson } from './records/event-json.js';
export { lifeFields } from './records/event-record.js';
export { FlowJson } from './records/flow-json.js';
export { flowFields } from './records/flow-record.js';
export { RecordNames } from './records/record-names.js';
export { ReportJson } from './records/report-json.js';
export { instructionsOf, intVersionOf, namesNodes } from './records/report-record.js';
export { ruleNames } from './records/rule-names.js';
export { DEFAULT_REPORT_PORT, parseUdpAddress } from './source/address.js';
export { kernelDrops } from './source/kernel-drops.js';
export { WallClock } from './source/wall-clock.js';
