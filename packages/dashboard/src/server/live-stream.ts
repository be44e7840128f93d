import type { ReportRecord } from '@int/collector';
import { eventRow } from '../answers/events.js';
import { flowsAnswer } from '../answers/flows.js';
import { factorOf } from '../answers/series.js';
import { replayStatus } from '../answers/status.js';
import { liveControlOf } from '../control/live-control.js';
import { LinkStates } from '../network/link-states.js';
import { topologyAnswer } from '../network/topology-answer.js';
import type { ControlAnswer, JournalRow } from '../protocol/control.js';
import { BUCKET_MS } from '../protocol/entities.js';
import { encodeSeriesFrame } from '../protocol/frame.js';
import type { EventRow } from '../protocol/http.js';
import { keptReportRecord } from '../retention/report-store.js';
import type { Segment } from '../retention/segment.js';
import { WHY } from '../retention/slabs.js';
import { ApiError } from './api-error.js';
import type { Services, View } from './routes.js';
import type { RowSubscription, SeriesSubscription, TableSubscription, Viewer } from './viewer.js';

/** Tables and the map are sent once a second; the map also at once when a link goes down or comes back. */
const TABLE_MS = 1000;
/** Buckets of one frame. */
const MOST_BUCKETS = 6000;
/** Rows of one message. */
const MOST_ROWS = 200;
/** Time for looking at the reports of a slab for packet-level subscriptions, in milliseconds. What comes later is missed. */
const TAP_MS = 20;

/** What viewers of the controller's state share. */
const CONTROL_KEY = 'control';

/** Sends one view, live or a replay, to its viewers: series as their buckets are complete, rows as they come, tables each second. */
export class LiveStream {
  readonly #view: View;
  readonly #services: Services;
  readonly #viewers = new Set<Viewer>();
  #version = -1;
  /** The last complete bucket of this turn: all that is sent in it is of the same time. */
  #last: number | null = null;
  #secondMs = 0;
  /** See {@link LinkStates.newlyDown}, of the bucket before. */
  #down = '';
  /** Answers that several viewers share, of this second. */
  readonly #shared = new Map<string, string>();
  /** Frames that several viewers share, of this bucket. */
  readonly #columns = new Map<string, readonly Float32Array[]>();
  framesSent = 0;
  framesSkipped = 0;
  /** Age of the newest bucket when it was sent, on the clock of the telemetry. */
  lagMs = 0;

  constructor(view: View, services: Services) {
    this.#view = view;
    this.#services = services;
  }

  get viewers(): number {
    return this.#viewers.size;
  }

  /** Whether somebody wants all reports. */
  get isTapped(): boolean {
    for (const { subscriptions } of this.#viewers) {
      for (const { type } of subscriptions.values()) if (type === 'reports') return true;
    }
    return false;
  }

  add(viewer: Viewer): void {
    this.#viewers.add(viewer);
  }

  remove(viewer: Viewer): void {
    if (!this.#viewers.delete(viewer)) return;
    this.framesSent += viewer.framesSent;
    this.framesSkipped += viewer.framesSkipped;
  }

  /** Frames sent and skipped, those of present viewers included. */
  counts(): { readonly framesSent: number; readonly framesSkipped: number } {
    let { framesSent, framesSkipped } = this;
    for (const viewer of this.#viewers) {
      framesSent += viewer.framesSent;
      framesSkipped += viewer.framesSkipped;
    }
    return { framesSent, framesSkipped };
  }

  /** To be called some twenty times a second. */
  tick(nowMs: number): void {
    if (this.#viewers.size === 0) return;
    if (nowMs - this.#secondMs >= TABLE_MS) {
      this.#secondMs = nowMs;
      this.#shared.clear();
      for (const { subscriptions } of this.#viewers) {
        for (const each of subscriptions.values()) if ('left' in each) each.left = each.perSecond;
      }
    }
    const { version } = this.#view.retention.series;
    const isNew = version !== this.#version;
    this.#version = version;
    this.#last = this.#view.retention.series.lastBucket;
    if (isNew) {
      this.#columns.clear();
      this.#lookAtLinks();
    }
    for (const viewer of this.#viewers) {
      viewer.together(() => {
        for (const subscription of viewer.subscriptions.values()) {
          if (subscription.type === 'series') {
            if (isNew || subscription.generation < 0) this.#sendSeries(viewer, subscription);
          } else if ('dueMs' in subscription) this.#sendTable(viewer, subscription, nowMs);
          else if (subscription.type === 'journal') this.#checkJournal(viewer, subscription.id);
        }
      });
    }
  }

  /** Sends what has come: events, and reports packet by packet. */
  take(part: Segment): void {
    if (this.#viewers.size === 0) return;
    const deadline = performance.now() + TAP_MS;
    const events = new Map<number, Written<EventRow>>();
    const reports = new Map<number, Written<ReportRecord>>();
    for (const viewer of this.#viewers) {
      viewer.together(() => {
        for (const subscription of viewer.subscriptions.values()) {
          if (subscription.type === 'events') this.#sendEvents(viewer, subscription, part, events);
          else if (subscription.type === 'reports') this.#sendReports(viewer, subscription, part, reports, deadline);
        }
      });
    }
  }

  /** Sends what the controller has done: its state with the next tick, rows of its journal now. */
  takeControl(rows: readonly JournalRow[], missed: number): void {
    this.#shared.delete(CONTROL_KEY);
    const text = rows.map((row) => JSON.stringify(row)).join(',');
    for (const viewer of this.#viewers) {
      for (const subscription of viewer.subscriptions.values()) {
        if (subscription.type === 'control') subscription.dueMs = 0;
        if (subscription.type !== 'journal' || rows.length + missed === 0) continue;
        subscription.missed += missed;
        if (viewer.isBehind) {
          subscription.missed += rows.length;
          continue;
        }
        viewer.sendText(`{"type":"journal","id":${subscription.id},"rows":[${text}],"missed":${subscription.missed}}`);
        subscription.missed = 0;
      }
    }
  }

  /** Makes the map due if a link went down or came back: it is not to wait for the second. */
  #lookAtLinks(): void {
    const last = this.#last;
    const maps = [...this.#viewers].flatMap(({ subscriptions }) =>
      [...subscriptions.values()].filter((each): each is TableSubscription => each.type === 'topology'),
    );
    if (last === null || maps.length === 0) return;
    const down = new LinkStates(this.#view.retention, last).newlyDown();
    if (down === this.#down) return;
    this.#down = down;
    for (const each of maps) {
      each.dueMs = 0;
      this.#shared.delete(keyOf(each));
    }
  }

  #sendSeries(viewer: Viewer, subscription: SeriesSubscription): void {
    const { series, nowMs } = this.#view.retention;
    const last = this.#last;
    if (last === null) return;
    if (subscription.generation !== series.generation) {
      // The first frame, or time was set back.
      if (subscription.generation >= 0) subscription.next = null;
      subscription.generation = series.generation;
    }
    const next = subscription.next ?? last;
    if (next > last) return;
    if (viewer.isBehind) {
      subscription.missed++;
      subscription.sequence++;
      viewer.framesSkipped++;
      return;
    }
    let first = Math.max(next, series.firstBucket, last - MOST_BUCKETS + 1);
    if (subscription.missed > 0) {
      viewer.send({ type: 'behind', id: subscription.id, missed: subscription.missed });
      subscription.missed = 0;
      first = last;
    }
    const columns = this.#read(subscription, first, last - first + 1);
    subscription.next = last + 1;
    if (nowMs !== null) this.lagMs = Math.max(0, nowMs - (last + 1) * BUCKET_MS);
    const { id, sequence } = subscription;
    subscription.sequence = (sequence + 1) >>> 0;
    viewer.sendFrame(
      encodeSeriesFrame({ id, sequence, t0: first * BUCKET_MS, dt: BUCKET_MS, n: last - first + 1, columns }),
    );
  }

  #read({ metric, entities }: SeriesSubscription, first: number, count: number): readonly Float32Array[] {
    const { series } = this.#view.retention;
    return entities.map((key) => {
      const shared = `${metric} ${first} ${count} ${key}`;
      const known = this.#columns.get(shared);
      if (known !== undefined) return known[0]!;
      const column = new Float32Array(count).fill(Number.NaN);
      const found = series.find(key);
      if (found !== null) series.read(found.row, metric, first, count, column);
      const factor = factorOf(metric, key, this.#view);
      if (factor !== 1) for (let at = 0; at < count; at++) column[at]! *= factor;
      this.#columns.set(shared, [column]);
      return column;
    });
  }

  #sendTable(viewer: Viewer, subscription: TableSubscription, nowMs: number): void {
    if (nowMs < subscription.dueMs) return;
    if (viewer.isBehind) {
      viewer.framesSkipped++;
      subscription.dueMs = nowMs + TABLE_MS;
      return;
    }
    // What comes a little late does not put off the next one.
    subscription.dueMs = Math.max(subscription.dueMs + TABLE_MS, nowMs + TABLE_MS / 2);
    const { type, id } = subscription;
    const key = keyOf(subscription);
    let data = this.#shared.get(key);
    if (data === undefined) {
      try {
        data = JSON.stringify(this.#data(subscription));
      } catch (error) {
        viewer.subscriptions.delete(id);
        viewer.refuse(id, ApiError.is(error) ? error.code : 'ERR_INTERNAL', (error as Error).message);
        return;
      }
      this.#shared.set(key, data);
    }
    viewer.sendText(`{"type":"${type}","id":${id},"data":${data}}`);
  }

  #data({ type, filter, sort, limit }: TableSubscription): unknown {
    const view = this.#view;
    if (type === 'flows') return flowsAnswer(view, { filter, sort, limit, at: null });
    if (type === 'control') return this.#control;
    if (type === 'topology') return topologyAnswer(view.retention, view.network, this.#last);
    const status = this.#services.status();
    return this.#view === this.#services.live ? status : replayStatus(this.#view, status);
  }

  /** @throws ApiError if there is none */
  get #control(): ControlAnswer {
    return liveControlOf(this.#view, this.#services);
  }

  /** Nothing would ever come where there is no controller: that is told at once. */
  #checkJournal(viewer: Viewer, id: number): void {
    try {
      void this.#control;
    } catch (error) {
      viewer.subscriptions.delete(id);
      viewer.refuse(id, 'ERR_UNAVAILABLE', (error as Error).message);
    }
  }

  #sendEvents(
    viewer: Viewer,
    subscription: RowSubscription,
    part: Segment,
    known: Map<number, Written<EventRow>>,
  ): void {
    const { events } = part;
    if (events === null) return;
    const { filter } = subscription;
    const texts: string[] = [];
    for (let row = 0; row < events.count; row++) {
      if (viewer.isBehind || subscription.left <= 0 || texts.length >= MOST_ROWS) {
        subscription.missed++;
        continue;
      }
      const event = written(known, row, () => eventRow({ segment: part, events, row }, this.#services));
      if (!filter.isEmpty) {
        const report = keptReportRecord({ segment: part, row: events.report[row]! });
        if (!filter.passesEvent(event.value, this.#view.network, report)) continue;
      }
      subscription.left--;
      texts.push(textOf(event));
    }
    sendRows(viewer, subscription, texts);
  }

  #sendReports(
    viewer: Viewer,
    subscription: RowSubscription,
    part: Segment,
    known: Map<number, Written<ReportRecord>>,
    deadline: number,
  ): void {
    const { filter } = subscription;
    const texts: string[] = [];
    for (let row = 0; row < part.reports; row++) {
      const why = part.why(row);
      // Rows that came before the subscription did are of the sample only.
      if ((why & (WHY.TAP | WHY.EVENT)) === 0 || (why & WHY.APART) !== 0) continue;
      if (viewer.isBehind || subscription.left <= 0 || performance.now() > deadline) {
        subscription.missed++;
        continue;
      }
      const report = written(known, row, () => keptReportRecord({ segment: part, row }));
      if (!filter.isEmpty && !filter.passesReport(report.value, this.#view.network)) continue;
      subscription.left--;
      texts.push(textOf(report));
    }
    sendRows(viewer, subscription, texts);
  }
}

/** What makes two tables the same. */
const keyOf = ({ type, filter, sort, limit }: TableSubscription): string =>
  type === 'control' ? CONTROL_KEY : `${type} ${limit} ${sort} ${filter}`;

/** A row that several viewers share, and its JSON once one of them gets it. */
interface Written<T> {
  readonly value: T;
  text: string | null;
}

function written<T>(known: Map<number, Written<T>>, row: number, make: () => T): Written<T> {
  let found = known.get(row);
  if (found === undefined) {
    found = { value: make(), text: null };
    known.set(row, found);
  }
  return found;
}

function textOf(row: Written<unknown>): string {
  row.text ??= JSON.stringify(row.value);
  return row.text;
}

/** Sends rows that are JSON: a message of type `events` or `reports`. */
function sendRows(viewer: Viewer, subscription: RowSubscription, rows: readonly string[]): void {
  const { type, id, missed } = subscription;
  if (viewer.isBehind || (rows.length === 0 && missed === 0)) return;
  subscription.missed = 0;
  viewer.sendText(`{"type":"${type}","id":${id},"rows":[${rows.join(',')}],"missed":${missed}}`);
}
