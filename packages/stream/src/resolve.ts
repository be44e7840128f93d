import type { FlowSideOptions, NetworkSideOptions, TimeOptions } from './options.js';

/** @throws RangeError unless the value is an integer from `least` to `most` */
function wholeNumber(name: string, value: number, least: number, most: number): number {
  if (!Number.isInteger(value) || value < least || value > most) {
    throw new RangeError(`${name} must be an integer from ${least} to ${most}, not ${value}`);
  }
  return value;
}

/** Default, least and largest value of whole numbers, by option. */
type Ranges<Name extends string> = Readonly<Record<Name, readonly [number, number, number]>>;

const FLOW_NUMBERS = {
  side: [0, 0, 0xffffffff],
  flows: [16_384, 1, 1 << 22],
  hops: [12, 2, 63],
  switches: [1024, 1, 1 << 20],
  links: [4096, 1, 1 << 20],
  queues: [4096, 1, 1 << 20],
  reporters: [1024, 1, 1 << 20],
  sequenceBlocks: [16_384, 1, 1 << 22],
} as const;

const NETWORK_NUMBERS = {
  sides: [1, 1, 65_536],
  kept: [16_384, 1, 1 << 22],
  pending: [4096, 1, 1 << 20],
  switches: [4096, 1, 1 << 20],
  links: [16_384, 1, 1 << 20],
  queues: [16_384, 1, 1 << 20],
  reporters: [4096, 1, 1 << 20],
  linkFlows: [3, 1, 8],
  congestedWindows: [3, 1, 1000],
} as const;

function wholeNumbers<Name extends string>(
  ranges: Ranges<Name>,
  options: { readonly [Option in NoInfer<Name>]?: number | undefined },
): Record<Name, number> {
  const names = Object.keys(ranges) as Name[];
  const resolved = names.map((name) => {
    const [usual, least, most] = ranges[name];
    return [name, wholeNumber(name, options[name] ?? usual, least, most)] as const;
  });
  return Object.fromEntries(resolved) as Record<Name, number>;
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
function resolveTimes({ windowMs = 1000, sliceMs = 250 }: TimeOptions) {
  const sliceUs = duration('sliceMs', sliceMs, MINUTE_MS);
  const windowUs = duration('windowMs', windowMs, 60 * MINUTE_MS);
  if (windowUs % sliceUs !== 0) {
    throw new RangeError(`windowMs must be a multiple of sliceMs, not ${windowMs} with ${sliceMs}`);
  }
  return { sliceUs, windowUs, slicesPerWindow: windowUs / sliceUs };
}

/** Options of a flow side with all defaults filled in. Times are in microseconds. */
export type ResolvedFlowOptions = Readonly<ReturnType<typeof resolveFlowOptions>>;

/** @throws RangeError for an option out of range */
export function resolveFlowOptions(options: FlowSideOptions) {
  const times = resolveTimes(options);
  const { windowUs } = times;
  const { graceMs = 250, idleMs = 60_000, blackHoleGaps = 10, clock = 'reports' } = options;
  const graceUs = graceMs === 0 ? 0 : duration('graceMs', graceMs, windowUs / 1000);
  const idleUs = duration('idleMs', idleMs, DAY_MS);
  if (idleUs < 2 * windowUs + graceUs) throw new RangeError('idleMs must be at least two windows and graceMs');
  if (!(blackHoleGaps >= 0 && blackHoleGaps <= 1e6)) {
    throw new RangeError(`blackHoleGaps must be 0 to 1000000, not ${blackHoleGaps}`);
  }
  const latenessUs = lateness(options.latenessMs);
  if (clock !== 'reports' && clock !== 'told') {
    throw new RangeError(`clock must be reports or told, not ${String(clock)}`);
  }
  const numbers = wholeNumbers(FLOW_NUMBERS, options);
  return {
    ...times,
    ...numbers,
    windows: wholeNumber('windows', options.windows ?? Math.max(2, 2 * numbers.flows), 2, 1 << 23),
    graceUs,
    // A side that forgets a flow no longer knows which of its windows were emitted.
    idleUs: Math.max(idleUs, latenessUs + 2 * windowUs + graceUs),
    /** Whether only `advance` moves the time. */
    isTold: clock === 'told',
    latenessUs,
    blackHoleGaps,
    blackHoleUs: duration('blackHoleMs', options.blackHoleMs ?? 1000, DAY_MS),
    loopQuietUs: duration('loopQuietMs', options.loopQuietMs ?? 1000, DAY_MS),
  };
}

/** Options of a network side with all defaults filled in. Times are in slices or microseconds. */
export type ResolvedNetworkOptions = Readonly<ReturnType<typeof resolveNetworkOptions>>;

/** @throws RangeError for an option out of range */
export function resolveNetworkOptions(options: NetworkSideOptions) {
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
    ...wholeNumbers(NETWORK_NUMBERS, options),
    waitSlices,
    forgetSlices,
    queueStatistic,
    queueThreshold: typeof queueThreshold === 'number' ? (): number => queueThreshold : queueThreshold,
    latenessUs: lateness(options.latenessMs),
    linkSilenceUs: duration('linkSilenceMs', options.linkSilenceMs ?? 1000, DAY_MS),
    reorderSlices: slices('reorderMs', options.reorderMs ?? 1000),
    idleSlices: slices('idleMs', options.idleMs ?? 300_000),
  };
}
