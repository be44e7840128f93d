import { ReportCopier, STATE, TelemetryBatch } from '@int/codec';
import { frameTimeMs, reportIndex } from '@int/collector/internals';
import { type Detector, EVIDENCE, EventBatch } from '@int/detect';
import { NO_FLOW, PLACES, type Slab, WHY } from './slabs.js';

const LEAST_HOPS = 256;
const LEAST_EVENTS = 256;
/** Bytes between frames that are copied with them, see `ReportCopier`. */
const GAP_BYTES = 64;
const EVENT_COLUMNS = ['report', 'rule', 'kind', 'hop', 'nodeId', 'value', 'previous', 'threshold'] as const;
const copier = /* @__PURE__ */ new ReportCopier();

/** What is known of the rows of a {@link Segment}. */
interface Rows {
  readonly why: Uint32Array;
  readonly place: Uint32Array;
  readonly index: Uint32Array;
}

/**
 * Whole reports with their frames, and the events in some of them. Its memory is its own and does not change, but for rows that
 * a reservoir replaces while its second lasts.
 */
export class Segment {
  readonly batch: TelemetryBatch;
  /** Empty if there are none; they refer to {@link batch}. */
  readonly events: EventBatch | null;
  readonly fromMs: number;
  readonly toMs: number;
  readonly bytes: number;
  readonly #rows: Rows;
  readonly #names: ReadonlyMap<number, string | null>;

  private constructor(
    batch: TelemetryBatch,
    events: EventBatch | null,
    rows: Rows,
    names: ReadonlyMap<number, string | null>,
  ) {
    this.batch = batch;
    this.events = events;
    this.#rows = rows;
    this.#names = names;
    let from = Number.POSITIVE_INFINITY;
    let to = Number.NEGATIVE_INFINITY;
    for (let frame = 0; frame < batch.frames; frame++) {
      const timeMs = frameTimeMs(batch, frame);
      if (timeMs < from) from = timeMs;
      if (timeMs > to) to = timeMs;
    }
    this.fromMs = from;
    this.toMs = to;
    this.bytes = batch.buffer.byteLength + (events === null ? 0 : events.words.byteLength) + 3 * rows.why.byteLength;
  }

  /** What is in a slab, in its memory: until the slab is released. */
  static over(slab: Slab, rules: readonly (readonly [number, string | null])[]): Segment {
    const { batch, events } = slab;
    const [why, place, index] = [slab.why, slab.place, slab.index].map((words) => words.subarray(0, batch.reports));
    slab.names = new Map(rules);
    const rows = { why: why!, place: place!, index: index! };
    return new Segment(batch, events.count > 0 ? events : null, rows, slab.names);
  }

  /** A copy of a slab. */
  static of({ batch, events, why, place, index }: Slab, rules: readonly (readonly [number, string | null])[]): Segment {
    const { reports } = batch;
    const rows = { why: why.slice(0, reports), place: place.slice(0, reports), index: index.slice(0, reports) };
    const copy = roomFor(batch);
    copier.appendAll(batch, copy);
    const names = new Map(rules);
    return new Segment(copy, copyOfEvents(events, null, copy, names), rows, names);
  }

  /**
   * A copy of some reports of a batch, with their events.
   * @param rows ascending @param isApart the batch only says when and what the events are about
   */
  static copied(batch: TelemetryBatch, held: HeldEvents | null, rows: Uint32Array, isApart: boolean): Segment {
    const { events, names } = held ?? { events: null, names: new Map<number, string | null>() };
    let [hops, bytes] = [0, 0];
    for (const row of rows) {
      hops += batch.hopCount[row]!;
      bytes += batch.frameLength[batch.frame[row]!]! + GAP_BYTES;
    }
    const reports = Math.max(1, rows.length);
    const copy = new TelemetryBatch({ frames: reports, reports, hops: Math.max(LEAST_HOPS, hops), bytes });
    copier.append(batch, copy, rows, 0, rows.length);
    const moved = new Uint32Array(batch.reports);
    const kept = {
      why: new Uint32Array(rows.length).fill(isApart ? WHY.EVENT | WHY.APART : WHY.SAMPLE),
      place: new Uint32Array(rows.length).fill(NO_FLOW),
      index: new Uint32Array(rows.length),
    };
    for (const [at, row] of rows.entries()) {
      moved[row] = at + 1;
      kept.index[at] = reportIndex(batch, row);
    }
    for (let row = 0; row < (events?.count ?? 0); row++) {
      const at = moved[events!.report[row]!]! - 1;
      if (at >= 0) kept.why[at]! |= WHY.EVENT;
    }
    const own = events === null ? null : copyOfEvents(events, moved, copy, names);
    if (isApart) own?.attach(copy, own.detector, true);
    return new Segment(copy, own, kept, names);
  }

  /** Reports that were read elsewhere; the batch and its events are the segment's own from now on. */
  static made(
    batch: TelemetryBatch,
    events: EventBatch | null,
    rows: Rows,
    names: ReadonlyMap<number, string | null>,
  ): Segment {
    return new Segment(batch, events, rows, names);
  }

  /**
   * Puts the rows of many segments into one; `null` if there are none.
   * @param wanted says of each row whether it is taken
   * @param withEvents whether their events are taken, too
   */
  static join(
    segments: readonly Segment[],
    wanted: (segment: Segment, row: number) => boolean,
    withEvents: boolean,
  ): Segment | null {
    const parts = segments
      .map((segment) => ({ segment, rows: segment.#taken(wanted) }))
      .filter(({ rows }) => rows.length > 0);
    if (parts.length === 0) return null;
    let [reports, hops, bytes] = [0, 0, 0];
    for (const { segment, rows } of parts) {
      reports += rows.length;
      for (const row of rows) {
        hops += segment.batch.hopCount[row]!;
        bytes += segment.batch.frameLength[segment.batch.frame[row]!]! + GAP_BYTES;
      }
    }
    const batch = new TelemetryBatch({ frames: reports, reports, hops: Math.max(LEAST_HOPS, hops), bytes });
    const all = { why: new Uint32Array(reports), place: new Uint32Array(reports), index: new Uint32Array(reports) };
    const names = new Map<number, string | null>();
    const events = withEvents
      ? eventRoom(parts.reduce((sum, { segment }) => sum + (segment.events?.count ?? 0), 0))
      : null;
    events?.attach(batch, { ruleName: (slot: number) => names.get(slot) ?? null } as Detector);
    let slots = 0;
    for (const { segment, rows } of parts) {
      const first = batch.reports;
      // Row -> row + 1 in the new batch.
      const moved = new Uint32Array(segment.batch.reports);
      copier.append(segment.batch, batch, rows, 0, rows.length);
      for (const [at, row] of rows.entries()) {
        for (const name of ['why', 'place', 'index'] as const) all[name][first + at] = segment.#rows[name][row]!;
        moved[row] = first + at + 1;
      }
      if (events === null || segment.events === null) continue;
      // Slots may have had other names before: each segment's get numbers of their own.
      const numbers = new Map<number, number>();
      for (const [slot, name] of segment.#names) {
        const known = [...names].find(([, each]) => each === name);
        const number = known === undefined ? slots++ : known[0];
        names.set(number, name);
        numbers.set(slot, number);
      }
      appendEvents(segment.events, events, moved, numbers);
    }
    const kept = events === null || events.count === 0 ? null : events;
    return new Segment(batch, kept, all, names);
  }

  get reports(): number {
    return this.batch.reports;
  }

  why(row: number): number {
    return this.#rows.why[row]!;
  }

  /** Whether a row is a report: not replaced, and not only what an event is about. */
  isReport(row: number): boolean {
    const why = this.#rows.why[row]!;
    return (why & (WHY.SAMPLE | WHY.EVENT)) !== 0 && (why & WHY.APART) === 0;
  }

  /** Index of a report in its frame. */
  index(row: number): number {
    return this.#rows.index[row]!;
  }

  /** Row of a report's flow in the table of flows, when it was taken; -1: none. */
  flow(row: number): number {
    const place = this.#rows.place[row]!;
    return place === NO_FLOW ? -1 : Math.floor(place / PLACES);
  }

  /** Place of a report in the sample of its flow and second. */
  place(row: number): number {
    return this.#rows.place[row]!;
  }

  timeMs(row: number): number {
    return frameTimeMs(this.batch, this.batch.frame[row]!);
  }

  /** Another report takes the place of this one. */
  replace(row: number): void {
    this.#rows.why[row]! &= ~WHY.SAMPLE;
  }

  #taken(wanted: (segment: Segment, row: number) => boolean): Uint32Array {
    const rows = new Uint32Array(this.batch.reports);
    let count = 0;
    for (let row = 0; row < this.batch.reports; row++) if (wanted(this, row)) rows[count++] = row;
    return rows.subarray(0, count);
  }
}

/** Events of one batch, copied, with the names of their rules. Their batch is the one that they were found in. */
export interface HeldEvents {
  readonly events: EventBatch;
  readonly names: ReadonlyMap<number, string | null>;
}

/** Copies events, whose memory is reused, behind those that are held of the same batch. */
export function holdEvents(found: EventBatch, before: HeldEvents | null): HeldEvents {
  const names = new Map(before?.names ?? []);
  for (let row = 0; row < found.count; row++) names.set(found.rule[row]!, found.ruleName(row));
  const events = eventRoom((before?.events.count ?? 0) + found.count);
  events.attach(found.batch, { ruleName: (slot: number) => names.get(slot) ?? null } as Detector, found.isApart);
  if (before !== null) appendEvents(before.events, events, null, null);
  appendEvents(found, events, null, null);
  return { events, names };
}

function roomFor(batch: TelemetryBatch): TelemetryBatch {
  const { reports, hops, state } = batch;
  return new TelemetryBatch({
    frames: Math.max(1, batch.frames),
    reports: Math.max(1, reports),
    hops: Math.max(LEAST_HOPS, hops),
    bytes: Math.max(1, state[STATE.BYTES]! + GAP_BYTES),
  });
}

const eventRoom = (count: number): EventBatch => new EventBatch(Math.max(LEAST_EVENTS, count));

function copyOfEvents(
  events: EventBatch,
  moved: Uint32Array | null,
  batch: TelemetryBatch,
  names: ReadonlyMap<number, string | null>,
): EventBatch | null {
  if (events.count === 0) return null;
  const copy = eventRoom(events.count);
  copy.attach(batch, { ruleName: (slot: number) => names.get(slot) ?? null } as Detector);
  appendEvents(events, copy, moved, null);
  return copy;
}

/** @param moved new rows of reports, plus one; 0: not taken. `null`: as they are @param numbers new slots of rules */
function appendEvents(
  from: EventBatch,
  to: EventBatch,
  moved: Uint32Array | null,
  numbers: ReadonlyMap<number, number> | null,
): void {
  let at = to.count;
  const slots = from.evidenceSlots;
  for (let row = 0; row < from.count; row++) {
    const report = moved === null ? from.report[row]! + 1 : moved[from.report[row]!]!;
    if (report === 0) continue;
    for (const column of EVENT_COLUMNS) to[column][at] = from[column][row]!;
    to.report[at] = report - 1;
    if (numbers !== null) to.rule[at] = numbers.get(from.rule[row]!)!;
    for (let column = 0; column < slots * EVIDENCE.COLUMNS; column++) {
      to.evidence[column * to.stride + at] = from.evidence[column * from.stride + row]!;
    }
    if (slots < EVIDENCE.SLOTS) to.evidence[slots * EVIDENCE.COLUMNS * to.stride + at] = EVIDENCE.NONE;
    at++;
  }
  to.evidenceSlots = Math.max(to.evidenceSlots, slots);
  to.count = at;
}
