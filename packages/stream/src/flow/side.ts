import { FLAG, type TelemetryBatch } from '@int/codec';
import { StreamError } from '../errors.js';
import type { ImmediateEvent } from '../model/event.js';
import type { FlowSideOutput } from '../model/output.js';
import { type NetworkPartial, noRefusals, type SliceContents } from '../model/partial.js';
import type { StateChange } from '../model/state.js';
import type { FlowSideOptions } from '../options.js';
import type { ByteFields } from '../partial/fields.js';
import { passOptions, stateReader, stateWriter } from '../partial/state.js';
import { type ResolvedFlowOptions, resolveFlowOptions } from '../resolve.js';
import { LateCounts } from '../slice/late-counts.js';
import { MissingSpans } from '../slice/missing-spans.js';
import { OpenSlices } from '../slice/open-slices.js';
import { NO_ROW } from '../slice/pair-table.js';
import { microseconds, microsecondsOfMs, nanosecondText } from '../time.js';
import { holeEvent, loopEvent } from './events.js';
import { Flows } from './flows.js';
import { Intake } from './intake.js';
import { windowName } from './table.js';
import { Trace } from './trace.js';
import { NONE } from './windows.js';

/** Slices that are closed one by one before and after a jump in time. */
const STEPS = 256;
/** Banks of slices besides those for `graceMs`, if only `advance` moves the time. */
const AHEAD = 3;
/** Numbers of partials reserved for each slice of time. A side starts with those of its first slice. */
const NUMBERS = 1024;
/** The key of the clock in the state. */
const CLOCK = 0x63;
const NOTHING: Omit<SliceContents, 'slice'> = {
  switches: [],
  links: [],
  queues: [],
  reporters: [],
  refused: noRefusals(),
};

/** Counts of a flow side since it was made. */
export interface FlowSideTotals {
  /** Reports taken: rows whose code is 0. */
  readonly reports: number;
  /** Reports without a flow, and probes. No flow window counts them. */
  readonly withoutFlow: number;
  /** Reports of flows or windows for which there was no room. Only switches and links count them. */
  readonly untracked: number;
  /** Reports that came too late. Windows count them only as `late`. */
  readonly late: number;
  /** Reports that came after their window was emitted, and corrected it. */
  readonly corrected: number;
  /** Flows with state now. */
  readonly flows: number;
  readonly events: number;
  /** Windows emitted, counting each revision. */
  readonly flowWindows: number;
  /** Of these, windows that were not `complete`. */
  readonly incompleteWindows: number;
  readonly partials: number;
}

/**
 * Keeps state and statistics per flow: windows, loops, path changes, black holes. For each slice of time it also sends
 * its observations of switches, links and queues to the {@link NetworkSide}, which combines those of all sides.
 *
 * A side must get all reports of its flows. To split the work, give each side flows of its own. The time comes from the
 * reports and {@link advance}, or from {@link advance} alone; no clock is read. The options fix the memory, and no
 * object is made per report. What finds no room is counted.
 *
 * A window or slice is emitted `graceMs` after its end. A later report still counts for immediate events. It corrects
 * its window if that is kept (`latenessMs`). Otherwise it counts as `late`, in the totals and in the flow's next
 * window, and a {@link WindowCorrection} names the window that lacks it.
 */
export class FlowSide {
  readonly #options: ResolvedFlowOptions;
  readonly #output: FlowSideOutput;
  readonly #flows: Flows;
  readonly #slices: OpenSlices;
  readonly #trace = new Trace();
  readonly #intake: Intake;
  /** Spans of time in which reports may be missing, in microseconds. */
  readonly #missing = new MissingSpans();
  /** Counts of reports whose windows can no longer be corrected. */
  readonly #lateCounts: LateCounts;
  /** Events not emitted yet. */
  #found: ImmediateEvent[] = [];
  /** The latest time, of a report or of `advance`; -1 before the first. */
  #clock = -1;
  /** The first open slice; 0 before any slice was closed. */
  #openSlice = 0;
  /** The time at which the open slice is closed. */
  #nextTick = 0;
  /** The first window that can be corrected. */
  #keptFrom = 0;
  /** Whether the closed slices that no partial has reported yet are whole. `#isUntold` says whether there are any. */
  #isWhole = true;
  #isUntold = false;
  /** Number of the last partial. */
  #number = -1;
  #isClockDirty = false;
  #hasSeen = false;
  readonly #counts = {
    reports: 0,
    withoutFlow: 0,
    untracked: 0,
    late: 0,
    corrected: 0,
    events: 0,
    flowWindows: 0,
    incompleteWindows: 0,
    partials: 0,
  };

  /** @throws RangeError for an option out of range */
  constructor(options: FlowSideOptions = {}, output: FlowSideOutput = {}) {
    const resolved = resolveFlowOptions(options);
    const { graceUs, sliceUs, windowUs, isTold } = resolved;
    this.#options = resolved;
    this.#output = output;
    this.#flows = new Flows(resolved, options);
    const banks = Math.ceil(graceUs / sliceUs) + 1 + (isTold ? AHEAD : 0);
    this.#slices = new OpenSlices(banks, sliceUs, resolved, (contents) => this.#tellSlice(contents, this.#openSlice));
    this.#lateCounts = new LateCounts(windowUs, (correction) => output.correction?.(correction));
    this.#intake = new Intake(sliceUs, this.#flows, this.#trace, (event) => this.#found.push(event));
  }

  /**
   * Takes the reports of rows `from` to `to - 1`. Rows with a code other than 0 are skipped. The time of a report is
   * that of its frame, which is 0 in a batch without times.
   * @throws RangeError for rows that the batch does not hold
   */
  observe(batch: TelemetryBatch, from = 0, to: number = batch.reports): void {
    if (!(from >= 0 && from <= to && to <= batch.reports)) {
      throw new RangeError(`rows ${from} to ${to}: the batch holds ${batch.reports}`);
    }
    const { code, frame } = batch;
    const { frameTimeHigh, frameTimeLow } = batch;
    const { isTold } = this.#options;
    this.#hasSeen = true;
    for (let report = from; report < to; report++) {
      if (code[report] !== 0) continue;
      const row = frame[report]!;
      const timeUs = microseconds(frameTimeHigh[row]!, frameTimeLow[row]!);
      if (!isTold && timeUs > this.#clock) {
        this.#isClockDirty = true;
        if (timeUs < this.#nextTick) this.#clock = timeUs;
        else this.#moveTo(timeUs);
      }
      this.#intake.now[0] = timeUs;
      this.#take(batch, report);
    }
    this.#tell();
  }

  /**
   * Advances the time, so that silence is noticed. The time never goes back: an earlier one is ignored.
   * @param timeMs milliseconds since the epoch
   * @throws RangeError for an invalid time
   */
  advance(timeMs: number): void {
    const timeUs = microsecondsOfMs(timeMs);
    this.#hasSeen = true;
    if (timeUs > this.#clock) this.#moveTo(timeUs);
  }

  /**
   * Declares a span of time whose reports may never come. Windows and slices in it are not complete. Kept windows that
   * were emitted as complete are emitted again.
   * @param fromMs milliseconds since the epoch
   * @param toMs not included
   * @throws RangeError for an invalid time
   */
  missing(fromMs: number, toMs: number): void {
    const { sliceUs, windowUs, slicesPerWindow } = this.#options;
    this.#hasSeen = true;
    this.#isClockDirty = true;
    const fromUs = Math.max(microsecondsOfMs(fromMs), this.#keptFrom * windowUs);
    const toUs = microsecondsOfMs(toMs);
    const { windows } = this.#flows;
    const openWindow = Math.floor(this.#openSlice / slicesPerWindow);
    for (let window = Math.floor(fromUs / windowUs); window < openWindow && window * windowUs < toUs; window++) {
      if (!this.#missing.has(window * windowUs, (window + 1) * windowUs)) windows.changeKept(window);
    }
    const from = Math.floor(fromUs / sliceUs);
    const to = Math.min(Math.ceil(toUs / sliceUs), this.#openSlice);
    const isNews = from < to && !this.#missing.covers(from * sliceUs, to * sliceUs);
    this.#missing.add(isNews ? from * sliceUs : fromUs, Math.max(toUs, isNews ? to * sliceUs : 0));
    if (isNews) this.#tellSlice({ slice: to - 1, ...NOTHING }, this.#openSlice, [from, to]);
  }

  /**
   * Emits changed windows again, and corrections of windows that are no longer kept. Sends partials for slices that
   * changed after they were closed. Call it before {@link changes}, because the state contains none of this.
   */
  revise(): void {
    const { windows } = this.#flows;
    if (windows.hasChanged) windows.changed((row, window, record) => this.#give(row, window, record));
    this.#lateCounts.tell();
    this.#slices.spillBefore(this.#openSlice);
  }

  /** Emits everything that is still open, as if the time had reached the end of the last window and `graceMs`. */
  flush(): void {
    const { sliceUs, windowUs, graceUs, slicesPerWindow } = this.#options;
    const latest = Math.max(this.#flows.windows.latest(), Math.floor(this.#slices.latest() / slicesPerWindow));
    if (this.#clock < 0 && latest < 0) return;
    const end = (Math.max(Math.floor(this.#clock / windowUs), latest) + 1) * windowUs;
    this.#moveTo(end + graceUs);
    this.revise();
    if (this.#openSlice * sliceUs < end) throw new Error('a slice was left open');
  }

  /**
   * Emits everything that is still open, and tells the network side not to wait for this side until its next partial.
   */
  end(): void {
    this.#hasSeen = true;
    this.flush();
    // The network side does not know a side that never had a time.
    if (this.#openSlice > 0) this.#tellSlice({ slice: this.#openSlice - 1, ...NOTHING }, this.#openSlice, null, true);
  }

  #moveTo(timeUs: number): void {
    const { sliceUs, graceUs, isTold } = this.#options;
    const target = Math.max(0, Math.floor((timeUs - graceUs) / sliceUs));
    if (this.#clock < 0 && this.#openSlice === 0) {
      this.#openSlice = isTold ? Math.min(target, this.#earliest()) : target;
    }
    this.#clock = timeUs;
    this.#isClockDirty = true;
    this.#closeUntil(target);
  }

  /** The first open slice with data, or in a window with data; infinity if there is none. */
  #earliest(): number {
    const { slicesPerWindow } = this.#options;
    const window = this.#flows.windows.earliest(Math.floor(this.#openSlice / slicesPerWindow));
    return Math.min(this.#slices.earliest(this.#openSlice), window * slicesPerWindow);
  }

  #closeUntil(target: number): void {
    const { slicesPerWindow, sliceUs, graceUs } = this.#options;
    const first = 2 * slicesPerWindow + this.#slices.count;
    while (this.#openSlice < target) {
      // Up to the next data only silence can be noticed, so skip most of the slices before it.
      const quietUntil = Math.min(target - STEPS, this.#earliest());
      if (quietUntil - this.#openSlice > first + STEPS) {
        this.#closeSome(this.#openSlice + first, target);
        this.#closed(quietUntil);
        this.#openSlice = quietUntil;
      }
      this.#closeSome(Math.min(target, this.#openSlice + STEPS + first), target);
    }
    this.#nextTick = (this.#openSlice + 1) * sliceUs + graceUs;
  }

  #closeSome(end: number, target: number): void {
    while (this.#openSlice < end) this.#closeSlice(this.#openSlice + 1 === target);
  }

  /** Closes the slices up to `end`. The next partial reports this. */
  #closed(end: number): void {
    const { sliceUs } = this.#options;
    const from = this.#openSlice;
    const isWhole = !this.#missing.has(from * sliceUs, end * sliceUs);
    // A partial has one flag for all slices that it closes, so send one before the flag changes.
    if (this.#isUntold && isWhole !== this.#isWhole) this.#tellSlice({ slice: from - 1, ...NOTHING }, from);
    this.#isWhole = isWhole;
    this.#isUntold = true;
  }

  /** @param isLast whether it is the last slice to close now: its partial is sent even if it is empty */
  #closeSlice(isLast: boolean): void {
    const { sliceUs, graceUs, slicesPerWindow, idleUs } = this.#options;
    const slice = this.#openSlice;
    this.#closed(slice + 1);
    this.#openSlice = slice + 1;
    const contents = this.#slices.take(slice);
    if (contents !== null || isLast) this.#tellSlice(contents ?? { slice, ...NOTHING }, slice + 1);
    const nowUs = (slice + 1) * sliceUs + graceUs;
    this.#tell();
    this.#look(nowUs);
    // Sort, so that the order of events does not depend on rows.
    if (this.#found.length > 1) this.#found.sort((a, b) => (a.id < b.id ? -1 : 1));
    this.#tell();
    if ((slice + 1) % slicesPerWindow !== 0) return;
    this.#closeWindow(Math.floor(slice / slicesPerWindow));
    this.#flows.forget(nowUs - idleUs);
  }

  #tellSlice(contents: SliceContents, closed: number, broken: NetworkPartial['broken'] = null, ended = false): void {
    const { side, sliceUs } = this.#options;
    this.#counts.partials++;
    this.#isClockDirty = true;
    this.#isUntold = false;
    // A side that has lost its state must start above its old numbers.
    this.#number = Math.max(this.#number + 1, contents.slice * NUMBERS);
    const place = { side, number: this.#number, sliceUs, closed, whole: this.#isWhole, ended, broken };
    this.#output.partial?.({ ...place, ...contents });
  }

  /** Detects what silence shows: black holes, and the ends of loops. */
  #look(nowUs: number): void {
    const { table, sightings, paths } = this.#flows;
    if (table.size === 0) return;
    for (let row = 0; row < table.capacity; row++) {
      if (table.used[row] === 0) continue;
      if (sightings.isVanished(row, nowUs)) {
        this.#flows.touch(row);
        this.#found.push(holeEvent(table, row, sightings, sightings.hole(row), nowUs, false));
      }
      if (paths.loopSince(row) >= 0 && nowUs - paths.loopLast(row) >= this.#options.loopQuietUs) {
        this.#flows.touch(row);
        this.#found.push(loopEvent(table, row, paths, true));
        paths.endLoop(row);
      }
    }
  }

  #closeWindow(window: number): void {
    const { table, windows } = this.#flows;
    for (let row = 0; row < table.capacity; row++) {
      if (table.used[row] === 0) continue;
      const record = windows.find(row, window);
      if (record !== NONE) this.#give(row, window, record);
    }
    this.revise();
    const { latenessUs, windowUs } = this.#options;
    this.#keepFrom(Math.floor(((window + 1) * windowUs - latenessUs) / windowUs));
  }

  #keepFrom(window: number): void {
    if (window <= this.#keptFrom) return;
    this.#keptFrom = window;
    this.#flows.windows.letGo(window);
    this.#missing.forget(window * this.#options.windowUs);
  }

  #give(row: number, window: number, record: number): void {
    const { side, windowUs, latenessUs } = this.#options;
    const { table, windows } = this.#flows;
    const [startUs, endUs] = [window * windowUs, (window + 1) * windowUs];
    const contents = windows.contents(record);
    const revision = windows.give(record, latenessUs > 0);
    const complete = !this.#missing.has(startUs, endUs);
    const flow = table.flow(row);
    // The row of a report without a flow has no windows.
    if (flow === null) return;
    this.#flows.touch(row);
    this.#counts.flowWindows++;
    if (!complete) this.#counts.incompleteWindows++;
    this.#output.flowWindow?.({
      type: 'flowWindow',
      id: `${windowName(table, row)}-${startUs}`,
      revision,
      startNs: nanosecondText(startUs),
      endNs: nanosecondText(endUs),
      complete,
      flow,
      side,
      ...contents,
    });
  }

  #tell(): void {
    if (this.#found.length === 0) return;
    const found = this.#found;
    this.#found = [];
    this.#counts.events += found.length;
    for (const event of found) this.#output.event?.(event);
  }

  #take(batch: TelemetryBatch, report: number): void {
    const { sliceUs, isTold } = this.#options;
    const timeUs = this.#intake.now[0]!;
    const flags = batch.flags[report]!;
    const trace = this.#trace;
    this.#counts.reports++;
    trace.read(batch, report);
    const hasFlow = (flags & FLAG.FLOW) !== 0 && !trace.isProbe;
    const slice = Math.floor(timeUs / sliceUs);
    let row = NO_ROW;
    let record = NONE;
    if (hasFlow) {
      row = this.#flows.rowOf(batch, report);
      if (row === NO_ROW) {
        this.#counts.untracked++;
        this.#noteRefused(slice);
      } else {
        this.#flows.seen(row, timeUs);
        record = this.#recordOf(row, slice);
        if (record !== NONE) this.#flows.windows.report(record, (flags & FLAG.DROPPED) !== 0);
      }
    } else {
      this.#counts.withoutFlow++;
    }
    const isLate = slice < this.#openSlice;
    const bank = this.#slices.bank(isLate && !isTold ? this.#openSlice : slice);
    if (isLate && !isTold) bank.late();
    // A late sequence number still fills its gap.
    this.#intake.sequence(isLate && isTold ? this.#slices.bank(this.#openSlice) : bank, batch, report);
    if (!isLate || isTold || record !== NONE) {
      this.#intake.hops(batch, report, isLate && !isTold ? null : this.#slices.bank(slice), record, hasFlow);
    }
    if (trace.isProbe) return;
    this.#intake.path(batch, report, row, record);
    if (row !== NO_ROW) this.#intake.sighting(batch, report, row);
  }

  /** The record of the window that counts a report; {@link NONE} if no window has it in `reports`. */
  #recordOf(row: number, slice: number): number {
    const { isTold, latenessUs, slicesPerWindow } = this.#options;
    const { windows } = this.#flows;
    const window = Math.floor(slice / slicesPerWindow);
    const openWindow = Math.floor(this.#openSlice / slicesPerWindow);
    const isOpen = isTold ? window >= openWindow : slice >= this.#openSlice;
    const isKept = !isOpen && latenessUs > 0 && window >= this.#keptFrom && window < openWindow;
    const target = isOpen || isKept ? window : openWindow;
    let record = windows.find(row, target);
    if (record === NONE) {
      if (!windows.hasRoom) {
        this.#makeRoom();
        // Making room may have closed the window.
        if (windows.hasRoom) return this.#recordOf(row, slice);
        this.#counts.untracked++;
        if (!isOpen) this.#noteLate(row, slice, openWindow);
        return NONE;
      }
      record = windows.begin(row, target, this.#flows.paths);
    }
    if (isOpen) return record;
    if (isKept) {
      this.#counts.corrected++;
      windows.change(record);
      return record;
    }
    this.#counts.late++;
    windows.late(record);
    this.#noteLate(row, slice, target);
    return NONE;
  }

  /** Notes a late report of a flow without a row. The flow may have had one when its window was emitted. */
  #noteRefused(slice: number): void {
    const { slicesPerWindow } = this.#options;
    const openWindow = Math.floor(this.#openSlice / slicesPerWindow);
    if (Math.floor(slice / slicesPerWindow) < openWindow) this.#noteLate(this.#flows.table.refused, slice, openWindow);
  }

  /** Notes a late report that its window lacks. The window was emitted before, or is still `openWindow`. */
  #noteLate(row: number, slice: number, openWindow: number): void {
    const { side, sliceUs, slicesPerWindow } = this.#options;
    const window = Math.floor(slice / slicesPerWindow);
    this.#isClockDirty = true;
    if (window === openWindow) {
      this.#missing.add(slice * sliceUs, (slice + 1) * sliceUs);
      return;
    }
    const { table } = this.#flows;
    this.#lateCounts.add(windowName(table, row), window, 1, () => {
      const flow = table.flow(row);
      return flow === null ? null : { of: 'flowWindow', flow, side };
    });
  }

  /** Makes room for a window: drops kept windows, or closes the earliest open one, unless it is the only one. */
  #makeRoom(): void {
    const { windows } = this.#flows;
    while (!windows.hasRoom) {
      const { slicesPerWindow, sliceUs } = this.#options;
      const openWindow = Math.floor(this.#openSlice / slicesPerWindow);
      const earliest = windows.earliest(0);
      if (earliest < openWindow) {
        this.revise();
      } else {
        if (earliest >= windows.latest()) return;
        if (this.#openSlice === 0) this.#openSlice = this.#earliest();
        const end = (earliest + 1) * slicesPerWindow;
        this.#missing.add(this.#openSlice * sliceUs, end * sliceUs);
        this.#closeUntil(end);
      }
      this.#keepFrom(earliest + 1);
    }
  }

  /** Changes of the state since the last call, or since the side was made. */
  changes(): StateChange[] {
    const changes: StateChange[] = [];
    this.#flows.changes(changes);
    this.#slices.changes(changes);
    if (this.#isClockDirty) {
      this.#isClockDirty = false;
      const writer = stateWriter();
      this.#passClock(writer);
      changes.push({ key: Uint8Array.of(CLOCK), value: writer.take() });
    }
    return changes;
  }

  #passClock(fields: ByteFields): void {
    const { sliceUs, windowUs, graceUs, hops } = this.#options;
    passOptions(fields, { sliceUs, windowUs, graceUs, hops });
    this.#openSlice = fields.number(this.#openSlice);
    this.#number = fields.signed(this.#number);
    this.#clock = fields.signed(this.#clock);
    this.#lateCounts.total = fields.number(this.#lateCounts.total);
    this.#missing.pass(fields);
  }

  /**
   * Restores a piece of state, in a side with the same options that has seen nothing yet. Pieces may come in any order.
   * @throws StreamError for bytes that no side with these options has written; TypeError if the side has seen reports
   *   or a time
   */
  restore(key: Uint8Array, value: Uint8Array): void {
    if (this.#hasSeen) throw new TypeError('state is put back before the first report and the first time');
    const kind = key[0];
    if (kind === Flows.PREFIX) this.#flows.restore(key, value);
    else if (kind === OpenSlices.PREFIX && key.length === 2) this.#slices.restore(key, value);
    else if (kind === CLOCK && key.length === 1) this.#restoreClock(value);
    else throw new StreamError('ERR_STREAM_MALFORMED', 0, `a key that begins with ${kind} is none of a flow side`);
  }

  #restoreClock(value: Uint8Array): void {
    const reader = stateReader(value);
    const { sliceUs, graceUs, slicesPerWindow } = this.#options;
    this.#passClock(reader);
    // The state does not contain windows that were emitted.
    this.#keptFrom = Math.floor(this.#openSlice / slicesPerWindow);
    this.#nextTick = (this.#openSlice + 1) * sliceUs + graceUs;
    reader.end();
  }

  totals(): FlowSideTotals {
    return { ...this.#counts, flows: this.#flows.table.size };
  }
}
