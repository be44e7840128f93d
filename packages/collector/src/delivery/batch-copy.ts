/** Copies of batches that outlive the pipeline's own, in memory that is used again. */
import { HOP_COLUMNS, NOT_AVAILABLE, STATE, TelemetryBatch } from '@int/codec';
import { type Detector, EVIDENCE, EventBatch } from '@int/detect';
import type { FrameBatch } from '../frames.js';

/** Rows of the first copy: what most batches have. It grows to the largest one. */
const FRAMES = 1024;
const REPORTS = 1024;
const HOPS = 8192;
const EVENTS = 1024;
/** Frames that lie no further apart are copied together: the header of a capture's record fits between. */
const GAP_BYTES = 64;

const powerOfTwo = (least: number): number => 2 ** Math.ceil(Math.log2(least));

/** Copies the rows in use. Hop columns that hold nothing stay untouched, as in a batch that a decoder fills. */
function copyRows(from: TelemetryBatch, to: TelemetryBatch): void {
  const { frames, reports, hops } = from;
  to.frameCode.set(from.frameCode.subarray(0, frames));
  to.code.set(from.code.subarray(0, reports));
  to.hopCount.set(from.hopCount.subarray(0, reports));
  to.protocol.set(from.protocol.subarray(0, reports));
  const columns = Math.floor(from.reportWords.length / from.reportStride);
  for (let column = 0; column < columns; column++) {
    const at = column * from.reportStride;
    to.reportWords.set(from.reportWords.subarray(at, at + reports), column * to.reportStride);
  }
  const written = from.state[STATE.WRITTEN]!;
  const before = to.state[STATE.WRITTEN]!;
  for (let column = 0; column < HOP_COLUMNS.length; column++) {
    const target = column * to.hopStride;
    if ((written >>> column) & 1) {
      const at = column * from.hopStride;
      to.hopWords.set(from.hopWords.subarray(at, at + hops), target);
    } else if ((before >>> column) & 1) to.hopWords.fill(NOT_AVAILABLE, target, target + hops);
  }
  to.state[STATE.FRAMES] = frames;
  to.state[STATE.REPORTS] = reports;
  to.state[STATE.HOPS] = hops;
  // What earlier batches have left in a column is still there behind the rows in use.
  to.state[STATE.WRITTEN] = written | before;
  to.state[STATE.DROPS] = from.state[STATE.DROPS]! | to.state[STATE.DROPS]!;
}

/** Events of one detector, found in one batch. */
export interface EventCopy {
  events: EventBatch;
  detector: Detector;
}

/** A batch with its frames and events. Grows to what it is given and stays as large. */
export class BatchCopy {
  batch: TelemetryBatch = new TelemetryBatch({ frames: FRAMES, reports: REPORTS, hops: HOPS });
  frames: FrameBatch = noFrames(FRAMES);
  readonly #events: EventCopy[] = [];
  #eventCopies = 0;
  /** How far each frame has moved, modulo 2^32. */
  #moved = new Uint32Array(FRAMES);
  #bytes = new Uint8Array(0);

  /** The events, of one detector after the other. */
  get events(): readonly EventCopy[] {
    return this.#events.slice(0, this.#eventCopies);
  }

  /** Takes a copy of a batch and its frames, without events. */
  copy(batch: TelemetryBatch, frames: FrameBatch, first: number): void {
    this.#eventCopies = 0;
    this.#reserve(batch);
    copyRows(batch, this.batch);
    this.#copyFrames(frames, first, batch.frames);
    this.#moveOffsets();
  }

  /** Adds events found in the batch. */
  add(events: EventBatch, detector: Detector): void {
    let last = this.#events[this.#eventCopies - 1];
    if (this.#eventCopies === 0 || last?.detector !== detector) {
      last = this.#events[this.#eventCopies];
      if (last === undefined) {
        last = { events: new EventBatch(EVENTS), detector };
        this.#events.push(last);
      }
      last.detector = detector;
      last.events.clear();
      this.#eventCopies++;
    }
    const at = last.events.count;
    const count = at + events.count;
    if (count > last.events.capacity) {
      const larger = new EventBatch(powerOfTwo(count));
      appendEvents(last.events, larger);
      last.events = larger;
    }
    appendEvents(events, last.events);
  }

  #reserve({ frames, reports, hops }: TelemetryBatch): void {
    const { capacity } = this.batch;
    if (frames > capacity.frames || reports > capacity.reports || hops > capacity.hops) {
      this.batch = new TelemetryBatch({
        frames: Math.max(capacity.frames, powerOfTwo(frames)),
        reports: Math.max(capacity.reports, powerOfTwo(reports)),
        hops: Math.max(capacity.hops, powerOfTwo(hops)),
      });
    }
    if (frames > this.#moved.length) {
      this.#moved = new Uint32Array(powerOfTwo(frames));
      this.frames = noFrames(this.#moved.length);
    }
  }

  #copyFrames(from: FrameBatch, first: number, count: number): void {
    const { offsets, lengths, timestampsHigh, timestampsLow } = this.frames;
    offsets.set(from.offsets.subarray(first, first + count));
    lengths.set(from.lengths.subarray(first, first + count));
    timestampsHigh.set(from.timestampsHigh.subarray(first, first + count));
    timestampsLow.set(from.timestampsLow.subarray(first, first + count));
    let needed = 0;
    for (let row = 0; row < count; row++) needed += lengths[row]! + GAP_BYTES;
    if (needed > this.#bytes.length) this.#bytes = new Uint8Array(powerOfTwo(needed));
    let used = 0;
    for (let row = 0; row < count; ) {
      // A run of frames that lie one behind the other moves as a whole.
      const start = offsets[row]!;
      const moved = (used - start) >>> 0;
      let end = start;
      do {
        end = offsets[row]! + lengths[row]!;
        this.#moved[row] = moved;
        offsets[row] = (offsets[row]! + moved) >>> 0;
        row++;
      } while (row < count && offsets[row]! >= end && offsets[row]! - end <= GAP_BYTES);
      this.#bytes.set(from.bytes.subarray(start, end), used);
      used += end - start;
    }
    this.frames = { ...this.frames, linkType: from.linkType, bytes: this.#bytes, count };
  }

  /** Cells that say where something stands in the frames' bytes follow the frames. */
  #moveOffsets(): void {
    const { batch } = this;
    const { reports, ethernet, frame, hopStart, hopCount } = batch;
    const { domainOffset } = batch.hop;
    for (let row = 0; row < reports; row++) {
      const moved = this.#moved[frame[row]!]!;
      if (ethernet[row] !== NOT_AVAILABLE) ethernet[row] = (ethernet[row]! + moved) >>> 0;
      const end = hopStart[row]! + hopCount[row]!;
      for (let hop = hopStart[row]!; hop < end; hop++) {
        if (domainOffset[hop] !== NOT_AVAILABLE) domainOffset[hop] = (domainOffset[hop]! + moved) >>> 0;
      }
    }
  }
}

/** Memory for the places and times of frames. */
function noFrames(rows: number): FrameBatch {
  const words = (): Uint32Array => new Uint32Array(rows);
  const places = { offsets: words(), lengths: words(), timestampsHigh: words(), timestampsLow: words() };
  return { linkType: 'report', bytes: new Uint8Array(0), ...places, count: 0 };
}

/** Appends rows; the caller has seen to the room. */
function appendEvents(from: EventBatch, to: EventBatch): void {
  const { count } = from;
  const at = to.count;
  to.report.set(from.report.subarray(0, count), at);
  to.rule.set(from.rule.subarray(0, count), at);
  to.kind.set(from.kind.subarray(0, count), at);
  to.hop.set(from.hop.subarray(0, count), at);
  to.nodeId.set(from.nodeId.subarray(0, count), at);
  to.value.set(from.value.subarray(0, count), at);
  to.previous.set(from.previous.subarray(0, count), at);
  to.threshold.set(from.threshold.subarray(0, count), at);
  for (let column = 0; column < from.evidenceSlots * EVIDENCE.COLUMNS; column++) {
    const start = column * from.stride;
    to.evidence.set(from.evidence.subarray(start, start + count), column * to.stride + at);
  }
  to.evidenceSlots = Math.max(to.evidenceSlots, from.evidenceSlots);
  to.count = at + count;
}
