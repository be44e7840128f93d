import { Arena, type TelemetryBatch } from '@int/codec';
import { signed } from '@int/codec/internals';
import type { EventLife } from '../watch/event-life.js';
import type { Detector } from './detector.js';
import { type Event, eventOf } from './event.js';
import { EVENT_COLUMN, EVIDENCE } from './event-columns.js';

const COLUMNS = /* @__PURE__ */ EVENT_COLUMN.EVIDENCE + EVIDENCE.SLOTS * EVIDENCE.COLUMNS;

/** Room for the deepest report, many times over. */
const DEFAULT_CAPACITY = 8192;
/** A report raises at most one event a hop, and the deepest has 256. */
const MIN_CAPACITY = 256;

/**
 * Events as columns, allocated once and reused. They know their batch and their detector: a consumer needs nothing else.
 *
 * Rows 0 to `count - 1` are valid. The detector and the scope in `kind` tell which of `hop`, `nodeId`, `value`, `previous`
 * and `threshold` mean something; the others are undefined:
 *
 * | detector | hop, nodeId | value, threshold | previous |
 * |---|---|---|---|
 * | noop, pathChange, complex | | | |
 * | perHop, change (hop) | yes | yes | yes |
 * | threshold (hop) | yes | yes | |
 * | perFlow, movingAverage, change (endToEnd) | | yes | yes |
 * | threshold (endToEnd) | | yes | |
 * | baseline | if its key is one of a switch | yes, no value if silent | yes: what is usual |
 * | rate, absent, burst | if its key is one of a switch | yes | |
 *
 * There is no `previous` at {@link KIND}.FIRST_SIGHT. Only complex events and those of watches have {@link evidence}.
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
  /** The value compared, in the unit of the device: that of the hop, the sum over the hops, or the average. */
  readonly value: Uint32Array;
  /** The value it was compared with. */
  readonly previous: Uint32Array;
  readonly threshold: Uint32Array;
  /** Columns of {@link EVIDENCE}: slot s, column c and row r are at `(s * EVIDENCE.COLUMNS + c) * stride + r`. */
  readonly evidence: Int32Array;
  readonly #count: Int32Array;
  readonly #lives = new Map<number, EventLife>();
  #batch: TelemetryBatch | null = null;
  #detector: Detector | null = null;
  #isApart = false;

  /**
   * @param capacity rows, 256 to 2^24. Default 8192
   * @param arena where to put the columns; it needs {@link EventBatch.byteLength} bytes. Default: an ArrayBuffer
   * @throws RangeError for a capacity out of range or an arena that is too small
   */
  constructor(capacity: number = DEFAULT_CAPACITY, arena?: Arena) {
    const memory = arena ?? new Arena(new ArrayBuffer(EventBatch.byteLength(capacity)));
    this.capacity = capacity;
    // An odd number of cache lines: the same row of all columns must not fall into one set of the cache.
    this.stride = strideOf(capacity);
    this.#count = new Int32Array(memory.buffer, memory.take(64), 2);
    const words = memory.words(this.stride * COLUMNS);
    this.words = signed(words);
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

  /** So many slots of evidence, in any row, may be in use: 0 without complex events. */
  get evidenceSlots(): number {
    return this.#count[1]!;
  }

  /** @internal For the detectors, and for copies. */
  set evidenceSlots(value: number) {
    this.#count[1] = value;
  }

  /** The batch whose reports raised the events. @throws Error if no detector has filled these events */
  get batch(): TelemetryBatch {
    if (this.#batch === null) throw new Error('no detector has filled these events');
    return this.#batch;
  }

  /** The detector that found them. @throws Error if no detector has filled these events */
  get detector(): Detector {
    if (this.#detector === null) throw new Error('no detector has filled these events');
    return this.#detector;
  }

  /**
   * For detectors, and for copies: sets the batch and the detector of the events, and whether the batch is apart.
   * @throws RangeError if there are events that were found elsewhere
   */
  attach(batch: TelemetryBatch, detector: Detector, isApart = false): void {
    if (this.count > 0 && (this.#batch !== batch || this.#detector !== detector)) {
      throw new RangeError('the events of another batch or detector are still there: clear them first');
    }
    this.#batch = batch;
    this.#detector = detector;
    this.#isApart = isApart;
  }

  /** Whether the batch is none of the stream, but holds a report for each event, which only says when and what it is about. */
  get isApart(): boolean {
    return this.#isApart;
  }

  /** Name of the rule of an event; `null`: the default. Valid until the rules change. */
  ruleName(row: number): string | null {
    // The rule of an event that ends may be gone.
    return this.life(row)?.rule ?? this.detector.ruleName(this.rule[row]!);
  }

  /** Of an event of a rule with a lifecycle: what is told beside its finding. `null`: it is a finding alone. */
  life(row: number): EventLife | null {
    return this.#lives.size === 0 ? null : (this.#lives.get(row) ?? null);
  }

  /** @internal For those who track events. */
  setLife(row: number, life: EventLife): void {
    this.#lives.set(row, life);
  }

  /** @internal For copies: takes the lives of rows that have been copied to rows from `at` on. */
  copyLives(from: EventBatch, at: number): void {
    for (const [row, life] of from.#lives) this.#lives.set(at + row, life);
  }

  /** Time of the event's report, nanoseconds since 1970-01-01 00:00:00 UTC; 0 if not known. */
  timeNs(row: number): bigint {
    return this.batch.timeNs(this.report[row]!);
  }

  /**
   * Event `row` as an object. Valid until the rules change.
   * @throws RangeError for a row that is not there
   */
  event(row: number): Event {
    if (!(row >= 0 && row < this.count)) throw new RangeError(`no event row ${row} of ${this.count}`);
    return eventOf(this, row);
  }

  /** All events as objects, in their order. */
  *[Symbol.iterator](): Generator<Event, void, undefined> {
    for (let row = 0; row < this.count; row++) yield eventOf(this, row);
  }

  /** @internal Puts an event into an earlier row. */
  move(from: number, to: number): void {
    if (from === to) return;
    const life = this.life(from);
    if (life !== null) this.#lives.set(to, life);
    this.#lives.delete(from);
    const columns = EVENT_COLUMN.EVIDENCE + this.evidenceSlots * EVIDENCE.COLUMNS;
    for (let column = 0; column < columns; column++) {
      this.words[column * this.stride + to] = this.words[column * this.stride + from]!;
    }
  }

  /** @internal Forgets the events from a row on. */
  truncate(count: number): void {
    this.#count[0] = count;
  }

  /** Forgets all events, their batch and their detector. */
  clear(): void {
    this.#count.fill(0);
    this.#lives.clear();
    this.#batch = null;
    this.#detector = null;
    this.#isApart = false;
  }
}

function strideOf(capacity: number): number {
  return (Math.ceil(capacity / 16) | 1) * 16;
}
