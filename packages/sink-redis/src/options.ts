import { randomBytes } from 'node:crypto';
import type { Outage } from '@int/collector';
import { integer, MAX_MS, oneOf, text } from '@int/collector/internals';
import type { CacheGeometry } from '@int/flowcache';
import type { RedisAddress } from './client/connection.js';
import type { RedisSinkError } from './errors.js';
import type { EntryOptions } from './outlet/entry-outlet.js';
import type { EventOptions } from './outlet/event-outlet.js';
import { KINDS, type KindName } from './outlet/outlet.js';

/** A number per kind of record. */
export type PerKind = { readonly [K in KindName]?: number };

/** Options of a writer. */
export interface RedisWriterOptions extends RedisAddress {
  /** Geometry of the cache whose entries and events are written. Its layout, hops and metrics define the records. */
  readonly geometry: CacheGeometry;
  /** Prefix of all keys. Default `int`. */
  readonly prefix?: string;
  /**
   * Name of this writer. Two sinks must not use the same name at the same time: the later one ends the earlier one.
   * Default: 16 random hexadecimal digits.
   */
  readonly writer?: string;
  readonly events?: EventOptions;
  readonly entries?: EntryOptions;
  /** The stream of events of detectors keeps so many at least; 0: all. Default 1,000,000. */
  readonly keepDetected?: number;
  /** Most records held, including those being sent. Default 65,536 events, 8,192 entries, 256 sets of values, 8,192 detected. */
  readonly maxPending?: PerKind;
  /**
   * `wait`: the sink takes only as many records as it has room for; the caller keeps the rest. `drop`: it takes all
   * records, and counts those without room as `overflow`. Default `wait`.
   */
  readonly whenFull?: 'wait' | 'drop';
  /**
   * Most records in a batch. The server does nothing else while it writes one. Default 1024 events, 64 entries, 64
   * values, 256 detected.
   */
  readonly batch?: PerKind;
  /** Longest wait for a batch to fill, in ms. Default 5. */
  readonly lingerMs?: number;
  /** Most unacknowledged batches. Default 4. */
  readonly inFlight?: number;
  /** Time limit for connecting, in ms. Default 5000. */
  readonly connectTimeoutMs?: number;
  /** Time limit for the reply to a batch, in ms; then the sink reconnects. Default 30,000. */
  readonly replyTimeoutMs?: number;
  /** Delay after the first failure, and the longest delay, in ms. It doubles with each failure. Default 50 and 5000. */
  readonly retry?: { readonly firstMs?: number; readonly maxMs?: number };
  /** Time for which Redis keeps the hash of this writer after `close`, in ms. Default: one week. */
  readonly writerKeepMs?: number;
  /**
   * Called for problems: once per code in an outage, and for each loss. The sink continues, except after
   * `ERR_REDIS_FENCED`.
   */
  readonly onProblem?: (problem: RedisSinkError) => void;
  /** Called when an outage is over. */
  readonly onRecovered?: (outage: Outage) => void;
  /** Returns a number from 0 to below 1, which spreads attempts to connect. Default Math.random. */
  readonly random?: () => number;
}

type ResolvedPerKind = { readonly [K in KindName]: number };

export type ResolvedOptions = ReturnType<typeof resolveOptions>;

const MAX_PENDING = { events: 65_536, entries: 8192, values: 256, detected: 8192 } as const;
const BATCH = { events: 1024, entries: 64, values: 64, detected: 256 } as const;
const WEEK_MS = 7 * 24 * 3600 * 1000;

function perKind(name: string, given: PerKind, defaults: ResolvedPerKind, most: ResolvedPerKind): ResolvedPerKind {
  const [events = 0, entries = 0, values = 0, detected = 0] = KINDS.map((outlet) =>
    integer(`${name}.${outlet}`, given[outlet] ?? defaults[outlet], 1, most[outlet]),
  );
  return { events, entries, values, detected };
}

/** @throws TypeError or RangeError that names the option */
export function resolveOptions(options: RedisWriterOptions) {
  const { geometry, events = {}, entries = {}, retry = {} } = options;
  if (typeof geometry !== 'object' || geometry === null) throw new TypeError('geometry must be that of a flow cache');
  const form = oneOf('events.form', events.form ?? 'fields', ['fields', 'packed']);
  const streams = oneOf('events.streams', events.streams ?? 'one', ['one', 'perSwitch']);
  if (form === 'packed' && streams === 'perSwitch') throw new TypeError('packed events have one stream');
  const { url, username, password, database, tls } = options;
  if (url !== undefined && !/^(rediss?|unix):\/\//.test(url)) {
    throw new TypeError('url must begin with redis://, rediss:// or unix://');
  }
  const retryFirstMs = integer('retry.firstMs', retry.firstMs ?? 50, 1, MAX_MS);
  return {
    address: {
      ...(url === undefined ? {} : { url }),
      ...(username === undefined ? {} : { username }),
      ...(password === undefined ? {} : { password }),
      ...(database === undefined ? {} : { database: integer('database', database, 0, MAX_MS) }),
      ...(tls === undefined ? {} : { tls }),
    },
    geometry,
    prefix: text('prefix', options.prefix ?? 'int'),
    writer: text('writer', options.writer ?? randomBytes(8).toString('hex')),
    events: {
      form,
      streams,
      keep: integer('events.keep', events.keep ?? 1_000_000, 0, Number.MAX_SAFE_INTEGER),
      counts: events.counts ?? true,
      maxSwitches: integer('events.maxSwitches', events.maxSwitches ?? 4096, 0, 1 << 20),
    },
    entries: {
      form: oneOf('entries.form', entries.form ?? 'flows', ['flows', 'packed']),
      keepMs: integer('entries.keepMs', entries.keepMs ?? 0, 0, Number.MAX_SAFE_INTEGER),
      maxFlows: integer('entries.maxFlows', entries.maxFlows ?? 1_000_000, 0, Number.MAX_SAFE_INTEGER),
      keep: integer('entries.keep', entries.keep ?? 1_000_000, 0, Number.MAX_SAFE_INTEGER),
    },
    keepDetected: integer('keepDetected', options.keepDetected ?? 1_000_000, 0, Number.MAX_SAFE_INTEGER),
    maxPending: perKind('maxPending', options.maxPending ?? {}, MAX_PENDING, {
      events: 1 << 24,
      entries: 1 << 20,
      values: 1 << 16,
      detected: 1 << 20,
    }),
    whenFull: oneOf('whenFull', options.whenFull ?? 'wait', ['wait', 'drop']),
    batch: perKind('batch', options.batch ?? {}, BATCH, {
      events: 1 << 16,
      entries: 1 << 13,
      values: 1 << 10,
      detected: 1 << 12,
    }),
    lingerMs: integer('lingerMs', options.lingerMs ?? 5, 0, MAX_MS),
    inFlight: integer('inFlight', options.inFlight ?? 4, 1, 1024),
    connectTimeoutMs: integer('connectTimeoutMs', options.connectTimeoutMs ?? 5000, 1, MAX_MS),
    replyTimeoutMs: integer('replyTimeoutMs', options.replyTimeoutMs ?? 30_000, 1, MAX_MS),
    retryFirstMs,
    retryMaxMs: integer('retry.maxMs', retry.maxMs ?? Math.max(5000, retryFirstMs), retryFirstMs, MAX_MS),
    writerKeepMs: integer('writerKeepMs', options.writerKeepMs ?? WEEK_MS, 1, Number.MAX_SAFE_INTEGER),
    onProblem: options.onProblem ?? (() => undefined),
    onRecovered: options.onRecovered ?? (() => undefined),
    random: options.random ?? Math.random,
  };
}
