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
 * value,
 * and where it was seen. Slot s begins at column `EVENT_COLUMN.EVIDENCE + s * COLUMNS`.
 */
export const EVIDENCE = {
  /** The most clauses of an expression. */
  SLOTS: 8,
  COLUMNS: 3,
  /** Metric number (or {@link NO_METRIC}) | index in AGGREGATES << 8 | position on the path << 16. */
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
} as const;
