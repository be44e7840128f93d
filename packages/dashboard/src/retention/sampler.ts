import { HOP_COLUMNS, ReportCopier, type TelemetryBatch } from '@int/codec';
import { REPORT_WORD_COLUMNS } from '@int/codec/internals';
import { frameTimeMs, reportIndex } from '@int/collector/internals';
import { EVIDENCE, type EventBatch } from '@int/detect';
import type { FlowTable } from './flow-table.js';
import { headerOf, NUMBER, type SharedRetention, SIGNAL } from './geometry.js';
import { NO_FLOW, PLACES, type Slab, type SlabNote, WHY } from './slabs.js';

/** Reports a second that are sampled at least, so that each flow of the table has a report of the last second. */
const LIVE_REPORTS = 1024;
/** Copies that are made for them in a second: reservoirs of a busy flow copy many reports that others replace. */
const LIVE_COPIES = 2048;
/** Longest time that a report waits, in milliseconds: usually, and if somebody wants each. */
const WAIT_MS = 100;
const TAP_WAIT_MS = 20;
/** Bytes of a report besides its frame and hops. */
const REPORT_BYTES = /* @__PURE__ */ REPORT_WORD_COLUMNS.length * 4 + 32;
const HOP_BYTES = /* @__PURE__ */ HOP_COLUMNS.length * 4;
/** More reports than a flow has in a second. */
const NEVER = 0xffff_ffff;
/** Bits of a place in a slab, and the numbers of slabs beside it. */
const MARK_BITS = 11;
const MARK_MASK = (1 << MARK_BITS) - 1;
const MOST_SERIALS = (1 << (31 - MARK_BITS)) - 1;
const EVENT_COLUMNS = ['report', 'rule', 'kind', 'hop', 'nodeId', 'value', 'previous', 'threshold'] as const;

/** Bytes that a report of the batch takes in the sample. */
function sampleBytesOf(batch: TelemetryBatch, row: number): number {
  return REPORT_BYTES + batch.hopCount[row]! * HOP_BYTES + batch.frameLength[batch.frame[row]!]!;
}

/**
 * Chooses the reports that are kept whole, and copies them into slabs for the dashboard's thread: those with events, and of the
 * others a reservoir per flow and second. When the thread is behind, nothing waits: what has no room is counted.
 */
export class Sampler {
  readonly #numbers: Float64Array;
  readonly #signals: Int32Array;
  readonly #flows: FlowTable;
  readonly #post: (note: SlabNote) => void;
  readonly #copier = new ReportCopier();
  readonly #seconds: number;
  readonly #sampleBytes: number;
  #slabs: readonly Slab[] = [];
  #next = 0;
  /** The slab that fills; -1: none. */
  #slab = -1;
  readonly #rules = new Map<number, string | null>();
  #postedMs = 0;
  /** By flow: the second it was seen in, reports seen in it, and places it has. */
  readonly #secondOf: Float64Array;
  readonly #seen: Uint32Array;
  readonly #places: Uint8Array;
  /** By flow: how many reports go before the next one that is sampled, and the state of its reservoir. */
  readonly #nextAt: Uint32Array;
  readonly #weight: Float64Array;
  #second = -1;
  #secondMs = Number.NEGATIVE_INFINITY;
  /** Flows seen in this second, and places of each, or the share of the flows that have one. */
  #active = 0;
  /** Reports seen in this second. */
  #reports = 0;
  #placesPerFlow = 4;
  #share = 1;
  /** Of the reports that were sampled: how many, and their bytes. */
  #sampled = 0;
  #sampledBytes = 0;
  #random = 0x9e3779b9;
  /** By row of the batch at hand: number of the slab << 11 | 1 + its place there, if it has events. */
  #marks = new Int32Array(0);
  #hasMarks = false;
  /** Number of the slab that fills, from 1. */
  #serial = 1;
  #isHashed = false;
  /** Rows of the batch at hand that are wanted, and why. */
  #wanted = new Uint32Array(0);
  #why = new Uint32Array(0);
  #placeOf = new Uint32Array(0);
  readonly #one = new Uint32Array(1);

  constructor(shared: SharedRetention, flows: FlowTable, post: (note: SlabNote) => void) {
    const { signals, numbers } = headerOf(shared);
    const { flows: count, seconds, sampleBytes } = shared.geometry;
    this.#numbers = numbers;
    this.#signals = signals;
    this.#flows = flows;
    this.#post = post;
    this.#seconds = seconds;
    this.#sampleBytes = sampleBytes;
    this.#secondOf = new Float64Array(count + 1).fill(-1);
    this.#seen = new Uint32Array(count + 1);
    this.#places = new Uint8Array(count + 1);
    this.#nextAt = new Uint32Array(count + 1);
    this.#weight = new Float64Array(count + 1);
  }

  /** Uses these slabs from now on. What is in earlier ones is lost; without any, nothing is kept. */
  use(slabs: readonly Slab[]): void {
    this.#slabs = slabs;
    this.#slab = -1;
    this.#next = 0;
    this.#rules.clear();
    this.#hasMarks = false;
    this.#marks.fill(0);
  }

  /** Copies events and their reports. The batch is added later, unless the events are apart. */
  addEvents(events: EventBatch): void {
    const { batch, count, report } = events;
    if (!events.isApart) this.#begin(batch);
    for (let from = 0; from < count; ) {
      const row = report[from]!;
      let to = from + 1;
      while (to < count && report[to] === row) to++;
      if (!events.isApart) this.#flows.noteEvents(this.#flows.rowOf(batch, row), to - from);
      if (!this.#copyEvents(events, row, from, to)) this.#numbers[NUMBER.BUSY_EVENTS]! += to - from;
      from = to;
    }
  }

  /** Samples the reports of a batch. */
  add(batch: TelemetryBatch): void {
    this.#begin(batch);
    const { reports, code, frame, frameTimeHigh, frameTimeLow } = batch;
    const isTapped = Atomics.load(this.#signals, SIGNAL.TAP) !== 0;
    let high = -1;
    let low = -1;
    let timeMs = 0;
    let count = 0;
    for (let row = 0; row < reports; row++) {
      if (code[row] !== 0) continue;
      const own = frame[row]!;
      if (frameTimeLow[own] !== low || frameTimeHigh[own] !== high) {
        low = frameTimeLow[own]!;
        high = frameTimeHigh[own]!;
        timeMs = frameTimeMs(batch, own);
        if (timeMs < this.#secondMs || timeMs >= this.#secondMs + 1000) {
          // A slab holds reports of one second.
          if (count > 0) this.#copy(batch, count);
          count = 0;
          this.flush();
          this.#beginSecond(Math.floor(timeMs / 1000));
        }
      }
      const flow = this.#flows.note(batch, row, timeMs);
      const place = this.#placeIn(flow);
      this.#reports++;
      if (this.#hasMarks && this.#marks[row] !== 0) continue;
      if (place < 0 && !isTapped) continue;
      this.#wanted[count] = row;
      this.#placeOf[count] = flow * PLACES + Math.max(0, place);
      this.#why[count++] = (place < 0 ? 0 : WHY.SAMPLE) | (isTapped ? WHY.TAP : 0);
    }
    if (count > 0) this.#copy(batch, count);
    if (this.#hasMarks) this.#marks.fill(0, 0, reports);
    this.#hasMarks = false;
    this.#isHashed = false;
    const slab = this.#slabs[this.#slab];
    if (slab === undefined || slab.batch.reports === 0) return;
    const waited = performance.now() - this.#postedMs;
    if (waited >= (isTapped ? TAP_WAIT_MS : WAIT_MS)) this.flush();
  }

  /** Lets time pass. */
  advance(timeMs: number): void {
    this.flush();
    this.#flows.sweep(timeMs);
  }

  /** Hands on the slab that fills. */
  flush(): void {
    const slab = this.#slabs[this.#slab];
    this.#postedMs = performance.now();
    if (slab === undefined || slab.batch.reports === 0) return;
    slab.handOver();
    this.#serial = (this.#serial % MOST_SERIALS) + 1;
    this.#post({ slab: this.#slab, second: this.#second, rules: [...this.#rules] });
    this.#slab = -1;
    this.#rules.clear();
  }

  #begin(batch: TelemetryBatch): void {
    if (this.#isHashed) return;
    this.#isHashed = true;
    this.#flows.hash(batch);
    if (this.#marks.length >= batch.reports) return;
    const { reports } = batch.capacity;
    this.#marks = new Int32Array(reports);
    this.#wanted = new Uint32Array(reports);
    this.#why = new Uint32Array(reports);
    this.#placeOf = new Uint32Array(reports);
  }

  #beginSecond(second: number): void {
    this.#second = second;
    this.#secondMs = second * 1000;
    const average = this.#sampled === 0 ? 1024 : this.#sampledBytes / this.#sampled;
    const budget = this.#sampleBytes / this.#seconds / average;
    const active = Math.max(1, this.#active);
    const each = this.#reports / active;
    // A reservoir of `places` takes so many of a flow's reports.
    const copies = (places: number): number => (each <= places ? each : places * (1 + Math.log(each / places)));
    const least = Math.max(1, Math.floor(budget / active));
    let places = Math.max(least, Math.floor(LIVE_REPORTS / active));
    while (places > least && copies(places) * active > LIVE_COPIES) places--;
    this.#placesPerFlow = Math.min(PLACES, places);
    this.#share = Math.min(1, Math.max(LIVE_REPORTS, budget) / active);
    this.#reports = 0;
    this.#active = 0;
    if (this.#sampled > 1 << 20) {
      this.#sampled /= 2;
      this.#sampledBytes /= 2;
    }
    this.#flows.sweep(second * 1000);
  }

  /**
   * The place of the next report of a flow in its reservoir; -1: it is not sampled. Which report is the next to take a place is
   * known when one has taken its: Algorithm L (Li, "Reservoir-sampling algorithms of time complexity O(n(1+log(N/n)))", 1994).
   */
  #placeIn(flow: number): number {
    if (this.#secondOf[flow] !== this.#second) this.#beginFlow(flow);
    const seen = this.#seen[flow]!++;
    if (seen < this.#nextAt[flow]!) return -1;
    const places = this.#places[flow]!;
    if (seen < places) {
      this.#nextAt[flow] = seen + 1;
      if (seen + 1 === places) this.#skip(flow, places);
      return seen;
    }
    this.#skip(flow, places);
    return Math.floor(this.#share01() * places);
  }

  #beginFlow(flow: number): void {
    this.#secondOf[flow] = this.#second;
    this.#seen[flow] = 0;
    this.#active++;
    const places = this.#share >= 1 || this.#share01() < this.#share ? this.#placesPerFlow : 0;
    this.#places[flow] = places;
    this.#nextAt[flow] = places === 0 ? NEVER : 0;
    this.#weight[flow] = 1;
  }

  /** Draws how many reports of a flow go by before the next one takes a place. */
  #skip(flow: number, places: number): void {
    const weight = this.#weight[flow]! * Math.exp(Math.log(this.#share01()) / places);
    this.#weight[flow] = weight;
    const passed = Math.floor(Math.log(this.#share01()) / Math.log(1 - weight)) + 1;
    // `seen` counts the present report already.
    this.#nextAt[flow] = Math.min(NEVER, this.#seen[flow]! - 1 + passed);
  }

  /** A random word: xorshift32 (Marsaglia, 2003). */
  #draw(): number {
    let word = this.#random;
    word ^= word << 13;
    word ^= word >>> 17;
    word ^= word << 5;
    this.#random = word;
    return word >>> 0;
  }

  /** A random number above 0 and below 1. */
  #share01(): number {
    return (this.#draw() + 0.5) / 2 ** 32;
  }

  #copy(batch: TelemetryBatch, count: number): void {
    let from = 0;
    while (from < count) {
      const slab = this.#open(batch);
      if (slab === null) break;
      const first = slab.batch.reports;
      const copied = this.#copier.append(batch, slab.batch, this.#wanted, from, count);
      for (let at = 0; at < copied; at++) {
        const row = this.#wanted[from + at]!;
        const why = this.#why[from + at]!;
        slab.why[first + at] = why;
        slab.place[first + at] = this.#placeOf[from + at]!;
        slab.index[first + at] = reportIndex(batch, row);
        if ((why & WHY.SAMPLE) !== 0) {
          this.#sampled++;
          this.#sampledBytes += sampleBytesOf(batch, row);
        }
      }
      from += copied;
      if (from === count) return;
      if (copied === 0 && first === 0) {
        // Its frame is larger than a slab.
        this.#refuse(this.#why[from++]!);
      } else this.flush();
    }
    for (; from < count; from++) this.#refuse(this.#why[from]!);
  }

  #refuse(why: number): void {
    if ((why & WHY.SAMPLE) !== 0) this.#numbers[NUMBER.BUSY_REPORTS]!++;
    if ((why & WHY.TAP) !== 0) this.#numbers[NUMBER.TAP_MISSED]!++;
  }

  /** Copies events `from` to `to - 1`, all of one report. @returns false if there is no room */
  #copyEvents(events: EventBatch, row: number, from: number, to: number): boolean {
    const { batch, isApart } = events;
    for (;;) {
      const slab = this.#open(batch);
      if (slab === null) return false;
      const isEmpty = slab.batch.reports === 0;
      const mark = isApart ? 0 : this.#marks[row]!;
      // If it is in an earlier slab, it is copied once more.
      let at = mark >>> MARK_BITS === this.#serial ? (mark & MARK_MASK) - 1 : -1;
      const isRoom = slab.events.count + (to - from) <= slab.events.capacity && this.#namesRules(events, from, to);
      if (isRoom && at < 0) {
        at = slab.batch.reports;
        this.#one[0] = row;
        if (this.#copier.append(batch, slab.batch, this.#one, 0, 1) === 0) at = -1;
        else {
          slab.why[at] = WHY.EVENT | (isApart ? WHY.APART : 0);
          slab.place[at] = isApart ? NO_FLOW : this.#flows.rowOf(batch, row) * PLACES;
          slab.index[at] = reportIndex(batch, row);
        }
      }
      if (isRoom && at >= 0) {
        if (!isApart) {
          this.#marks[row] = (this.#serial << MARK_BITS) | (at + 1);
          this.#hasMarks = true;
        }
        appendEvents(events, from, to, slab.events, at);
        return true;
      }
      if (isEmpty) return false;
      this.flush();
    }
  }

  /** Notes the names of the rules of events. @returns false if a slot has got another name since */
  #namesRules(events: EventBatch, from: number, to: number): boolean {
    for (let row = from; row < to; row++) {
      const slot = events.rule[row]!;
      const name = events.ruleName(row);
      const known = this.#rules.get(slot);
      if (known === undefined) this.#rules.set(slot, name);
      else if (known !== name) return false;
    }
    return true;
  }

  /** The slab that fills, or a free one; `null`: the other thread has all. A slab holds frames of one link type. */
  #open({ linkType }: TelemetryBatch): Slab | null {
    const filling = this.#slabs[this.#slab];
    if (filling !== undefined) {
      if (filling.batch.reports === 0 || filling.batch.linkType === linkType) return filling;
      this.flush();
    }
    for (let step = 0; step < this.#slabs.length; step++) {
      const index = (this.#next + step) % this.#slabs.length;
      const slab = this.#slabs[index]!;
      if (!slab.isFree) continue;
      this.#next = (index + 1) % this.#slabs.length;
      this.#slab = index;
      slab.clear();
      return slab;
    }
    return null;
  }
}

/** Appends events of one report. */
function appendEvents(from: EventBatch, first: number, end: number, to: EventBatch, report: number): void {
  let at = to.count;
  const slots = from.evidenceSlots;
  for (let row = first; row < end; row++, at++) {
    for (const column of EVENT_COLUMNS) to[column][at] = from[column][row]!;
    to.report[at] = report;
    for (let column = 0; column < slots * EVIDENCE.COLUMNS; column++) {
      to.evidence[column * to.stride + at] = from.evidence[column * from.stride + row]!;
    }
    // Slots that this batch does not use end what an earlier one has left.
    if (slots < EVIDENCE.SLOTS) to.evidence[slots * EVIDENCE.COLUMNS * to.stride + at] = EVIDENCE.NONE;
  }
  to.evidenceSlots = Math.max(to.evidenceSlots, slots);
  to.count = at;
}
