import { frameTimeMs } from '@int/collector/internals';
import { KIND as EVENT_KIND, type EventBatch, SCOPES } from '@int/detect';
import { BUCKET_MS } from '../protocol/entities.js';

/** The hop of an event that is about none. */
const NO_HOP = 0xffff_ffff;
/** Events apart that wait for their bucket. */
const MOST_APART = 4096;
const HOP_SCOPE = /* @__PURE__ */ SCOPES.indexOf('hop');

/** An event that is of no report of the stream. */
interface ApartEvent {
  readonly bucket: number;
  readonly nodeId: number | null;
}

/** Events that were found in a batch, until its reports are counted; and those apart, until their bucket has come. */
export class BatchEvents {
  /** By report 1 + its first event; by event its hop, and 1 + the next event of the report. */
  first = new Int32Array(0);
  hop = new Uint32Array(0);
  next = new Int32Array(0);
  count = 0;
  #apart: ApartEvent[] = [];
  /** Those apart for which there was no room to wait. */
  beyond = 0;

  get hasApart(): boolean {
    return this.#apart.length > 0;
  }

  /** Takes events: those of the batch that is added next, or such that are apart. */
  take(events: EventBatch): void {
    const { batch, count, report, kind, hop } = events;
    const isHop = (row: number): boolean =>
      ((kind[row]! >>> EVENT_KIND.SCOPE_SHIFT) & EVENT_KIND.SCOPE_MASK) === HOP_SCOPE;
    if (events.isApart) {
      for (let row = 0; row < count; row++) {
        const timeMs = frameTimeMs(batch, batch.frame[report[row]!]!);
        this.#apart.push({ bucket: Math.floor(timeMs / BUCKET_MS), nodeId: isHop(row) ? events.nodeId[row]! : null });
      }
      return;
    }
    if (this.first.length < batch.reports) this.first = new Int32Array(batch.capacity.reports);
    for (let row = 0; row < count; row++) {
      if (this.count === this.hop.length) this.#grow();
      const event = this.count++;
      this.hop[event] = isHop(row) ? hop[row]! : NO_HOP;
      this.next[event] = this.first[report[row]!]!;
      this.first[report[row]!] = event + 1;
    }
  }

  /** Forgets those of a batch, whose reports are counted. */
  clear(reports: number): void {
    if (this.count > 0) this.first.fill(0, 0, reports);
    this.count = 0;
  }

  /** Those apart whose bucket has come. Of the others, the oldest wait. @param bucket -1: none has come yet */
  takeApart(bucket: number): ApartEvent[] {
    const come = this.#apart.filter((event) => event.bucket <= bucket);
    const waiting = this.#apart.filter((event) => event.bucket > bucket);
    this.beyond += Math.max(0, waiting.length - MOST_APART);
    this.#apart = waiting.slice(0, MOST_APART);
    return come;
  }

  #grow(): void {
    const size = Math.max(256, this.hop.length * 2);
    const [hops, next] = [new Uint32Array(size), new Int32Array(size)];
    hops.set(this.hop);
    next.set(this.next);
    this.hop = hops;
    this.next = next;
  }
}
