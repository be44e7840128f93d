import { type Flow, type MetricName, parseAddress } from '@int/codec';
import {
  type CacheGeometry,
  COMPACT,
  EVENT_KIND,
  EVENT_WORD,
  EVENT_WORDS,
  EXACT,
  type FlowEntry,
  type FlowEvent,
  META,
  type MetricStatistics,
  REASONS,
} from '@int/flowcache';

const KIND_BITS = {
  threshold: EVENT_KIND.THRESHOLD,
  change: EVENT_KIND.CHANGE,
  pathChange: EVENT_KIND.PATH,
} as const;
const TWO_32 = 2 ** 32;

function checked(name: string, value: number, most: number): number {
  if (!Number.isInteger(value) || value < 0 || value > most) {
    throw new RangeError(`${name} must be an integer from 0 to ${most}, not ${value}`);
  }
  return value;
}

function word(name: string, value: number | null): number {
  return value === null ? -1 : checked(name, value, TWO_32 - 1) | 0;
}

function setBigint(words: Int32Array, at: number, name: string, value: bigint): void {
  if (value < 0n || value >= 1n << 64n) throw new RangeError(`${name} must be from 0 to 2^64 - 1, not ${value}`);
  words[at] = Number(BigInt.asIntN(32, value));
  words[at + 1] = Number(BigInt.asIntN(32, value >> 32n));
}

/** Writes both addresses; returns whether they are IPv6. */
function setAddresses(words: Int32Array, source: number, destination: number, flow: Flow): boolean {
  const from = parseAddress(flow.source);
  const to = parseAddress(flow.destination);
  if (from.version !== to.version) {
    throw new TypeError(`a flow between different versions of IP: ${flow.source} and ${flow.destination}`);
  }
  words.set(from.words, source);
  words.set(to.words, destination);
  return from.version === 6;
}

function portsOf(flow: Flow): number {
  const source = checked('sourcePort', flow.sourcePort, 0xffff);
  return (source << 16) | checked('destinationPort', flow.destinationPort, 0xffff);
}

/**
 * The record of an event: the reverse of `readFlowEvent`.
 *
 * @param metrics the cache's metrics, in their order
 * @throws TypeError for a metric or kind that the cache does not have; RangeError for a number out of range;
 *   AddressError of the codec for an invalid address
 */
export function eventRecord(event: FlowEvent, metrics: readonly MetricName[]): Int32Array {
  const words = new Int32Array(EVENT_WORDS);
  const isIpv6 = setAddresses(words, EVENT_WORD.SOURCE, EVENT_WORD.DESTINATION, event.flow);
  let kind = isIpv6 ? EVENT_KIND.IPV6 : 0;
  for (const name of event.kinds) {
    if (!Object.hasOwn(KIND_BITS, name)) throw new TypeError(`unknown kind of event '${String(name)}'`);
    kind |= KIND_BITS[name];
  }
  if (event.scope === 'endToEnd') {
    kind |= EVENT_KIND.END_TO_END;
  } else {
    const metric = event.metric === null ? -1 : metrics.indexOf(event.metric);
    if (metric < 0) throw new TypeError(`'${event.metric}' is not among the metrics ${metrics.join(', ')}`);
    kind |= metric << EVENT_KIND.METRIC_SHIFT;
    kind |= checked('hop', event.hop ?? -1, EVENT_KIND.HOP_MASK) << EVENT_KIND.HOP_SHIFT;
  }
  kind |= checked('protocol', event.flow.protocol, 0xff) << EVENT_KIND.PROTOCOL_SHIFT;
  words[EVENT_WORD.KIND] = kind;
  words[EVENT_WORD.NODE] = word('nodeId', event.nodeId);
  words[EVENT_WORD.VALUE] = word('value', event.value);
  words[EVENT_WORD.PREVIOUS] = word('previous', event.previous);
  words[EVENT_WORD.THRESHOLD] = word('threshold', event.threshold ?? 0);
  setBigint(words, EVENT_WORD.TIME, 'timeNs', event.timeNs);
  words[EVENT_WORD.PORTS] = portsOf(event.flow);
  return words;
}

/**
 * The bucket of an entry: the reverse of `EntryReader.read`, except for the hash of the path beyond the hops, which an
 * entry lacks.
 *
 * @throws TypeError if a cache of this geometry cannot hold the entry; RangeError for a number out of range;
 *   AddressError of the codec for an invalid address
 */
export function entryRecord(entry: FlowEntry, geometry: CacheGeometry): Int32Array {
  const words = new Int32Array(geometry.bucketStride);
  const isExact = geometry.layout === 'exact';
  const fields = isExact ? EXACT : COMPACT;
  const key = new Int32Array(8);
  const isIpv6 = setAddresses(key, 0, 4, entry.flow);
  if (isIpv6 && !isExact) throw new TypeError('the compact layout has no room for IPv6');
  words.set(key.subarray(0, isExact ? 4 : 1), fields.SOURCE);
  words.set(key.subarray(4, isExact ? 8 : 5), fields.DESTINATION);
  const reason = REASONS.indexOf(entry.reason);
  if (reason < 0) throw new TypeError(`unknown reason '${String(entry.reason)}'`);
  if (entry.hops.length > geometry.hops) {
    throw new TypeError(`${entry.hops.length} hops; the cache follows ${geometry.hops}`);
  }
  words[fields.PORTS] = portsOf(entry.flow);
  words[fields.META] =
    checked('protocol', entry.flow.protocol, META.PROTOCOL_MASK) |
    (isIpv6 ? META.IPV6 : 0) |
    (entry.hops.length << META.SEEN_SHIFT) |
    (checked('pathLength', entry.pathLength, META.LENGTH_MASK) << META.LENGTH_SHIFT) |
    (reason << META.REASON_SHIFT);
  words[fields.PACKETS] = word('packets', entry.packets);
  words[fields.PATH_CHANGES] = word('pathChanges', entry.pathChanges);
  setBigint(words, fields.FIRST, 'firstNs', entry.firstNs);
  setBigint(words, fields.LAST, 'lastNs', entry.lastNs);
  if (isExact) {
    words[EXACT.BEYOND] = word('hopsBeyond', entry.hopsBeyond ?? 0);
    if (entry.endToEnd !== null) {
      words[EXACT.END_TO_END] = word('endToEnd.last', entry.endToEnd.last);
      words[EXACT.END_TO_END_COUNT] = word('endToEnd.count', entry.endToEnd.count);
      setBigint(words, EXACT.END_TO_END_SUM, 'endToEnd.sum', sumOf(entry.endToEnd));
    } else {
      words[EXACT.END_TO_END] = -1;
    }
  }
  entry.hops.forEach(({ nodeId, metrics }, hop) => {
    const at = geometry.hopsAt + hop * geometry.hopStride;
    words[at] = word('nodeId', nodeId);
    geometry.metrics.forEach((name, metric) => {
      setMetric(words, at, metric, geometry, metrics[name] ?? NOTHING);
    });
  });
  return words;
}

const NOTHING: MetricStatistics = { last: null, mean: 0, count: 0, sum: 0n };

/** The mean is a quotient of two integers, so rounding restores a sum below 2^51. */
function sumOf({ sum, mean, count }: MetricStatistics): bigint {
  return sum ?? BigInt(Math.round(mean * count));
}

function setMetric(
  words: Int32Array,
  hop: number,
  metric: number,
  geometry: CacheGeometry,
  statistics: MetricStatistics,
): void {
  const metrics = geometry.metrics.length;
  if (geometry.layout === 'exact') {
    const counts = hop + 1 + metrics;
    words[hop + 1 + metric] = word('last', statistics.last);
    words[counts + metric] = word('count', statistics.count);
    setBigint(words, counts + metrics + 2 * metric, 'sum', sumOf(statistics));
  } else {
    // One count serves all metrics of a hop.
    words[hop + 1] = Math.max(words[hop + 1]! >>> 0, word('count', statistics.count) >>> 0);
    words[hop + 2 + metric] = word('last', statistics.last);
    words[hop + 2 + metrics + metric] = new Int32Array(Float32Array.of(statistics.mean).buffer)[0]!;
  }
}
