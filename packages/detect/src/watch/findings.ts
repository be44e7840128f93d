/** What watches have found, as events over reports that say what each is about. */
import { FLAG, HOP_COLUMNS, metricOf, NOT_AVAILABLE, STATE, TelemetryBatch } from '@int/codec';
import type { Detector } from '../engine/detector.js';
import { EventBatch } from '../engine/event-batch.js';
import { EVIDENCE, KIND } from '../engine/event-columns.js';
import { IPV6_KEY, type KeyTable } from './key-table.js';
import type { StreamTime } from './stream-time.js';

/** Findings that wait for their reader. */
const ROWS = 4096;
const WIDEST = 0xffffffff;
const NODE = /* @__PURE__ */ HOP_COLUMNS.indexOf('nodeId');
const QUEUE = /* @__PURE__ */ metricOf('queueId').columnIndex;
const EGRESS = /* @__PURE__ */ metricOf('l1EgressInterface').columnIndex;

/** A number as a cell holds it. */
export const cellOf = (value: number): number => Math.min(WIDEST, Math.max(0, Math.round(value)));

/** What a finding says beside its key. */
export interface FindingNumbers {
  /** Word of the `kind` column, with its state. */
  readonly kind: number;
  readonly value: number;
  readonly previous: number;
  readonly threshold: number;
  /** Index of the column of the metric; -1: none. */
  readonly metric: number;
  /** Evidence: index in AGGREGATES and value, two numbers each. */
  readonly evidence: readonly number[];
}

/**
 * Events that no single report has raised. So each has a report of its own in a batch beside the stream: its time is that of the
 * finding, its flow or its only hop is what the finding is about. Nothing else is there. A reader takes the events and clears them.
 */
export class Findings {
  readonly events: EventBatch;
  /** Findings for which there was no room. */
  untold = 0;
  readonly #batch: TelemetryBatch;
  readonly #time: StreamTime;
  readonly #detector: Detector;

  constructor(time: StreamTime, detector: Detector) {
    this.events = new EventBatch(ROWS);
    this.#batch = new TelemetryBatch({ frames: ROWS, reports: ROWS, hops: ROWS });
    this.#time = time;
    this.#detector = detector;
  }

  /** @param offset when it was found, see {@link StreamTime} */
  add(slot: number, keys: KeyTable, row: number, offset: number, numbers: FindingNumbers): void {
    const events = this.events;
    const batch = this.#batch;
    const at = events.count;
    if (at === 0) {
      batch.clear();
      batch.isTimed = true;
    } else if (at === ROWS) {
      this.untold++;
      return;
    }
    events.attach(batch, this.#detector, true);
    const isHop = this.#writeReport(at, keys, row, offset, numbers);
    events.report[at] = at;
    events.rule[at] = slot;
    events.kind[at] = numbers.kind;
    events.hop[at] = 0;
    events.nodeId[at] = isHop ? keys.word(row, 0) : NOT_AVAILABLE;
    events.value[at] = numbers.value;
    events.previous[at] = numbers.previous;
    events.threshold[at] = numbers.threshold;
    this.#writeEvidence(at, numbers, events.nodeId[at]!);
    events.count = at + 1;
    events.evidenceSlots = EVIDENCE.SLOTS;
  }

  /** @returns whether it has a hop */
  #writeReport(at: number, keys: KeyTable, row: number, offset: number, numbers: FindingNumbers): boolean {
    const batch = this.#batch;
    const time = this.#time.timeNs(offset);
    const isFlow = keys.key === 'flow';
    const isHop = !isFlow && keys.key !== 'all';
    const hop = batch.hops;
    batch.frameTimeHigh[at] = Number((time >> 32n) & 0xffffffffn);
    batch.frameTimeLow[at] = Number(time & 0xffffffffn);
    batch.frameCode[at] = 0;
    batch.code[at] = 0;
    batch.frame[at] = at;
    batch.nodeId[at] = NOT_AVAILABLE;
    batch.instructions[at] = 0;
    batch.sequence[at] = 0;
    batch.ethernet[at] = NOT_AVAILABLE;
    batch.hopStart[at] = hop;
    batch.hopCount[at] = isHop ? 1 : 0;
    batch.flags[at] = isFlow ? this.#writeFlow(at, keys, row) : 0;
    if (isHop) {
      const { hopWords, hopStride, state } = batch;
      const put = (column: number, value: number): void => {
        hopWords[column * hopStride + hop] = value;
        state[STATE.WRITTEN]! |= 1 << column;
      };
      for (let column = 0; column < HOP_COLUMNS.length; column++) hopWords[column * hopStride + hop] = NOT_AVAILABLE;
      if (numbers.metric >= 0 && (numbers.kind & KIND.SILENT) === 0) put(numbers.metric, numbers.value);
      put(NODE, keys.word(row, 0));
      if (keys.key === 'queue') put(QUEUE, keys.word(row, 1));
      if (keys.key === 'link') put(EGRESS, keys.word(row, 1));
    }
    batch.state[STATE.FRAMES] = at + 1;
    batch.state[STATE.REPORTS] = at + 1;
    batch.state[STATE.HOPS] = hop + (isHop ? 1 : 0);
    return isHop;
  }

  /** @returns the bits of the flags */
  #writeFlow(at: number, keys: KeyTable, row: number): number {
    const batch = this.#batch;
    const meta = keys.word(row, 0);
    batch.protocol[at] = meta & 0xff;
    batch.ports[at] = keys.word(row, 1);
    const columns = [
      batch.source0,
      batch.source1,
      batch.source2,
      batch.source3,
      batch.destination0,
      batch.destination1,
      batch.destination2,
      batch.destination3,
    ];
    columns.forEach((column, word) => {
      column[at] = keys.word(row, 2 + word);
    });
    return FLAG.FLOW | ((meta & IPV6_KEY) === 0 ? 0 : FLAG.IPV6);
  }

  #writeEvidence(at: number, { kind, evidence }: FindingNumbers, nodeId: number): void {
    const { evidence: cells, stride } = this.events;
    const metric = (kind >>> KIND.METRIC_SHIFT) & KIND.METRIC_MASK;
    for (let slot = 0; slot < EVIDENCE.SLOTS; slot++) {
      const cell = slot * EVIDENCE.COLUMNS * stride + at;
      const isThere = 2 * slot < evidence.length;
      cells[cell + EVIDENCE.WHAT * stride] = isThere
        ? metric | (evidence[2 * slot]! << EVIDENCE.AGGREGATE_SHIFT) | (EVIDENCE.NO_HOP << EVIDENCE.HOP_SHIFT)
        : EVIDENCE.NONE;
      cells[cell + EVIDENCE.NODE * stride] = nodeId;
      cells[cell + EVIDENCE.VALUE * stride] = isThere ? evidence[2 * slot + 1]! : 0;
    }
  }
}
