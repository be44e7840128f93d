import { AGGREGATES } from '../expression/model.js';
import { DETECTOR_KINDS } from '../rules/model.js';

/**
 * Columns of an event batch, in the order of memory; evidence comes last. Other threads and accelerators read this layout:
 * append, never reorder.
 */
export const EVENT_COLUMN = {
  REPORT: 0,
  RULE: 1,
  KIND: 2,
  HOP: 3,
  NODE: 4,
  VALUE: 5,
  PREVIOUS: 6,
  THRESHOLD: 7,
  EVIDENCE: 8,
} as const;

/**
 * Evidence of complex events: for each clause of the expression, in its order, the first condition that holds, its
 * value, and where it was seen. Slot s begins at column `EVENT_COLUMN.EVIDENCE + s * COLUMNS`.
 */
export const EVIDENCE = {
  /** The most clauses of an expression. */
  SLOTS: 8,
  COLUMNS: 3,
  /** Metric number (or {@link NO_METRIC}) | index in {@link EVIDENCE_NAMES} << 8 | position on the path << 16. */
  WHAT: 0,
  /** The switch; all ones if it did not name itself, or if there is no hop. */
  NODE: 1,
  VALUE: 2,
  METRIC_MASK: 0xff,
  AGGREGATE_SHIFT: 8,
  AGGREGATE_MASK: 0xff,
  HOP_SHIFT: 16,
  /** The position of a value of all hops together, or of the history. */
  NO_HOP: 0xffff,
  /** WHAT of the slot behind the last one in use. */
  NONE: -1,
} as const;

/**
 * What a number of evidence is: an aggregate of an expression, or of a watch the median of a window and what would have been usual,
 * how many spreads they are apart, findings a second, milliseconds without a report, the largest value and the microseconds of a
 * burst. Append, never reorder.
 */
export const EVIDENCE_NAMES = [
  ...AGGREGATES,
  'median',
  'usual',
  'deviation',
  'rate',
  'silenceMs',
  'peak',
  'lengthUs',
] as const;
export type EvidenceName = (typeof EVIDENCE_NAMES)[number];

/** Number of a name, as evidence has it. */
export const evidenceIndex = (name: EvidenceName): number => EVIDENCE_NAMES.indexOf(name);

/** The `rule` of an event that no rule raised: a report that matched none, under `default: report`. */
export const NO_RULE = 0xffffffff;

/** Scopes by number, as the `kind` column holds them. */
export const SCOPES = ['hop', 'flow', 'endToEnd'] as const;
export type EventScope = (typeof SCOPES)[number];

/** The metric number of an event that has no metric. */
export const NO_METRIC = 0xff;

/** Fields of the `kind` column. */
export const KIND = {
  DETECTOR_MASK: 0xff,
  METRIC_SHIFT: 8,
  METRIC_MASK: 0xff,
  SCOPE_SHIFT: 16,
  SCOPE_MASK: 0x3,
  /** Exact state: the first value of its switch or flow. There is no previous one. */
  FIRST_SIGHT: 1 << 18,
  /** Of a watch: there are no values where there usually are some. */
  SILENT: 1 << 19,
  /** Index in {@link EVENT_STATES}. */
  STATE_SHIFT: 20,
  STATE_MASK: 0x3,
} as const;

/** What a finding is for its key: alone, the first one, one more, or the end. Only watches have others than `once`. */
export const EVENT_STATES = ['once', 'open', 'on', 'close'] as const;
export type EventState = (typeof EVENT_STATES)[number];

const BASELINE = /* @__PURE__ */ DETECTOR_KINDS.indexOf('baseline');
const BURST = /* @__PURE__ */ DETECTOR_KINDS.indexOf('burst');
const THRESHOLD = /* @__PURE__ */ DETECTOR_KINDS.indexOf('threshold');

const hasMetric = (kind: number): boolean => ((kind >>> KIND.METRIC_SHIFT) & KIND.METRIC_MASK) !== NO_METRIC;
const isWatch = (kind: number): boolean => {
  const detector = kind & KIND.DETECTOR_MASK;
  return detector >= BASELINE && detector <= BURST;
};

/** Whether the `value` of an event with this `kind` means something. */
export function hasValue(kind: number): boolean {
  return isWatch(kind) ? (kind & KIND.SILENT) === 0 : hasMetric(kind);
}

/** Whether the `previous` of an event with this `kind` means something; of a baseline it is what would have been usual. */
export function hasPrevious(kind: number): boolean {
  const detector = kind & KIND.DETECTOR_MASK;
  if (isWatch(kind)) return detector === BASELINE;
  return hasMetric(kind) && detector !== THRESHOLD && (kind & KIND.FIRST_SIGHT) === 0;
}

/** Whether the `threshold` of an event with this `kind` means something. */
export function hasThreshold(kind: number): boolean {
  return isWatch(kind) || hasMetric(kind);
}
