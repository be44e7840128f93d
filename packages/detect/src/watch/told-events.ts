/** Events that begin, go on or end, as rows for those who write events. */
import { FLAG, HOP_COLUMNS, NOT_AVAILABLE, STATE, TelemetryBatch } from '@int/codec';
import type { Detector } from '../engine/detector.js';
import { EventBatch } from '../engine/event-batch.js';
import { EVENT_COLUMN, EVENT_STATES, EVIDENCE, KIND } from '../engine/event-columns.js';
import { DETECTOR_KINDS } from '../rules/model.js';
import type { EventLife } from './event-life.js';

/** Rows made at a time. */
const ROWS = 256;
const NODE = /* @__PURE__ */ HOP_COLUMNS.indexOf('nodeId');
const COMPLEX = /* @__PURE__ */ DETECTOR_KINDS.indexOf('complex');
const ALL_COLUMNS = /* @__PURE__ */ EVENT_COLUMN.EVIDENCE + EVIDENCE.SLOTS * EVIDENCE.COLUMNS;
const STATE_BITS = /* @__PURE__ */ KIND.STATE_MASK << KIND.STATE_SHIFT;
const OPEN = /* @__PURE__ */ EVENT_STATES.indexOf('open') << KIND.STATE_SHIFT;
const CLOSE = /* @__PURE__ */ EVENT_STATES.indexOf('close') << KIND.STATE_SHIFT;
const REPORT_WORDS = ['flags', 'nodeId', 'instructions', 'sequence', 'protocol', 'ports'] as const;
const ADDRESS_WORDS = [
  'source0',
  'source1',
  'source2',
  'source3',
  'destination0',
  'destination1',
  'destination2',
  'destination3',
] as const;

/** An event as a detector found it, and of its report what events are written with: it outlives its batches. */
export class EventCopy {
  readonly #words: Int32Array;
  readonly #report: readonly number[];
  readonly #addresses: readonly number[];
  readonly #nodes: Uint32Array;

  constructor(events: EventBatch, row: number) {
    const { batch, words, stride } = events;
    const report = events.report[row]!;
    const first = batch.hopStart[report]!;
    const hasEvidence = (events.kind[row]! & KIND.DETECTOR_MASK) >= COMPLEX;
    const columns = hasEvidence ? ALL_COLUMNS : EVENT_COLUMN.EVIDENCE;
    this.#words = Int32Array.from({ length: columns }, (_, column) => words[column * stride + row]!);
    this.#report = REPORT_WORDS.map((name) => batch[name][report]!);
    this.#addresses = (batch.flags[report]! & FLAG.FLOW) === 0 ? [] : ADDRESS_WORDS.map((name) => batch[name][report]!);
    this.#nodes = batch.hop.nodeId.slice(first, first + batch.hopCount[report]!);
  }

  get hops(): number {
    return this.#nodes.length;
  }

  /** Appends it to events of a batch apart, with its life. There is room. */
  append(events: EventBatch, life: EventLife): void {
    const { batch } = events;
    const at = events.count;
    const hop = batch.hops;
    batch.frameTimeHigh[at] = Number((life.timeNs >> 32n) & 0xffffffffn);
    batch.frameTimeLow[at] = Number(life.timeNs & 0xffffffffn);
    batch.frameCode[at] = 0;
    batch.code[at] = 0;
    batch.frame[at] = at;
    batch.hopStart[at] = hop;
    batch.hopCount[at] = this.#nodes.length;
    REPORT_WORDS.forEach((name, index) => {
      batch[name][at] = this.#report[index]!;
    });
    this.#addresses.forEach((word, index) => {
      batch[ADDRESS_WORDS[index]!][at] = word;
    });
    batch.ethernet[at] = NOT_AVAILABLE;
    batch.hopWords.set(this.#nodes, NODE * batch.hopStride + hop);
    batch.state[STATE.WRITTEN]! |= 1 << NODE;
    batch.state[STATE.FRAMES] = at + 1;
    batch.state[STATE.REPORTS] = at + 1;
    batch.state[STATE.HOPS] = hop + this.#nodes.length;
    this.#words.forEach((word, column) => {
      events.words[column * events.stride + at] = word;
    });
    events.report[at] = at;
    events.kind[at] = (events.kind[at]! & ~STATE_BITS) | (life.state === 'open' ? OPEN : CLOSE);
    if (this.#words.length > EVENT_COLUMN.EVIDENCE) events.evidenceSlots = EVIDENCE.SLOTS;
    events.count = at + 1;
    events.setLife(at, life);
  }
}

/**
 * Makes rows of events that are told: each has a report of its own in a batch beside the stream, with the time of what is told, the
 * flow, and the switches of the path.
 */
export class ToldEvents {
  readonly #events = new EventBatch(ROWS);
  readonly #batch = new TelemetryBatch({ frames: ROWS, reports: ROWS, hops: 8 * ROWS });

  /**
   * Hands on all that is told, in its order, some at a time.
   * @param give takes events, which are reused when it returns
   */
  give(
    told: readonly { readonly copy: EventCopy; readonly life: EventLife }[],
    detector: Detector,
    give: (events: EventBatch) => void,
  ): void {
    const events = this.#events;
    const batch = this.#batch;
    for (let next = 0; next < told.length; ) {
      events.clear();
      batch.clear();
      batch.isTimed = true;
      events.attach(batch, detector, true);
      for (; next < told.length && events.count < ROWS; next++) {
        const { copy, life } = told[next]!;
        if (batch.hops + copy.hops > batch.capacity.hops && events.count > 0) break;
        copy.append(events, life);
      }
      give(events);
    }
    events.clear();
  }
}
