import type { TelemetryBatch } from '@int/codec';
import { type EventRecord, eventRecord, type ReportRecord, reportRecord } from '@int/collector';
import type { EventBatch } from '@int/detect';
import { eventId, parseId, reportHash, reportId } from './ids.js';
import { Segment } from './segment.js';
import { type Slab, type SlabNote, WHY } from './slabs.js';

/** Age from which a second's sample may be thinned, in milliseconds. */
const FRESH_MS = 5000;
const NS_PER_MS = 1_000_000n;

/** A retained report: a row of a segment. */
export interface Kept {
  readonly segment: Segment;
  readonly row: number;
}

/** A retained event: a row of a segment's events. */
export interface KeptEvent {
  readonly segment: Segment;
  readonly events: EventBatch;
  readonly row: number;
}

const isSample = (segment: Segment, row: number): boolean =>
  (segment.why(row) & WHY.SAMPLE) !== 0 && (segment.why(row) & WHY.EVENT) === 0;
const isKept = (segment: Segment, row: number): boolean => (segment.why(row) & (WHY.SAMPLE | WHY.EVENT)) !== 0;
const isOfEvent = (segment: Segment, row: number): boolean => (segment.why(row) & WHY.EVENT) !== 0;

/**
 * The retained reports and events, in the dashboard's thread. What comes in a second lies in parts, one per slab; when the
 * second is over, the sample that its reservoirs have left becomes one segment, and the reports with events another. When a
 * budget is used up, the sample of older seconds is thinned, then the oldest go.
 */
export class ReportStore {
  readonly #seconds: number;
  readonly #sampleBytes: number;
  readonly #eventBytes: number;
  readonly #holds: number;
  /** Of the second that is not over, in their order. */
  #parts: Segment[] = [];
  /** Parts that are still in the memory of a slab, oldest first. */
  #held: { readonly part: Segment; readonly slab: Slab }[] = [];
  /** In the order of time. */
  readonly #samples: Segment[] = [];
  readonly #withEvents: Segment[] = [];
  readonly #thinned = new WeakSet<Segment>();
  /** What has each place of the second. */
  readonly #places = new Map<number, Kept>();
  #second = -1;
  #bytes = { samples: 0, events: 0 };
  /** Reports left out of the sample by thinning, and events that went before their time. */
  thinned = 0;
  forgottenEvents = 0;

  /** @param holds slabs that are not copied until their second is over, or somebody wants what is in them to last */
  constructor(
    options: { readonly seconds: number; readonly sampleBytes: number; readonly eventBytes: number },
    holds = 0,
  ) {
    this.#holds = holds;
    this.#seconds = options.seconds;
    this.#sampleBytes = options.sampleBytes;
    this.#eventBytes = options.eventBytes;
  }

  get bytes(): number {
    const held = new Set(this.#held.map(({ part }) => part));
    const parts = this.#parts.reduce((sum, part) => sum + (held.has(part) ? 0 : part.bytes), 0);
    return this.#bytes.samples + this.#bytes.events + parts;
  }

  /**
   * Takes what is in a slab, and releases it sooner or later.
   * @returns it, for packet-level subscriptions: valid until the next call
   */
  take(slab: Slab, note: SlabNote): Segment {
    if (note.second !== this.#second) this.complete(note.second);
    while (this.#held.length > 0 && this.#held.length >= this.#holds) this.#copyOldest();
    const isHeld = this.#holds > 0;
    const part = isHeld ? Segment.over(slab, note.rules) : Segment.of(slab, note.rules);
    if (isHeld) this.#held.push({ part, slab });
    else slab.release();
    for (let row = 0; row < part.reports; row++) {
      if (!isSample(part, row)) continue;
      const place = part.place(row);
      const before = this.#places.get(place);
      before?.segment.replace(before.row);
      this.#places.set(place, { segment: part, row });
    }
    this.#parts.push(part);
    return part;
  }

  /** Keeps reports that were read elsewhere, all of them. Segments are loaded in the order of their times. */
  load(segment: Segment): void {
    const [list, kind] =
      segment.events === null ? ([this.#samples, 'samples'] as const) : ([this.#withEvents, 'events'] as const);
    list.push(segment);
    this.#bytes[kind] += segment.bytes;
  }

  /** Ends the second at hand. */
  complete(second: number): void {
    const parts = this.#parts;
    this.#parts = [];
    this.#places.clear();
    this.#second = second;
    const held = this.#held;
    this.#held = [];
    for (const linkType of new Set(parts.map(({ batch }) => batch.linkType))) {
      const alike = parts.filter(({ batch }) => batch.linkType === linkType);
      const sample = Segment.join(alike, isSample, false);
      const withEvents = Segment.join(alike, isOfEvent, true);
      if (sample !== null) {
        this.#samples.push(sample);
        this.#bytes.samples += sample.bytes;
      }
      if (withEvents !== null) {
        this.#withEvents.push(withEvents);
        this.#bytes.events += withEvents.bytes;
      }
    }
    for (const { slab } of held) slab.release();
    this.#keepWithin();
  }

  /** Forgets what is older than is retained. @param nowMs newest time of telemetry */
  expire(nowMs: number): void {
    const oldest = nowMs - this.#seconds * 1000;
    while (this.#samples.length > 0 && this.#samples[0]!.toMs < oldest) this.#dropSample();
    while (this.#withEvents.length > 0 && this.#withEvents[0]!.toMs < oldest) this.#dropEvents();
  }

  /** Forgets everything: time was set back. */
  clear(): void {
    for (const { slab } of this.#held) slab.release();
    this.#held = [];
    this.#parts = [];
    this.#places.clear();
    this.#samples.length = 0;
    this.#withEvents.length = 0;
    this.#bytes = { samples: 0, events: 0 };
  }

  /** Reports and events that are retained. */
  counts(): { readonly reports: number; readonly events: number } {
    let [reports, events] = [0, 0];
    for (const segment of this.#samples) reports += segment.reports;
    for (const segment of this.#withEvents) {
      reports += segment.reports;
      events += segment.events?.count ?? 0;
    }
    for (const part of this.#parts) {
      for (let row = 0; row < part.reports; row++) if (part.isReport(row)) reports++;
      events += part.events?.count ?? 0;
    }
    return { reports, events };
  }

  /** The time of the oldest event, or report, that is retained; `null`: there is none. */
  get fromMs(): number | null {
    const first = Math.min(
      this.#samples[0]?.fromMs ?? Number.POSITIVE_INFINITY,
      this.#withEvents[0]?.fromMs ?? Number.POSITIVE_INFINITY,
      ...this.#parts.map(({ fromMs }) => fromMs),
    );
    return Number.isFinite(first) ? first : null;
  }

  /**
   * The segments that have reports or events from `fromMs` on, and before `toMs`: newest first. Rows of one are in the order in
   * which they came. Of parts of the second that is not over, look at `isReport` of each row. They stay as they are.
   */
  *segments(fromMs?: number, toMs?: number): Generator<Segment, void, undefined> {
    while (this.#held.length > 0) this.#copyOldest();
    yield* this.#passing(fromMs, toMs);
  }

  /** The same, but what was not copied yet is valid only until the next slab is taken. */
  *#passing(fromMs = Number.NEGATIVE_INFINITY, toMs = Number.POSITIVE_INFINITY): Generator<Segment, void, undefined> {
    const touches = (segment: Segment): boolean => segment.toMs >= fromMs && segment.fromMs < toMs;
    for (let at = this.#parts.length - 1; at >= 0; at--) if (touches(this.#parts[at]!)) yield this.#parts[at]!;
    let [sample, event] = [this.#samples.length - 1, this.#withEvents.length - 1];
    while (sample >= 0 || event >= 0) {
      const isEvent = sample < 0 || (event >= 0 && this.#withEvents[event]!.toMs >= this.#samples[sample]!.toMs);
      const segment = isEvent ? this.#withEvents[event--]! : this.#samples[sample--]!;
      if (touches(segment)) yield segment;
    }
  }

  /** Retained reports in the range, newest first within what came together. */
  reports(fromMs?: number, toMs?: number): Generator<Kept, void, undefined> {
    return this.#reportsOf(this.segments(fromMs, toMs), fromMs, toMs);
  }

  /** The same for who is done before the next slab is taken: nothing is copied for it. */
  passingReports(fromMs?: number, toMs?: number): Generator<Kept, void, undefined> {
    return this.#reportsOf(this.#passing(fromMs, toMs), fromMs, toMs);
  }

  *#reportsOf(segments: Iterable<Segment>, fromMs?: number, toMs?: number): Generator<Kept, void, undefined> {
    for (const segment of segments) {
      for (let row = segment.reports - 1; row >= 0; row--) {
        if (!segment.isReport(row)) continue;
        const timeMs = segment.timeMs(row);
        if ((fromMs === undefined || timeMs >= fromMs) && (toMs === undefined || timeMs < toMs)) yield { segment, row };
      }
    }
  }

  /** Retained events in the range, newest first within what came together. */
  *events(fromMs?: number, toMs?: number): Generator<KeptEvent, void, undefined> {
    for (const segment of this.segments(fromMs, toMs)) {
      const { events } = segment;
      if (events === null) continue;
      for (let row = events.count - 1; row >= 0; row--) {
        const timeMs = segment.timeMs(events.report[row]!);
        if ((fromMs === undefined || timeMs >= fromMs) && (toMs === undefined || timeMs < toMs))
          yield { segment, events, row };
      }
    }
  }

  /** The retained report of an id, or of an event's id; `null`: there is none. */
  findReport(id: string): Kept | null {
    const parsed = parseId(id);
    if (parsed === null) return null;
    const timeMs = Number(parsed.timeNs / NS_PER_MS);
    for (const segment of this.segments(timeMs - 1, timeMs + 2)) {
      for (let row = 0; row < segment.reports; row++) {
        if (!segment.isReport(row) || segment.batch.timeNs(row) !== parsed.timeNs) continue;
        if (reportHash(segment.batch, row, segment.index(row)) === parsed.hash) return { segment, row };
      }
    }
    return null;
  }

  /** The retained event of an id; `null`: there is none. */
  findEvent(id: string): KeptEvent | null {
    const parsed = parseId(id);
    if (parsed === null || !parsed.event) return null;
    const timeMs = Number(parsed.timeNs / NS_PER_MS);
    for (const segment of this.segments(timeMs - 1, timeMs + 2)) {
      const { events } = segment;
      if (events === null) continue;
      for (let row = 0; row < events.count; row++) {
        if (events.timeNs(row) === parsed.timeNs && keptEventId({ segment, events, row }) === id)
          return { segment, events, row };
      }
    }
    return null;
  }

  /** Copies what is kept of the oldest part that is still in a slab, and releases the slab. */
  #copyOldest(): void {
    const { part, slab } = this.#held.shift()!;
    const copy = Segment.join([part], isKept, true);
    const at = this.#parts.indexOf(part);
    if (copy === null) this.#parts.splice(at, 1);
    else {
      this.#parts[at] = copy;
      for (let row = 0; row < copy.reports; row++) {
        if (isSample(copy, row)) this.#places.set(copy.place(row), { segment: copy, row });
      }
    }
    slab.release();
  }

  #keepWithin(): void {
    const quota = this.#sampleBytes / this.#seconds;
    while (this.#bytes.samples > this.#sampleBytes && this.#samples.length > 0) {
      const newest = this.#samples.at(-1)!.toMs;
      const at = this.#samples.findIndex(
        (segment) => segment.bytes > quota && !this.#thinned.has(segment) && newest - segment.toMs > FRESH_MS,
      );
      if (at < 0) this.#dropSample();
      else this.#thin(at, quota);
    }
    while (this.#bytes.events > this.#eventBytes && this.#withEvents.length > 0) {
      this.forgottenEvents += this.#withEvents[0]!.events?.count ?? 0;
      this.#dropEvents();
    }
  }

  /** Keeps a part of a second's sample. */
  #thin(at: number, quota: number): void {
    const segment = this.#samples[at]!;
    const share = quota / segment.bytes;
    // Rows are in the order of arrival: every so many-th is a fair part.
    let owed = share / 2;
    const thin = Segment.join(
      [segment],
      () => {
        owed += share;
        if (owed < 1) return false;
        owed--;
        return true;
      },
      false,
    );
    this.#bytes.samples -= segment.bytes;
    this.thinned += segment.reports - (thin?.reports ?? 0);
    if (thin === null) {
      this.#samples.splice(at, 1);
      return;
    }
    this.#thinned.add(thin);
    this.#samples[at] = thin;
    this.#bytes.samples += thin.bytes;
  }

  #dropSample(): void {
    this.#bytes.samples -= this.#samples.shift()!.bytes;
  }

  #dropEvents(): void {
    this.#bytes.events -= this.#withEvents.shift()!.bytes;
  }
}

export function keptReportId({ segment, row }: Kept): string {
  return reportId(segment.batch as TelemetryBatch, row, segment.index(row));
}

export function keptEventId({ segment, events, row }: KeptEvent): string {
  return eventId(events, row, keptReportId({ segment, row: events.report[row]! }));
}

export function keptReportRecord(kept: Kept): ReportRecord {
  return reportRecord(kept.segment.batch, kept.row, keptReportId(kept));
}

export function keptEventRecord(kept: KeptEvent): EventRecord {
  return eventRecord(kept.events, kept.row, keptEventId(kept));
}
