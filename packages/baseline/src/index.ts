/** What is usual for a number that changes over the day, and how far from it a value is. */
export { Baseline, type Judgement } from './baseline.js';
export { BaselineTable, USUALNESS } from './baseline-table.js';
export type { BaselineOptions, Season } from './options.js';
