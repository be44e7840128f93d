import { type Flow, formatIpv4, formatIpv6, type MetricName } from '@int/codec';
import { type CacheGeometry, EXACT, fieldsOf, META, REASONS, type Reason } from '../layout.js';

/** The statistics of a metric at one hop. */
export interface MetricStatistics {
  /** The value of the last report that carried it; `null` if the switch at this hop has given none yet. */
  readonly last: number | null;
  /** The mean over all reports that carried it; 0 if none did. For its precision see {@link FlowEntry}. */
  readonly mean: number;
  /** Reports that carried it; in the compact layout, reports that had the hop. */
  readonly count: number;
  /** The sum of the values; `null` in the compact layout, which has none. */
  readonly sum: bigint | null;
}

/** The statistics of one position on the path. */
export interface HopStatistics {
  /** The switch seen there last; `null` if none has named itself. */
  readonly nodeId: number | null;
  /**
   * Per metric of the cache. A mean belongs to the position: after a change of the path it spans several switches.
   * `last` is that of the switch named here.
   */
  readonly metrics: { readonly [K in MetricName]?: MetricStatistics };
}

/**
 * The entry of one flow.
 *
 * In the exact layout a mean is a 64-bit sum divided by a count; in the compact layout it is a running mean in 32-bit
 * floats.
 */
export interface FlowEntry {
  readonly flow: Flow;
  /** `live` for an entry in the cache; else why it left. */
  readonly reason: Reason;
  /** Reports about the flow. */
  readonly packets: number;
  /** Time of the first and last report of this entry, nanoseconds since the epoch; 0 if no times were given. */
  readonly firstNs: bigint;
  readonly lastNs: bigint;
  /** Times that the path differed from the one before. */
  readonly pathChanges: number;
  /** Hops of the last report that named a switch. */
  readonly pathLength: number;
  /** The switches of the path, as far as the entry follows it; `null` for one that has not named itself. */
  readonly path: readonly (number | null)[];
  /** Hops, over all reports, beyond those that the cache follows; `null` in the compact layout. */
  readonly hopsBeyond: number | null;
  /** The sum of the hop latency over the path; `null` if no report carried it, and in the compact layout. */
  readonly endToEnd: MetricStatistics | null;
  /** Every position seen, INT source first. */
  readonly hops: readonly HopStatistics[];
}

const WORD = 0x100000000;

function known(word: number): number | null {
  return word === -1 ? null : word >>> 0;
}

/** Reads the words of a bucket, of a cache or handed on. */
export class EntryReader {
  readonly geometry: CacheGeometry;
  readonly #float = new Float32Array(1);
  readonly #bits = new Int32Array(this.#float.buffer);

  constructor(geometry: CacheGeometry) {
    this.geometry = geometry;
  }

  /**
   * @param words what holds the record
   * @param at its first word; there are `geometry.bucketStride`
   */
  read(words: Int32Array | Uint32Array, at: number): FlowEntry {
    const isExact = this.geometry.layout === 'exact';
    const fields = fieldsOf(this.geometry.layout);
    const meta = words[at + fields.META]!;
    const pathLength = (meta >>> META.LENGTH_SHIFT) & META.LENGTH_MASK;
    const seen = (meta >>> META.SEEN_SHIFT) & META.SEEN_MASK;
    const hops = Array.from({ length: seen }, (_, hop) => this.#hop(words, at, hop));
    return {
      flow: this.flow(words, at),
      reason: REASONS[meta >>> META.REASON_SHIFT] ?? 'live',
      packets: words[at + fields.PACKETS]! >>> 0,
      firstNs: time(words, at + fields.FIRST),
      lastNs: time(words, at + fields.LAST),
      pathChanges: words[at + fields.PATH_CHANGES]! >>> 0,
      pathLength,
      path: hops.slice(0, pathLength).map(({ nodeId }) => nodeId),
      hopsBeyond: isExact ? words[at + EXACT.BEYOND]! >>> 0 : null,
      endToEnd: isExact ? this.#endToEnd(words, at) : null,
      hops,
    };
  }

  /** The flow of a record. */
  flow(words: Int32Array | Uint32Array, at: number): Flow {
    const { META: meta, PORTS, SOURCE, DESTINATION } = fieldsOf(this.geometry.layout);
    const word = words[at + meta]!;
    const isIpv6 = (word & META.IPV6) !== 0;
    const protocol = word & META.PROTOCOL_MASK;
    return flowAt(words, at + SOURCE, at + DESTINATION, isIpv6, protocol, words[at + PORTS]!);
  }

  #endToEnd(words: Int32Array | Uint32Array, at: number): MetricStatistics | null {
    const count = words[at + EXACT.END_TO_END_COUNT]! >>> 0;
    if (count === 0) return null;
    // A saturated sum is a value, not a missing one.
    return { ...exact(words, at + EXACT.END_TO_END_SUM, count), last: words[at + EXACT.END_TO_END]! >>> 0 };
  }

  #hop(words: Int32Array | Uint32Array, at: number, hop: number): HopStatistics {
    const { hopsAt, hopStride, layout, metrics } = this.geometry;
    const node = at + hopsAt + hop * hopStride;
    const isExact = layout === 'exact';
    const lasts = node + (isExact ? 1 : 2);
    const read = (metric: number): MetricStatistics => {
      const last = known(words[lasts + metric]! | 0);
      const next = lasts + metrics.length;
      if (isExact) {
        return { ...exact(words, next + metrics.length + 2 * metric, words[next + metric]! >>> 0), last };
      }
      this.#bits[0] = words[next + metric]!;
      return { last, mean: this.#float[0]!, count: words[node + 1]! >>> 0, sum: null };
    };
    const entries = metrics.map((name, metric) => [name, read(metric)] as const);
    return { nodeId: known(words[node]! | 0), metrics: Object.fromEntries(entries) };
  }
}

function exact(words: Int32Array | Uint32Array, at: number, count: number): Omit<MetricStatistics, 'last'> {
  const high = words[at + 1]! >>> 0;
  const low = words[at]! >>> 0;
  return { mean: count === 0 ? 0 : (high * WORD + low) / count, count, sum: (BigInt(high) << 32n) | BigInt(low) };
}

/** A 64-bit number of two words, the lower one first. */
export function time(words: Int32Array | Uint32Array, at: number): bigint {
  return (BigInt(words[at + 1]! >>> 0) << 32n) | BigInt(words[at]! >>> 0);
}

/** A flow from where its addresses are, of one or four words each. */
export function flowAt(
  words: Int32Array | Uint32Array,
  source: number,
  destination: number,
  isIpv6: boolean,
  protocol: number,
  ports: number,
): Flow {
  const address = (at: number): string =>
    isIpv6
      ? formatIpv6(words[at]! >>> 0, words[at + 1]! >>> 0, words[at + 2]! >>> 0, words[at + 3]! >>> 0)
      : formatIpv4(words[at]! >>> 0);
  return {
    source: address(source),
    destination: address(destination),
    protocol,
    sourcePort: ports >>> 16,
    destinationPort: ports & 0xffff,
  };
}
