/** The file that a run's contenders share. */

import { metricOf } from '@int/codec';
import { type CacheGeometry, DEFAULT_METRICS, geometryOf, type LayoutName, Thresholds } from '@int/flowcache';
import { HEADER, HEADER_WORDS, LAYOUT_VERSION, LAYOUTS, MAGIC, METRIC_WORDS } from '@int/flowcache/internals';
import { writeWorkload } from './workload.js';

/** Greater than every value: compared with each of them, and never exceeded. */
const NEVER_REACHED = 1_000_000;

export interface Setup {
  readonly layout: LayoutName;
  readonly flows: number;
  readonly rows: number;
  readonly ipv6: boolean;
  /** Reports in a batch. */
  readonly batch: number;
  readonly draws: number;
}

/** The header of a cache, for the C program. */
function headerOf(geometry: CacheGeometry): Int32Array {
  const words = new Int32Array(HEADER_WORDS);
  words[HEADER.MAGIC] = MAGIC;
  words[HEADER.VERSION] = LAYOUT_VERSION;
  words[HEADER.LAYOUT] = LAYOUTS.indexOf(geometry.layout);
  words[HEADER.ROWS] = geometry.rows;
  words[HEADER.BUCKETS] = geometry.buckets;
  words[HEADER.HOPS] = geometry.hops;
  words[HEADER.METRICS] = geometry.metrics.length;
  words[HEADER.ROW_STRIDE] = geometry.rowStride;
  words[HEADER.BUCKET_STRIDE] = geometry.bucketStride;
  words[HEADER.ROWS_AT] = geometry.rowsAt;
  words[HEADER.BUCKETS_AT] = geometry.bucketsAt;
  geometry.metrics.forEach((name, metric) => {
    const { columnIndex, pairIndex } = metricOf(name);
    const pair = pairIndex < 0 ? columnIndex : pairIndex;
    words.set([columnIndex, pair], METRIC_WORDS + 2 * metric);
  });
  return words;
}

/** Thresholds of the level and of the change of every metric and of the path, none of which is ever reached. */
export function quietThresholds(): Thresholds {
  const limits = { level: NEVER_REACHED, change: NEVER_REACHED };
  const thresholds = new Thresholds(DEFAULT_METRICS, { endToEnd: limits });
  for (const metric of DEFAULT_METRICS) thresholds.set(metric, limits);
  return thresholds;
}

export function writeSetup(path: string, setup: Setup): CacheGeometry {
  const geometry = geometryOf({ layout: setup.layout, rows: setup.rows });
  writeWorkload(path, {
    flows: setup.flows,
    ipv6: setup.ipv6,
    size: setup.batch,
    draws: setup.draws,
    header: headerOf(geometry),
    thresholds: quietThresholds().words,
  });
  return geometry;
}
