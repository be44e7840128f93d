/** The charts in benchmarks/results, by file name. */
import type { Chart } from '@int/harness';
import { monitorChart } from '../afxdp/results.js';
import { loadChart, stageChart } from '../collector/results.js';
import { insertionChart } from '../dart-insertion/results.js';
import { parquetChart } from '../parquet/results.js';
import { results } from './reading.js';

export const CHARTS: Readonly<Record<string, () => Chart>> = {
  'afxdp-monitor.svg': () => monitorChart(results<{ monitor: Parameters<typeof monitorChart>[0] }>('afxdp').monitor),
  'collector-stages.svg': () => stageChart(results<{ stages: Parameters<typeof stageChart>[0] }>('collector').stages),
  'collector-load.svg': () => loadChart(results<{ load: Parameters<typeof loadChart>[0] }>('collector').load),
  'dart-insertion.svg': () =>
    insertionChart(results<{ results: Parameters<typeof insertionChart>[0] }>('dart-insertion').results),
  'parquet.svg': () => parquetChart(results<{ results: Parameters<typeof parquetChart>[0] }>('parquet').results),
};
