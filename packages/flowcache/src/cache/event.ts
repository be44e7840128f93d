import type { Flow, MetricName } from '@int/codec';
import { EVENT_KIND, EVENT_WORD } from '../layout.js';
import { address } from './entry.js';

/** What made a report an event. */
export type FlowEventKind = 'threshold' | 'change' | 'pathChange';

/** One event that a cache has raised. */
export interface FlowEvent {
  /** T, C or both for a value; `pathChange` alone. */
  readonly kinds: readonly FlowEventKind[];
  readonly scope: 'hop' | 'endToEnd';
  /** `null` for a path change. At scope `endToEnd`: `hopLatency`, summed over the path. */
  readonly metric: MetricName | null;
  /** Position on the path, 0 = INT source; `null` at scope `endToEnd`. */
  readonly hop: number | null;
  /** The switch; `null` if it did not name itself, and at scope `endToEnd`. */
  readonly nodeId: number | null;
  /** In the unit of the device. A path change: the number of hops. */
  readonly value: number;
  /** What the flow had there before; `null` if nothing. */
  readonly previous: number | null;
  /** The threshold exceeded: that of T if T is among the kinds, else that of C; `null` for a path change. */
  readonly threshold: number | null;
  /** Time of the report, nanoseconds since the epoch; 0 if none was given. */
  readonly timeNs: bigint;
  readonly flow: Flow;
}

function kindsOf(bits: number): FlowEventKind[] {
  const kinds: FlowEventKind[] = [];
  if ((bits & EVENT_KIND.THRESHOLD) !== 0) kinds.push('threshold');
  if ((bits & EVENT_KIND.CHANGE) !== 0) kinds.push('change');
  if ((bits & EVENT_KIND.PATH) !== 0) kinds.push('pathChange');
  return kinds;
}

/**
 * Reads an event record.
 * @param words what holds it
 * @param at its first word
 * @param metrics those of the cache that raised it, in their order
 */
export function readFlowEvent(words: Int32Array | Uint32Array, at: number, metrics: readonly MetricName[]): FlowEvent {
  const kind = words[at + EVENT_WORD.KIND]!;
  const isPath = (kind & EVENT_KIND.PATH) !== 0;
  const isWhole = (kind & EVENT_KIND.END_TO_END) !== 0;
  const isIpv6 = (kind & EVENT_KIND.IPV6) !== 0;
  const metric = isWhole
    ? 'hopLatency'
    : (metrics[(kind >>> EVENT_KIND.METRIC_SHIFT) & EVENT_KIND.METRIC_MASK] ?? null);
  const node = words[at + EVENT_WORD.NODE]! | 0;
  const previous = words[at + EVENT_WORD.PREVIOUS]! | 0;
  const ports = words[at + EVENT_WORD.PORTS]!;
  return {
    kinds: kindsOf(kind),
    scope: isWhole ? 'endToEnd' : 'hop',
    metric: isPath ? null : metric,
    hop: isWhole ? null : (kind >>> EVENT_KIND.HOP_SHIFT) & EVENT_KIND.HOP_MASK,
    nodeId: node === -1 ? null : node >>> 0,
    value: words[at + EVENT_WORD.VALUE]! >>> 0,
    previous: previous === -1 && (kind & EVENT_KIND.CHANGE) === 0 ? null : previous >>> 0,
    threshold: isPath ? null : words[at + EVENT_WORD.THRESHOLD]! >>> 0,
    timeNs: (BigInt(words[at + EVENT_WORD.TIME + 1]! >>> 0) << 32n) | BigInt(words[at + EVENT_WORD.TIME]! >>> 0),
    flow: {
      source: address(words, at + EVENT_WORD.SOURCE, isIpv6),
      destination: address(words, at + EVENT_WORD.DESTINATION, isIpv6),
      protocol: kind >>> EVENT_KIND.PROTOCOL_SHIFT,
      sourcePort: ports >>> 16,
      destinationPort: ports & 0xffff,
    },
  };
}
