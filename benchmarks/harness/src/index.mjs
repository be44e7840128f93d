// @ts-check
// What benchmarks and studies share.
export { BenchmarkRun } from './benchmark.mjs';
export { groupedBars, stackedBars } from './charts/bars.mjs';
export { lineChart } from './charts/lines.mjs';
export { strips } from './charts/strips.mjs';
export { drawChart } from './charts.mjs';
export { marksOf, paragraph, withFigures } from './marks.mjs';
export { partsOf, readOptions, wholeNumber } from './options.mjs';
export { duration, Progress } from './progress.mjs';
export {
  beginRun,
  contentOf,
  digestOf,
  isMeasured,
  mergeRows,
  REPOSITORY,
  readResults,
  surroundingsLine,
  writeResults,
} from './results.mjs';
export { defineStudy, madeOfResults, runStudy } from './study.mjs';
export { aligned, markdownTable, printTable } from './tables.mjs';
/** @typedef {import('./charts.mjs').Chart} Chart */
/** @typedef {import('./results.mjs').Head} Head */
