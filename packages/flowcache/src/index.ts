/**
 * A cache of millions of flows with per-hop statistics, in one block of memory.
 *
 * @packageDocumentation
 */
export type { Comparison } from './cache/engine.js';
export { EntryReader, type FlowEntry, type HopStatistics, type MetricStatistics } from './cache/entry.js';
export { FlowCacheError, type FlowCacheErrorCode } from './cache/errors.js';
export { type FlowEvent, type FlowEventKind, readFlowEvent } from './cache/event.js';
export { FlowCache } from './cache/flow-cache.js';
export type { FlowCacheOptions, RecordConsumer } from './cache/options.js';
export { type FlowCacheTotals, FlowCacheView } from './cache/reader.js';
export { type RestoreOptions, SnapshotReader, writeSnapshot } from './cache/snapshot.js';
export { type Limits, type ThresholdOptions, Thresholds } from './cache/thresholds.js';
export type { Bins, ExplicitBins, LinearBins, LogarithmicBins } from './distribution/bins.js';
export {
  type DistributionNode,
  type DistributionOptions,
  Distributions,
  type DistributionTotals,
  type HopTotals,
} from './distribution/distributions.js';
export { DistributionError, type DistributionErrorCode } from './distribution/errors.js';
export { Histogram, type HistogramJson, type HistogramRecorder, type ValueRange } from './distribution/histogram.js';
export type { DistributionDimensions, DistributionName } from './distribution/layout.js';

export {
  type CacheGeometry,
  COMPACT,
  COUNTERS,
  type CounterName,
  DEFAULT_METRICS,
  type Dimensions,
  EVENT_KIND,
  EVENT_WORD,
  EVENT_WORDS,
  EXACT,
  geometryOf,
  type HashName,
  type LayoutName,
  META,
  REASON,
  REASONS,
  type Reason,
} from './layout.js';
