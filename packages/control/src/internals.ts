/** What the repository's other packages and tests need of this one. It makes no promise to others. */
export { withUndone } from './controller/undone-entries.js';
export { nextSwitches } from './model/next-switches.js';
export { overheadBps, throughputLoss } from './overhead/overhead.js';
export { telemetryBytes } from './overhead/telemetry-bytes.js';
export { ownMark, ownMetadata } from './reconcile/ownership.js';
export { questionsOf } from './reconcile/p4runtime-connection.js';
export { type ComparedEffect, compareEffect, type LinkDifference } from './twin/compare-effect.js';
