/** What the repository's other packages and tests need of this one. It makes no promise to others. */
export { programOf } from './compile/programs/programs.js';
export { withUndone } from './controller/undone-entries.js';
export { inOrder, instructionsOf, isWatchField, WATCH_FIELDS, type WatchField } from './intents/watch-fields.js';
export { nextSwitches } from './model/next-switches.js';
export { overheadBps, throughputLoss } from './overhead/overhead.js';
export { telemetryBytes } from './overhead/telemetry-bytes.js';
export { ownMark, ownMetadata } from './reconcile/ownership.js';
export { questionsOf } from './reconcile/p4runtime-connection.js';
export { type ComparedEffect, compareEffect, type LinkDifference } from './twin/compare-effect.js';
