import { type MetricName, NOT_AVAILABLE } from '@int/codec';
import { MAX_METRICS, THRESHOLDS } from '../layout.js';

/** Two limits of one value. `null`: never. */
export interface Limits {
  /** T: a value above it is an event, on every packet. Unsigned 32 bits. */
  readonly level: number | null;
  /** C: a value that is further than this from the flow's previous one is an event. */
  readonly change: number | null;
}

/** The limits of a cache, as its options take them. */
export interface ThresholdOptions {
  /** Per metric of the cache, at every switch. */
  readonly metrics?: { readonly [K in MetricName]?: Partial<Limits> };
  /** Of the sum of the hop latency over the path. */
  readonly endToEnd?: Partial<Limits>;
  /** Whether a path that differs from the flow's previous one is an event. Default false. */
  readonly pathChange?: boolean;
}

function encode(name: string, limit: number | null | undefined): number {
  if (limit === null || limit === undefined) return NOT_AVAILABLE;
  if (!Number.isInteger(limit) || limit < 0 || limit > 0xffffffff) {
    throw new RangeError(`${name} must be an integer from 0 to 2^32 - 1 or null, not ${limit}`);
  }
  return limit;
}

/**
 * The thresholds of one or more caches, in memory that threads can share. One thread writes; all caches with the table
 * follow after at most 256 more reports, and none has to stop.
 */
export class Thresholds {
  readonly metrics: readonly MetricName[];
  /** The table, see THRESHOLDS. To share it, give its `buffer` to another thread, and there to this constructor. */
  readonly words: Int32Array;

  /**
   * @param metrics those of the caches, in their order
   * @param options limits to start with; with a `buffer` that another thread filled, only those to change
   * @param buffer the memory of another table. Default: a SharedArrayBuffer, or an ArrayBuffer where there is none
   * @throws RangeError for a metric that is not in the list, a limit that is no unsigned 32-bit integer, or a buffer
   *   that is too small
   */
  constructor(metrics: readonly MetricName[], options: ThresholdOptions = {}, buffer?: ArrayBufferLike) {
    if (metrics.length > MAX_METRICS) throw new RangeError(`at most ${MAX_METRICS} metrics`);
    this.metrics = [...metrics];
    const bytes = THRESHOLDS.WORDS * 4;
    if (buffer !== undefined && buffer.byteLength < bytes) {
      throw new RangeError(`a table of thresholds needs ${bytes} bytes, not ${buffer.byteLength}`);
    }
    this.words = new Int32Array(buffer ?? allocate(bytes), 0, THRESHOLDS.WORDS);
    if (buffer === undefined) {
      this.words.fill(-1);
      this.pathChange = false;
    }
    for (const [name, limits] of Object.entries(options.metrics ?? {})) {
      if (limits !== undefined) this.set(name as MetricName, limits);
    }
    if (options.endToEnd !== undefined) this.set('endToEnd', options.endToEnd);
    if (options.pathChange !== undefined) this.pathChange = options.pathChange;
  }

  /**
   * Changes limits; those not named stay.
   * @param name a metric of the list, or `endToEnd`
   * @throws RangeError for another name, or a limit that is neither null nor an unsigned 32-bit integer
   */
  set(name: MetricName | 'endToEnd', { level, change }: Partial<Limits>): void {
    const at = this.#at(name);
    const encodedLevel = encode('level', level);
    const encodedChange = encode('change', change);
    if (level !== undefined) Atomics.store(this.words, at, encodedLevel | 0);
    if (change !== undefined) Atomics.store(this.words, at + 1, encodedChange | 0);
  }

  /** The limits in force. */
  get(name: MetricName | 'endToEnd'): Limits {
    const at = this.#at(name);
    const read = (word: number): number | null => {
      const limit = Atomics.load(this.words, word) >>> 0;
      return limit === NOT_AVAILABLE ? null : limit;
    };
    return { level: read(at), change: read(at + 1) };
  }

  get pathChange(): boolean {
    return Atomics.load(this.words, THRESHOLDS.PATH) !== 0;
  }

  set pathChange(isEvent: boolean) {
    Atomics.store(this.words, THRESHOLDS.PATH, isEvent ? 1 : 0);
  }

  #at(name: MetricName | 'endToEnd'): number {
    if (name === 'endToEnd') return THRESHOLDS.END_TO_END;
    const metric = this.metrics.indexOf(name);
    if (metric < 0) throw new RangeError(`'${name}' is no metric of this cache: ${this.metrics.join(', ')}`);
    return THRESHOLDS.METRICS + 2 * metric;
  }
}

function allocate(bytes: number): ArrayBufferLike {
  return typeof SharedArrayBuffer === 'undefined' ? new ArrayBuffer(bytes) : new SharedArrayBuffer(bytes);
}
