import { type Outage, RECORD_KINDS, type RecordKind } from '@int/collector';
import { integer, MAX_MS, oneOf } from '@int/collector/internals';
import type { DeviceProfile, Topology } from '@int/network';
import { COMPRESSIONS, type Compression } from './engine/file-writer.js';
import type { ParquetSinkError } from './errors.js';
import { namesJson } from './history/names.js';

/** Limits at which rows in memory become a file: the first one reached applies. */
export interface RotateOptions {
  /** Rows in a file at most, 2048 to 2^24. Default 262,144. */
  readonly rows?: number;
  /** Bytes of memory of the rows of a file at most. Default: a quarter of `memoryBytes`. */
  readonly bytes?: number;
  /** Longest time that a row waits, in ms. Default 60,000. */
  readonly ageMs?: number;
}

/** Merging of the small files of past hours. */
export interface CompactionOptions {
  /** Size limit of merged files, in bytes. Files above half of it are not merged. Default 128 MiB. */
  readonly targetBytes?: number;
  /** Delay after the end of an hour before its files are merged, in ms. Default 900,000. */
  readonly afterMs?: number;
  /**
   * How long merged files are kept for running queries, in ms. With 0, a query during a merge may miss files. Default
   * 30,000.
   */
  readonly graceMs?: number;
}

/** Limits of the store. Whole hours are removed, the oldest first. The newest hour stays. */
export interface RetentionOptions {
  /** Largest age of an hour since its end, in ms. Default: none. */
  readonly ageMs?: number;
  /** Largest size of the store, in bytes. Default: none. */
  readonly bytes?: number;
}

/** Options of a sink. */
export interface ParquetSinkOptions {
  /** The folder of the store. It is created if missing. */
  readonly directory: string;
  /** Name of the sink. Default `parquet`. */
  readonly name?: string;
  /** What the numbers are in; the metadata of each file says so, as JSON under `int_units`. Default: nobody said. */
  readonly device?: DeviceProfile;
  /** Kinds of records to take. Default: all. */
  readonly records?: readonly RecordKind[];
  /** 16 lower-case hexadecimal digits that begin the id of each record. Default: random. */
  readonly instance?: string;
  /**
   * Names of switches. Files have them in their metadata, as JSON by id under the key `int_switch_names`, unless they are longer
   * than 256 KiB. Default: none.
   */
  readonly names?: Topology;
  /** Default `zstd`. */
  readonly compression?: Compression;
  readonly rotate?: RotateOptions;
  /** Memory for rows that are not in a file yet, in bytes; at least 8 MiB. Default 128 MiB. */
  readonly memoryBytes?: number;
  /**
   * What to do when that memory is full. `wait`: the pipeline waits. `drop`: new records are dropped as `overflow`.
   * Default `wait`.
   */
  readonly whenFull?: 'wait' | 'drop';
  /** `false`: files are not merged. */
  readonly compaction?: CompactionOptions | false;
  readonly retention?: RetentionOptions;
  /** Interval of maintenance (merging and removing files), in ms. 0: only {@link ParquetSink.maintain} does it. Default 60,000. */
  readonly maintenanceMs?: number;
  /** Threads of the engine that writes the files. Default 1. */
  readonly threads?: number;
  /** First pause after a failure, in ms, and the longest one, as it doubles with each. Defaults 500 and 30,000. */
  readonly retry?: { readonly firstMs?: number; readonly maxMs?: number };
  /** The clock for the age of hours, in ms since the epoch. Default `Date.now`. */
  readonly now?: () => number;
  /** Called once for each kind of failure of an outage. */
  readonly onProblem?: (error: ParquetSinkError) => void;
  /** Called when files can be written again. */
  readonly onRecovered?: (outage: Outage) => void;
}

/** The units as they stand in the files; `null`: none is known. */
function unitsText(device: DeviceProfile | undefined): string | null {
  if (device === undefined) return null;
  const units = device.units();
  return Object.values(units).every((unit) => unit === null || unit.length === 0) ? null : JSON.stringify(units);
}

export type ResolvedOptions = ReturnType<typeof resolveOptions>;

const MIB = 2 ** 20;
const MOST_ROWS = 2 ** 24;

/** @throws TypeError or RangeError that names a wrong option */
export function resolveOptions(options: ParquetSinkOptions) {
  const { directory, rotate = {}, compaction = {}, retention = {}, retry = {}, records = RECORD_KINDS } = options;
  if (typeof directory !== 'string' || directory === '') throw new TypeError('directory must be the path of a folder');
  for (const kind of records) oneOf('records', kind, RECORD_KINDS);
  const { instance } = options;
  if (instance !== undefined && !/^[0-9a-f]{16}$/.test(instance)) {
    throw new TypeError(`instance must be 16 lower-case hexadecimal digits, not ${String(instance)}`);
  }
  const memoryBytes = integer('memoryBytes', options.memoryBytes ?? 128 * MIB, 8 * MIB, Number.MAX_SAFE_INTEGER);
  if (retention.ageMs !== undefined) integer('retention.ageMs', retention.ageMs, 0, Number.MAX_SAFE_INTEGER);
  if (retention.bytes !== undefined) integer('retention.bytes', retention.bytes, 0, Number.MAX_SAFE_INTEGER);
  return {
    directory,
    name: options.name ?? 'parquet',
    records,
    units: unitsText(options.device),
    instance,
    namesJson: namesJson(options.names),
    compression: oneOf('compression', options.compression ?? 'zstd', COMPRESSIONS),
    rotate: {
      rows: integer('rotate.rows', rotate.rows ?? 262_144, 2048, MOST_ROWS),
      bytes: integer('rotate.bytes', rotate.bytes ?? Math.floor(memoryBytes / 4), MIB, Number.MAX_SAFE_INTEGER),
      ageMs: integer('rotate.ageMs', rotate.ageMs ?? 60_000, 10, MAX_MS),
    },
    memoryBytes,
    whenFull: oneOf('whenFull', options.whenFull ?? 'wait', ['wait', 'drop']),
    compaction:
      compaction === false
        ? null
        : {
            targetBytes: integer(
              'compaction.targetBytes',
              compaction.targetBytes ?? 128 * MIB,
              1,
              Number.MAX_SAFE_INTEGER,
            ),
            afterMs: integer('compaction.afterMs', compaction.afterMs ?? 900_000, 0, MAX_MS),
            graceMs: integer('compaction.graceMs', compaction.graceMs ?? 30_000, 0, MAX_MS),
          },
    retention,
    maintenanceMs: integer('maintenanceMs', options.maintenanceMs ?? 60_000, 0, MAX_MS),
    threads: integer('threads', options.threads ?? 1, 1, 256),
    retryFirstMs: integer('retry.firstMs', retry.firstMs ?? 500, 1, MAX_MS),
    retryMaxMs: integer('retry.maxMs', retry.maxMs ?? 30_000, 1, MAX_MS),
    now: options.now ?? Date.now,
    onProblem: options.onProblem ?? (() => undefined),
    onRecovered: options.onRecovered ?? (() => undefined),
  };
}
