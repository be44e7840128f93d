import type { Flow, MetricName } from '@int/codec';
import { EVENT_KIND, EVENT_WORD } from '../layout.js';
import { flowAt, time } from './entry.js';

/** Why a report is an event. */
export type FlowEventKind = 'threshold' | 'change' | 'pathChange';

/** One event that a cache has raised. */
export interface FlowEvent {
  /** `threshold`, `change` or both for a value; `pathChange` alone. */
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
  /** The flow's previous value there; `null` if there was none. */
  readonly previous: number | null;
  /** The threshold exceeded: the level if it was, else the change; `null` for a path change. */
  readonly threshold: number | null;
  /** Time of the report, nanoseconds since the epoch; 0 if none was given. */
  readonly timeNs: bigint;
  readonly flow: Flow;
}

const KINDS: readonly (readonly [bit: number, name: FlowEventKind])[] = [
  [EVENT_KIND.THRESHOLD, 'threshold'],
  [EVENT_KIND.CHANGE, 'change'],
  [EVENT_KIND.PATH, 'pathChange'],
];

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
  const metric = isWhole
    ? 'hopLatency'
    : (metrics[(kind >>> EVENT_KIND.METRIC_SHIFT) & EVENT_KIND.METRIC_MASK] ?? null);
  const node = words[at + EVENT_WORD.NODE]! | 0;
  const previous = words[at + EVENT_WORD.PREVIOUS]! | 0;
  return {
    kinds: KINDS.flatMap(([bit, name]) => ((kind & bit) === 0 ? [] : [name])),
    scope: isWhole ? 'endToEnd' : 'hop',
    metric: isPath ? null : metric,
    hop: isWhole ? null : (kind >>> EVENT_KIND.HOP_SHIFT) & EVENT_KIND.HOP_MASK,
    nodeId: node === -1 ? null : node >>> 0,
    value: words[at + EVENT_WORD.VALUE]! >>> 0,
    previous: previous === -1 && (kind & EVENT_KIND.CHANGE) === 0 ? null : previous >>> 0,
    threshold: isPath ? null : words[at + EVENT_WORD.THRESHOLD]! >>> 0,
    timeNs: time(words, at + EVENT_WORD.TIME),
    flow: flowAt(
      words,
      at + EVENT_WORD.SOURCE,
      at + EVENT_WORD.DESTINATION,
      (kind & EVENT_KIND.IPV6) !== 0,
      kind >>> EVENT_KIND.PROTOCOL_SHIFT,
      words[at + EVENT_WORD.PORTS]!,
    ),
  };
}
