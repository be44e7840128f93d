/** Copies of batches that outlive the pipeline's own, in memory that is used again. */
import { ReportCopier, TelemetryBatch } from '@int/codec';
import { EVIDENCE, EventBatch } from '@int/detect';

/** Rows of the first copy: what most batches have. It grows to the largest one. */
const FRAMES = 1024;
const REPORTS = 1024;
const HOPS = 8192;
const BYTES = 1 << 16;
const EVENTS = 1024;
/** Bytes between frames that are copied with them: see ReportCopier. */
const GAP_BYTES = 64;

const EVENT_COLUMNS = ['report', 'rule', 'kind', 'hop', 'nodeId', 'value', 'previous', 'threshold'] as const;

const powerOfTwo = (least: number): number => 2 ** Math.ceil(Math.log2(least));

/** A batch with its frames and events. It grows to the largest batch and does not shrink. */
export class BatchCopy {
  batch: TelemetryBatch = new TelemetryBatch({ frames: FRAMES, reports: REPORTS, hops: HOPS, bytes: BYTES });
  /** Whether the batch is there for its events only. */
  isApart = false;
  readonly #copier = new ReportCopier();
  readonly #events: EventBatch[] = [];
  #used = 0;

  /** The events, of one detector after the other. */
  get events(): readonly EventBatch[] {
    return this.#events.slice(0, this.#used);
  }

  /** Takes a copy of a batch, without events. Its reports keep their rows. */
  copy(batch: TelemetryBatch): void {
    this.isApart = false;
    for (const events of this.#events) events.clear();
    this.#used = 0;
    this.#reserve(batch);
    this.batch.clear();
    this.#copier.appendAll(batch, this.batch);
  }

  /** Adds events found in the batch. */
  add(found: EventBatch): void {
    const { detector } = found;
    let last = this.#events[this.#used - 1];
    if (last === undefined || last.detector !== detector) {
      last = this.#events[this.#used] ?? new EventBatch(EVENTS);
      this.#events[this.#used++] = last;
      last.attach(this.batch, detector, found.isApart);
    }
    const count = last.count + found.count;
    if (count > last.capacity) {
      const larger = new EventBatch(powerOfTwo(count));
      larger.attach(this.batch, detector, found.isApart);
      appendEvents(last, larger);
      this.#events[this.#used - 1] = larger;
      last = larger;
    }
    appendEvents(found, last);
  }

  #reserve({ frames, reports, hops, frameLength }: TelemetryBatch): void {
    const { capacity } = this.batch;
    let bytes = 0;
    for (let frame = 0; frame < frames; frame++) bytes += frameLength[frame]! + GAP_BYTES;
    if (frames <= capacity.frames && reports <= capacity.reports && hops <= capacity.hops && bytes <= capacity.bytes)
      return;
    this.batch = new TelemetryBatch({
      frames: Math.max(capacity.frames, powerOfTwo(frames)),
      reports: Math.max(capacity.reports, powerOfTwo(reports)),
      hops: Math.max(capacity.hops, powerOfTwo(hops)),
      bytes: Math.max(capacity.bytes, powerOfTwo(bytes)),
    });
  }
}

/** Appends rows. The caller has made room. */
function appendEvents(from: EventBatch, to: EventBatch): void {
  const { count } = from;
  const at = to.count;
  for (const column of EVENT_COLUMNS) to[column].set(from[column].subarray(0, count), at);
  for (let column = 0; column < from.evidenceSlots * EVIDENCE.COLUMNS; column++) {
    const start = column * from.stride;
    to.evidence.set(from.evidence.subarray(start, start + count), column * to.stride + at);
  }
  to.copyLives(from, at);
  to.evidenceSlots = Math.max(to.evidenceSlots, from.evidenceSlots);
  to.count = at + count;
}
