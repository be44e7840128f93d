import { Arena } from '@int/codec';

/** Columns of an event batch before those of evidence, in the order of memory. Other threads and accelerators read this layout; append, never reorder. */
const EVENT_COLUMNS = ['report', 'rule', 'kind', 'hop', 'nodeId', 'value', 'previous', 'threshold'] as const;

/** Index of each column. */
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
 * Evidence of complex events: for each clause of the expression, in its order, the first condition that holds, what it
 * was seen to be, and where. Slot s begins at column `EVENT.EVIDENCE + s * COLUMNS`.
 */
export const EVIDENCE = {
  /** Clauses that an expression has at most. */
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
  /** What is in WHAT of the slot behind the last. */
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

const COLUMNS = /* @__PURE__ */ EVENT_COLUMNS.length + EVIDENCE.SLOTS * EVIDENCE.COLUMNS;

/** Default rows: enough for the deepest report a batch can hold, many times over. */
const DEFAULT_CAPACITY = 8192;
/** A report raises at most one event a hop, and the deepest has 256. */
const MIN_CAPACITY = 256;

/**
 * Events as a struct of arrays, made once and used again; nothing is allocated after construction.
 *
 * Rows 0 to `count - 1` are valid. Which of `hop`, `nodeId`, `value`, `previous` and `threshold` mean something follows
 * from the detector and the scope in `kind`; the others are undefined:
 *
 * | detector | hop, nodeId | value, threshold | previous |
 * |---|---|---|---|
 * | noop, pathChange, complex | | | |
 * | perHop, change (hop) | yes | yes | yes |
 * | threshold (hop) | yes | yes | |
 * | perFlow, movingAverage, change (endToEnd) | | yes | yes |
 * | threshold (endToEnd) | | yes | |
 *
 * Only complex events have {@link evidence}.
 */
export class EventBatch {
  /** Rows there is room for. */
  readonly capacity: number;
  /** All columns; column c starts at `c * stride`. */
  readonly words: Int32Array;
  readonly stride: number;
  /** Row of the report in the telemetry batch. */
  readonly report: Uint32Array;
  /** Slot of the rule, or {@link NO_RULE}. */
  readonly rule: Uint32Array;
  /** Detector (index in DETECTOR_KINDS) | metric number << 8 | scope << 16; see {@link KIND}. */
  readonly kind: Uint32Array;
  /** Position on the path, 0 = INT source. */
  readonly hop: Uint32Array;
  /** The switch; all ones if it did not name itself. */
  readonly nodeId: Uint32Array;
  /** What was compared, in the unit of the device: the hop's value, the sum over the hops, or the average. */
  readonly value: Uint32Array;
  /** What it was compared with. */
  readonly previous: Uint32Array;
  readonly threshold: Uint32Array;
  /** Columns of {@link EVIDENCE}: slot s, column c and row r are at `(s * EVIDENCE.COLUMNS + c) * stride + r`. */
  readonly evidence: Int32Array;
  readonly #count: Int32Array;

  /**
   * @param capacity rows, 256 to 2^24. Default 8192
   * @param arena where to put them; needs {@link EventBatch.byteLength} bytes. Default: an ArrayBuffer of its own
   * @throws RangeError for a capacity out of range or an arena that is too small
   */
  constructor(capacity: number = DEFAULT_CAPACITY, arena?: Arena) {
    const memory = arena ?? new Arena(new ArrayBuffer(EventBatch.byteLength(capacity)));
    this.capacity = capacity;
    // An odd number of cache lines, so that the same row of all columns does not fall into one set of the cache.
    this.stride = strideOf(capacity);
    this.#count = new Int32Array(memory.buffer, memory.take(64), 2);
    const words = memory.words(this.stride * COLUMNS);
    this.words = new Int32Array(words.buffer, words.byteOffset, words.length);
    const column = (index: number): Uint32Array => words.subarray(index * this.stride, index * this.stride + capacity);
    this.report = column(EVENT_COLUMN.REPORT);
    this.rule = column(EVENT_COLUMN.RULE);
    this.kind = column(EVENT_COLUMN.KIND);
    this.hop = column(EVENT_COLUMN.HOP);
    this.nodeId = column(EVENT_COLUMN.NODE);
    this.value = column(EVENT_COLUMN.VALUE);
    this.previous = column(EVENT_COLUMN.PREVIOUS);
    this.threshold = column(EVENT_COLUMN.THRESHOLD);
    this.evidence = this.words.subarray(EVENT_COLUMN.EVIDENCE * this.stride);
  }

  /** Bytes an arena must offer for this capacity, alignment included. */
  static byteLength(capacity: number): number {
    if (!Number.isInteger(capacity) || capacity < MIN_CAPACITY || capacity > 1 << 24) {
      throw new RangeError(`event batch: capacity must be an integer from ${MIN_CAPACITY} to 2^24, not ${capacity}`);
    }
    return 192 + strideOf(capacity) * COLUMNS * 4;
  }

  /** Events held. */
  get count(): number {
    return this.#count[0]!;
  }

  /** @internal For the detectors. */
  set count(value: number) {
    this.#count[0] = value;
  }

  /** Slots of evidence that may be in use, in any row: 0 without complex events. */
  get evidenceSlots(): number {
    return this.#count[1]!;
  }

  /** @internal For the detectors, and for copies. */
  set evidenceSlots(value: number) {
    this.#count[1] = value;
  }

  /** Forgets all events. No column is touched. */
  clear(): void {
    this.#count.fill(0);
  }
}

function strideOf(capacity: number): number {
  return (Math.ceil(capacity / 16) | 1) * 16;
}
