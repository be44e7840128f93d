import type { FlowSideOptions, NetworkSideOptions, TimeOptions } from './options.js';

/** @throws RangeError unless the value is an integer from `least` to `most` */
function wholeNumber(name: string, value: number, least: number, most: number): number {
  if (!Number.isInteger(value) || value < least || value > most) {
    throw new RangeError(`${name} must be an integer from ${least} to ${most}, not ${value}`);
  }
  return value;
}

/**
 * Converts milliseconds to microseconds.
 * @throws RangeError below one microsecond, or above `mostMs`
 */
function duration(name: string, valueMs: number, mostMs: number): number {
  const us = Math.round(valueMs * 1000);
  if (!(us >= 1 && valueMs <= mostMs)) throw new RangeError(`${name} must be 0.001 to ${mostMs}, not ${valueMs}`);
  return us;
}

function lateness(valueMs = 0): number {
  return valueMs === 0 ? 0 : duration('latenessMs', valueMs, DAY_MS);
}

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** Lengths of slices and windows in microseconds. */
export interface Times {
  readonly sliceUs: number;
  readonly windowUs: number;
  readonly slicesPerWindow: number;
}

function resolveTimes({ windowMs = 1000, sliceMs = 250 }: TimeOptions): Times {
  const sliceUs = duration('sliceMs', sliceMs, MINUTE_MS);
  const windowUs = duration('windowMs', windowMs, 60 * MINUTE_MS);
  if (windowUs % sliceUs !== 0) {
    throw new RangeError(`windowMs must be a multiple of sliceMs, not ${windowMs} with ${sliceMs}`);
  }
  return { sliceUs, windowUs, slicesPerWindow: windowUs / sliceUs };
}

/** Options of a flow side with all defaults filled in. Times are in microseconds. */
export interface ResolvedFlowOptions extends Times {
  readonly side: number;
  readonly graceUs: number;
  /** Whether only `advance` moves the time. */
  readonly isTold: boolean;
  readonly latenessUs: number;
  readonly windows: number;
  readonly flows: number;
  readonly hops: number;
  readonly idleUs: number;
  readonly switches: number;
  readonly links: number;
  readonly queues: number;
  readonly reporters: number;
  readonly sequenceBlocks: number;
  readonly blackHoleUs: number;
  readonly blackHoleGaps: number;
  readonly loopQuietUs: number;
}

/** @throws RangeError for an option out of range */
export function resolveFlowOptions(options: FlowSideOptions): ResolvedFlowOptions {
  const times = resolveTimes(options);
  const { windowUs } = times;
  const { graceMs = 250, idleMs = 60_000, blackHoleGaps = 10 } = options;
  const graceUs = graceMs === 0 ? 0 : duration('graceMs', graceMs, windowUs / 1000);
  const idleUs = duration('idleMs', idleMs, DAY_MS);
  if (idleUs < 2 * windowUs + graceUs) throw new RangeError('idleMs must be at least two windows and graceMs');
  if (!(blackHoleGaps >= 0 && blackHoleGaps <= 1e6)) {
    throw new RangeError(`blackHoleGaps must be 0 to 1000000, not ${blackHoleGaps}`);
  }
  const latenessUs = lateness(options.latenessMs);
  const { clock = 'reports', flows = 16_384 } = options;
  if (clock !== 'reports' && clock !== 'told') {
    throw new RangeError(`clock must be reports or told, not ${String(clock)}`);
  }
  return {
    ...times,
    graceUs,
    // A side that forgets a flow no longer knows which of its windows were emitted.
    idleUs: Math.max(idleUs, latenessUs + 2 * windowUs + graceUs),
    isTold: clock === 'told',
    latenessUs,
    blackHoleGaps,
    side: wholeNumber('side', options.side ?? 0, 0, 0xffffffff),
    flows: wholeNumber('flows', flows, 1, 1 << 22),
    windows: wholeNumber('windows', options.windows ?? Math.max(2, 2 * flows), 2, 1 << 23),
    hops: wholeNumber('hops', options.hops ?? 12, 2, 63),
    switches: wholeNumber('switches', options.switches ?? 1024, 1, 1 << 20),
    links: wholeNumber('links', options.links ?? 4096, 1, 1 << 20),
    queues: wholeNumber('queues', options.queues ?? 4096, 1, 1 << 20),
    reporters: wholeNumber('reporters', options.reporters ?? 1024, 1, 1 << 20),
    sequenceBlocks: wholeNumber('sequenceBlocks', options.sequenceBlocks ?? 16_384, 1, 1 << 22),
    blackHoleUs: duration('blackHoleMs', options.blackHoleMs ?? 1000, DAY_MS),
    loopQuietUs: duration('loopQuietMs', options.loopQuietMs ?? 1000, DAY_MS),
  };
}

/** Options of a network side with all defaults filled in. Times are in slices or microseconds. */
export interface ResolvedNetworkOptions extends Times {
  readonly sides: number;
  readonly waitSlices: number;
  readonly forgetSlices: number;
  readonly latenessUs: number;
  readonly kept: number;
  readonly pending: number;
  readonly switches: number;
  readonly links: number;
  readonly queues: number;
  readonly reporters: number;
  readonly linkSilenceUs: number;
  readonly linkFlows: number;
  readonly queueThreshold: (nodeId: number, queueId: number) => number;
  readonly queueStatistic: 'mean' | 'max';
  readonly congestedWindows: number;
  readonly reorderSlices: number;
  readonly idleSlices: number;
}

/** @throws RangeError for an option out of range */
export function resolveNetworkOptions(options: NetworkSideOptions): ResolvedNetworkOptions {
  const times = resolveTimes(options);
  const {
    queueThreshold = 500,
    queueStatistic = 'mean',
    waitMs = 10_000,
    forgetMs = Math.max(60_000, waitMs),
  } = options;
  const slices = (name: string, valueMs: number): number => Math.ceil(duration(name, valueMs, DAY_MS) / times.sliceUs);
  if (typeof queueThreshold === 'number' && !(queueThreshold >= 0)) {
    throw new RangeError(`queueThreshold must not be ${queueThreshold}`);
  }
  if (queueStatistic !== 'mean' && queueStatistic !== 'max') {
    throw new RangeError(`queueStatistic must be mean or max, not ${String(queueStatistic)}`);
  }
  const waitSlices = slices('waitMs', waitMs);
  const forgetSlices = slices('forgetMs', forgetMs);
  if (forgetSlices < waitSlices) throw new RangeError('forgetMs must not be less than waitMs');
  return {
    ...times,
    waitSlices,
    forgetSlices,
    queueStatistic,
    queueThreshold: typeof queueThreshold === 'number' ? (): number => queueThreshold : queueThreshold,
    latenessUs: lateness(options.latenessMs),
    kept: wholeNumber('kept', options.kept ?? 16_384, 1, 1 << 22),
    sides: wholeNumber('sides', options.sides ?? 1, 1, 65_536),
    pending: wholeNumber('pending', options.pending ?? 4096, 1, 1 << 20),
    switches: wholeNumber('switches', options.switches ?? 4096, 1, 1 << 20),
    links: wholeNumber('links', options.links ?? 16_384, 1, 1 << 20),
    queues: wholeNumber('queues', options.queues ?? 16_384, 1, 1 << 20),
    reporters: wholeNumber('reporters', options.reporters ?? 4096, 1, 1 << 20),
    linkSilenceUs: duration('linkSilenceMs', options.linkSilenceMs ?? 1000, DAY_MS),
    linkFlows: wholeNumber('linkFlows', options.linkFlows ?? 3, 1, 8),
    congestedWindows: wholeNumber('congestedWindows', options.congestedWindows ?? 3, 1, 1000),
    reorderSlices: slices('reorderMs', options.reorderMs ?? 1000),
    idleSlices: slices('idleMs', options.idleMs ?? 300_000),
  };
}
