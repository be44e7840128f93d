/** A range of time once more, through all views, with a clock of its own. */
import type { LinkLayer } from '@int/codec';
import { NetworkView } from '../network/network-view.js';
import { BUCKET_MS } from '../protocol/entities.js';
import type { LeftOutReports, ReplayAnswer } from '../protocol/http.js';
import { geometryOf, headerOf, SIGNAL, shareRetention } from '../retention/geometry.js';
import { Retention } from '../retention/retention.js';
import { RetentionWriter } from '../retention/retention-writer.js';
import { Segment } from '../retention/segment.js';
import { Slab, slabMemory, WHY } from '../retention/slabs.js';
import type { View } from '../server/routes.js';
import type { RangeSource } from './range-source.js';

/** Slabs of a replay: what is written is taken at once. */
const SLABS = 2;
const LEAST_SECONDS = 10;
/** Time before and behind the range, in seconds: the ring holds all of it, if it is not longer than that of the network. */
const MARGIN_SECONDS = 5;
/** A replay that is late catches up for so long at a time. */
const TURN_MS = 10;

export interface ReplayOptions {
  readonly id: string;
  readonly from: number;
  readonly to: number;
  readonly speed: number;
  /** Where its reports come from, and what that is called. */
  readonly source: RangeSource;
  readonly name: Pick<ReplayAnswer, 'source' | 'capture'>;
  /** The network as it is known, and how much is retained of it. */
  readonly live: View;
  /** Takes what has come, for packet-level subscriptions. */
  readonly onPart: (view: View, part: Segment) => void;
}

export class Replay {
  readonly id: string;
  readonly view: View;
  readonly from: number;
  /** Its end; of a capture, it is known when all of it has been read. */
  #to: number;
  #speed: number;
  readonly #source: RangeSource;
  readonly #name: ReplayOptions['name'];
  /** What was read and is not written yet, by time. */
  #segments: readonly Segment[] = [];
  /** Those that were read: a source may hand one out more than once. */
  readonly #known = new WeakSet<Segment>();
  #loadedTo: number;
  #isReading = false;
  #leftOut: LeftOutReports = {};
  #failure: string | null = null;
  readonly #ending = new AbortController();
  readonly #writer: RetentionWriter;
  readonly #signals: Int32Array;
  /** Where it is, in milliseconds of the telemetry, and when it was there. */
  #at: number;
  #sinceMs: number;
  /** The next bucket. */
  #bucket: number;
  /** When it ended, on the clock of the process. */
  endedMs: number | null = null;

  constructor({ id, from, to, speed, source, name, live, onPart }: ReplayOptions, nowMs: number) {
    this.id = id;
    this.from = from;
    this.#to = to;
    this.#speed = speed;
    this.#source = source;
    this.#name = name;
    this.#loadedTo = from;
    const whole = Math.ceil((to - from) / 1000) + MARGIN_SECONDS;
    const seconds = Math.max(LEAST_SECONDS, Math.min(whole, live.retention.seconds + MARGIN_SECONDS));
    const shared = shareRetention(geometryOf({ seconds, memoryBytes: live.retention.budgetBytes, flows: 4096 }));
    this.#signals = headerOf(shared).signals;
    const retention = new Retention(shared);
    const network = new NetworkView();
    network.device = live.network.device;
    network.topology = live.network.topology;
    this.view = { retention, network };
    const slabs = Array.from({ length: SLABS }, () => new Slab(slabMemory()));
    this.#writer = new RetentionWriter(shared, (note) => {
      const part = retention.take(slabs[note.slab]!, note);
      network.learn(part.batch);
      onPart(this.view, part);
    });
    this.#writer.use(slabs);
    this.#bucket = Math.floor(from / BUCKET_MS);
    this.#at = from;
    this.#sinceMs = nowMs;
    this.#load();
  }

  get answer(): ReplayAnswer {
    const { id, from } = this;
    return {
      id,
      from,
      to: this.#to,
      speed: this.#speed,
      at: Math.min(this.#to, this.#at),
      isOver: this.endedMs !== null,
      ...this.#name,
      ...(Object.keys(this.#leftOut).length > 0 && { leftOut: this.#leftOut }),
      ...(this.#failure !== null && { failure: this.#failure }),
    };
  }

  /** Goes on at another speed; 0: not at all. */
  setSpeed(speed: number, nowMs: number): void {
    this.#pass(nowMs);
    this.#speed = speed;
  }

  /** Lets time pass: writes what belongs to it. @param isTapped whether somebody wants all reports */
  tick(nowMs: number, isTapped: boolean): void {
    if (this.endedMs !== null) return;
    Atomics.store(this.#signals, SIGNAL.TAP, isTapped ? 1 : 0);
    this.#pass(nowMs);
    const begun = performance.now();
    const to = this.#to;
    const end = Math.min(this.#at, to);
    while ((this.#bucket + 1) * BUCKET_MS <= end || (end === to && this.#bucket * BUCKET_MS < to)) {
      this.#write(this.#bucket);
      this.#bucket++;
      if (performance.now() - begun > TURN_MS) break;
    }
    const written = this.#bucket * BUCKET_MS;
    this.#segments = this.#segments.filter(({ toMs }) => toMs >= written);
    this.view.retention.tick();
    this.#load();
    if (written < this.#to) return;
    this.#writer.finish();
    this.endedMs = nowMs;
    this.close();
  }

  /** Ends it: nothing more is read. */
  close(): void {
    this.#ending.abort();
    this.#source.close?.();
  }

  /** Time does not go beyond what was read. */
  #pass(nowMs: number): void {
    const wanted = this.#at + (nowMs - this.#sinceMs) * this.#speed;
    this.#at = Math.min(this.#to, this.#loadedTo, wanted);
    this.#sinceMs = nowMs;
  }

  /** Reads ahead by a portion. */
  #load(): void {
    const { portionMs } = this.#source;
    // A replay that is behind its clock does not read ahead of what it has written.
    const at = Math.min(this.#at, this.#bucket * BUCKET_MS);
    const isDue = this.#loadedTo < this.#to && at + portionMs >= this.#loadedTo;
    if (this.#isReading || !isDue || this.#ending.signal.aborted) return;
    this.#isReading = true;
    const from = this.#loadedTo;
    const to = Math.min(this.#to, (Math.floor(from / BUCKET_MS) + Math.ceil(portionMs / BUCKET_MS)) * BUCKET_MS);
    void this.#read(from, to > from ? to : this.#to);
  }

  async #read(from: number, to: number): Promise<void> {
    try {
      const {
        segments,
        leftOut,
        isLast = false,
        failure = null,
      } = await this.#source.read(from, to, this.#ending.signal);
      const come = segments.filter((each) => !this.#known.has(each));
      for (const each of come) this.#known.add(each);
      this.#segments = [...this.#segments, ...come];
      this.#leftOut = sumOf(this.#leftOut, leftOut, { late: come.reduce((sum, each) => sum + this.#lateOf(each), 0) });
      this.#loadedTo = to;
      if (isLast) this.#to = Math.min(this.#to, to);
      this.#failure = failure;
    } catch (error) {
      if (this.#ending.signal.aborted) return;
      this.#failure = error instanceof Error ? error.message : String(error);
      this.#to = this.#loadedTo;
    } finally {
      this.#isReading = false;
    }
  }

  /** Reports of the range whose bucket has been written. */
  #lateOf(segment: Segment): number {
    const written = this.#bucket * BUCKET_MS;
    if (segment.fromMs >= written) return 0;
    let count = 0;
    for (let row = 0; row < segment.reports; row++) {
      const timeMs = segment.timeMs(row);
      if (timeMs >= this.from && timeMs < written && segment.isReport(row)) count++;
    }
    return count;
  }

  /** Writes what was retained of a bucket: its events, then its reports. */
  #write(bucket: number): void {
    const from = Math.max(this.from, bucket * BUCKET_MS);
    const to = Math.min(this.#to, (bucket + 1) * BUCKET_MS);
    const touched = this.#segments.filter((each) => each.toMs >= from && each.fromMs < to);
    const isIn = (segment: Segment, row: number): boolean => {
      const timeMs = segment.timeMs(row);
      return timeMs >= from && timeMs < to;
    };
    for (const linkType of new Set<LinkLayer | null>(touched.map(({ batch }) => batch.linkType))) {
      const alike = touched.filter(({ batch }) => batch.linkType === linkType);
      const reports = Segment.join(alike, (segment, row) => segment.isReport(row) && isIn(segment, row), true);
      if (reports !== null) {
        if (reports.events !== null) this.#writer.writeEvents(reports.events);
        this.#writer.write(reports.batch);
      }
      const isApart = (segment: Segment, row: number): boolean =>
        (segment.why(row) & WHY.APART) !== 0 && isIn(segment, row);
      const events = Segment.join(alike, isApart, true)?.events ?? null;
      if (events === null) continue;
      // Events that belong to no report stay so.
      events.attach(events.batch, events.detector, true);
      this.#writer.writeEvents(events);
    }
    this.#writer.advance(to);
  }
}

/** Adds up counts by reason; one that is 0 is missing. */
function sumOf(...counts: readonly LeftOutReports[]): LeftOutReports {
  const sums: Record<string, number> = {};
  for (const [reason, count] of counts.flatMap((each) => Object.entries(each) as [string, number][])) {
    if (count > 0) sums[reason] = (sums[reason] ?? 0) + count;
  }
  return sums;
}
