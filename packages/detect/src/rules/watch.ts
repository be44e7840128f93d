/** Detectors that look at time as well as at reports, as people write them. */
import type { MetricName } from '@int/codec';
import { quoted, rateOf } from '@int/network/internals';
import type { WatchConfig, WatchKey } from '../watch/config.js';
import { readDurationMs } from './duration.js';
import { described, type Given, type Mapping, type Shape } from './given.js';

/** Reads a metric, and a quantity of a metric: as other detectors do. */
export interface WatchReaders {
  readonly metric: (given: Given) => MetricName | null;
  readonly quantity: (given: Given, metric: MetricName | null) => number | null;
}

/** How a detector is written, by its name. */
export const WATCHES: Readonly<Record<WatchConfig['kind'], string>> = {
  baseline: 'baseline: { metric: hopLatency, above: 2x, key: switch }',
  rate: 'rate: { above: 1000/s, of: reports, key: switch }',
  absent: 'absent: { key: switch, for: 30s }',
  burst: 'burst: { metric: queueOccupancy, above: 1000, within: 1ms }',
};

const SHAPES: Readonly<Record<WatchConfig['kind'], Shape>> = {
  baseline: {
    what: 'baseline',
    keys: {
      metric: 'metric: hopLatency',
      above: 'above: 2x',
      below: 'below: 0.5x',
      key: 'key: switch',
      learn: 'learn: 10min',
      season: 'season: day',
    },
    required: ['metric'],
  },
  rate: { what: 'rate', keys: { above: 'above: 1000/s', of: 'of: reports', key: 'key: switch' }, required: ['above'] },
  absent: { what: 'absent', keys: { key: 'key: switch', for: 'for: 30s' }, required: ['for'] },
  burst: {
    what: 'burst',
    keys: { metric: 'metric: queueOccupancy', above: 'above: 1000', within: 'within: 1ms', key: 'key: queue' },
    required: ['metric', 'above', 'within'],
  },
};

const TEN_MINUTES_MS = 600_000;
const MULTIPLE = /^\s*(\d{1,6}(?:\.\d{1,6})?)\s*x?\s*$/;
const SEASONS = ['none', 'day', 'week'] as const;

/** A detector of {@link WATCHES}; `null` if it is wrong. */
export function readWatch(kind: WatchConfig['kind'], given: Given, readers: WatchReaders): WatchConfig | null {
  const before = given.findings.length;
  const mapping = given.shaped(SHAPES[kind], `{ ${WATCHES[kind]} }`);
  if (mapping === null) return null;
  const config = READERS[kind](mapping, given, readers);
  return given.findings.length === before ? config : null;
}

type Reader = (mapping: Mapping, given: Given, readers: WatchReaders) => WatchConfig | null;

/** A value that may be left out. */
function usual<T>(mapping: Mapping, key: string, otherwise: T, read: (given: Given) => T | null): T | null {
  return mapping.has(key) ? mapping.read(key, read) : otherwise;
}

function keyOf<K extends WatchKey>(mapping: Mapping, keys: readonly K[]): K | null {
  return usual(mapping, 'key', keys[0]!, (each) => each.choice('key', keys));
}

const READERS: Readonly<Record<WatchConfig['kind'], Reader>> = {
  baseline: (mapping, given, readers) => {
    const metric = mapping.read('metric', readers.metric);
    const above = mapping.read('above', (each) => readMultiple(each, 'above'));
    const below = mapping.read('below', (each) => readMultiple(each, 'below'));
    const key = keyOf(mapping, ['switch', 'queue', 'link', 'flow'] as const);
    const learnMs = usual(mapping, 'learn', TEN_MINUTES_MS, (each) => readDurationMs(each, 'learn', '10min', 1000));
    const season = usual(mapping, 'season', 'none' as const, (each) =>
      each.choice<'none' | 'day' | 'week'>('season', SEASONS),
    );
    if (!mapping.has('above') && !mapping.has('below')) {
      return given.refuse('MISSING_KEY', 'baseline needs above or below: write above: 2x for twice the usual');
    }
    if (metric === null || key === null || learnMs === null || season === null) return null;
    return { kind: 'baseline', metric, above, below, key, learnMs, season };
  },
  rate: (mapping) => {
    const above = mapping.read('above', (each) => {
      const text = each.numberOrText('above', '1000/s');
      return text === null ? null : each.attempt(() => rateOf(text));
    });
    const of = usual(mapping, 'of', 'reports', (each) =>
      each.choice<'reports' | 'events' | 'drops'>('of', ['reports', 'events', 'drops']),
    );
    const key = keyOf(mapping, ['all', 'switch', 'queue', 'link', 'flow'] as const);
    return above === null || of === null || key === null ? null : { kind: 'rate', above, of, key };
  },
  absent: (mapping) => {
    const key = keyOf(mapping, ['switch', 'flow'] as const);
    const forMs = mapping.read('for', (each) => readDurationMs(each, 'for', '30s'));
    return key === null || forMs === null ? null : { kind: 'absent', key, forMs };
  },
  burst: (mapping, _given, readers) => {
    const metric = mapping.read('metric', readers.metric);
    const above = mapping.read('above', (each) => readers.quantity(each, metric));
    const withinMs = mapping.read('within', (each) => readDurationMs(each, 'within', '1ms', 1e-6));
    const key = keyOf(mapping, ['queue', 'switch', 'link'] as const);
    if (metric === null || above === null || withinMs === null || key === null) return null;
    return { kind: 'burst', metric, above, withinNs: Math.round(withinMs * 1e6), key };
  },
};

/** A multiple of the usual: `2x`, or a number. Above 1 for `above`, from 0 to below 1 for `below`. */
function readMultiple(given: Given, side: 'above' | 'below'): number | null {
  const { value } = given;
  const example = side === 'above' ? '2x' : '0.5x';
  if (typeof value !== 'number' && typeof value !== 'string') {
    return given.refuse('WRONG_TYPE', `${side} is a multiple of the usual, as ${example}, not ${described(value)}`);
  }
  const multiple = typeof value === 'number' ? value : Number(MULTIPLE.exec(value)?.[1] ?? Number.NaN);
  if (side === 'above' ? multiple > 1 && multiple <= 1e6 : multiple >= 0 && multiple < 1) return multiple;
  const range = side === 'above' ? 'above 1x' : 'from 0x to below 1x';
  return given.refuse(
    'BAD_VALUE',
    `${quoted(String(value))} is no multiple for ${side}: write one ${range}, as ${example}`,
  );
}
