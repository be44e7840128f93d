import { type BatchInput, FLAG, NOT_AVAILABLE, type TelemetryBatch } from '@int/codec';
import { StreamError } from '../errors.js';
import type { ImmediateEvent } from '../model/event.js';
import type { FlowSideOutput } from '../model/output.js';
import type { StateChange } from '../model/state.js';
import type { FlowSideOptions } from '../options.js';
import { stateReader, stateWriter } from '../partial/state.js';
import { type ResolvedFlowOptions, resolveFlowOptions } from '../resolve.js';
import type { SliceBank } from '../slice/bank.js';
import { OpenSlices } from '../slice/open-slices.js';
import { NO_ROW } from '../slice/pair-table.js';
import { microseconds, microsecondsOfMs, nanosecondText } from '../time.js';
import { holeEnded, holeEvent, loopEnded, loopEvent, pathChangeEvent } from './events.js';
import { Flows } from './flows.js';
import { hexOf } from './table.js';
import { Trace } from './trace.js';

/** Bits of a sequence number by report version, as in `FLAG.REPORT_SHIFT`; 0: no report. */
const SEQUENCE_BITS = [0, 32, 32, 22] as const;
/** Slices whose ends are told one by one, before and after a leap of time. */
const STEPS = 256;
/** The key of the clock in the state. */
const CLOCK = 0x63;

/** What a flow side has seen and what it had no room for, since it was made. */
export interface FlowSideTotals {
  /** Reports looked at: rows whose code is 0. */
  readonly reports: number;
  /** Reports without a flow, and probes: they count for their switches only. */
  readonly withoutFlow: number;
  /** Reports of flows for which there was no room: they count for their switches and links only. */
  readonly untracked: number;
  /** Reports that came later than `graceMs`: no window has them. */
  readonly late: number;
  /** Flows held now. */
  readonly flows: number;
  readonly events: number;
  readonly flowWindows: number;
  readonly partials: number;
}

/**
 * State and statistics per flow: windows, loops, changes of path, black holes; and, for each slice of time, what it has seen
 * of switches, links and queues, for the {@link NetworkSide} that sees it all.
 *
 * It has to be given all reports of its flows, and the work is split by giving each side flows of its own. Time is that of
 * the reports and of {@link advance}; it never reads a clock. Memory is fixed by the options and no object is made per
 * report; what has no room is counted.
 *
 * A window or slice is given out when `graceMs` have passed since its end. Reports that come later, or out of order by more,
 * still count for what is immediate.
 */
export class FlowSide {
  readonly #options: ResolvedFlowOptions;
  readonly #output: FlowSideOutput;
  readonly #flows: Flows;
  readonly #slices: OpenSlices;
  readonly #trace = new Trace();
  /** The time of the report at hand: an argument that is no small integer would be an object for each call. */
  readonly #now = new Float64Array(1);
  /** Events not given out yet. */
  #found: ImmediateEvent[] = [];
  /** The latest time seen; -1: none yet. */
  #clock = -1;
  #keptClock = -1;
  /** The first slice that is not closed. */
  #openSlice = 0;
  /** When it is closed. */
  #nextTick = 0;
  #hasSeen = false;
  #reports = 0;
  #withoutFlow = 0;
  #untracked = 0;
  #late = 0;
  #events = 0;
  #flowWindows = 0;
  #partials = 0;

  /** @throws RangeError for an option out of range */
  constructor(options: FlowSideOptions = {}, output: FlowSideOutput = {}) {
    const resolved = resolveFlowOptions(options);
    const { side, graceUs, sliceUs } = resolved;
    this.#options = resolved;
    this.#output = output;
    this.#flows = new Flows(resolved, options);
    this.#slices = new OpenSlices(Math.ceil(graceUs / sliceUs) + 1, side, sliceUs, resolved);
  }

  /**
   * Takes the reports of rows `from` to `to - 1`. Rows whose code is not 0 are left alone.
   * @param input times of the frames
   * @throws RangeError for rows the batch does not hold
   */
  observe(batch: TelemetryBatch, input: BatchInput, from = 0, to: number = batch.reports): void {
    if (!(from >= 0 && from <= to && to <= batch.reports)) {
      throw new RangeError(`rows ${from} to ${to}: the batch holds ${batch.reports}`);
    }
    const { code, frame } = batch;
    const { timestampsHigh, timestampsLow, first } = input;
    this.#hasSeen = true;
    for (let report = from; report < to; report++) {
      if (code[report] !== 0) continue;
      const row = first + frame[report]!;
      const timeUs = microseconds(timestampsHigh[row]!, timestampsLow[row]!);
      if (timeUs > this.#clock) {
        if (timeUs < this.#nextTick) this.#clock = timeUs;
        else this.#moveTo(timeUs);
      }
      this.#now[0] = timeUs;
      this.#take(batch, report);
    }
    this.#tell();
  }

  /**
   * Tells the time, so that silence is noticed. Time does not go back: an earlier one than was known is passed over.
   * @param timeMs milliseconds since the epoch
   * @throws RangeError for a time that is none
   */
  advance(timeMs: number): void {
    const timeUs = microsecondsOfMs(timeMs);
    this.#hasSeen = true;
    if (timeUs > this.#clock) this.#moveTo(timeUs);
  }

  /** Gives out everything that is still open, as though time had gone on to the end of the window and `graceMs`. */
  flush(): void {
    if (this.#clock < 0) return;
    const { sliceUs, windowUs, graceUs } = this.#options;
    const end = (Math.floor(this.#clock / windowUs) + 1) * windowUs;
    this.#moveTo(end + graceUs);
    if (this.#openSlice * sliceUs < end) throw new Error('a slice was left open');
  }

  #moveTo(timeUs: number): void {
    const { sliceUs, graceUs } = this.#options;
    const target = Math.max(0, Math.floor((timeUs - graceUs) / sliceUs));
    if (this.#clock < 0) {
      this.#openSlice = target;
    } else if (timeUs >= this.#nextTick) {
      this.#closeUntil(target);
    }
    this.#clock = timeUs;
    this.#nextTick = (this.#openSlice + 1) * sliceUs + graceUs;
  }

  #closeUntil(target: number): void {
    const { slicesPerWindow } = this.#options;
    // Whatever is open lies in these; then nothing happens but silence, until the last ones.
    const first = 2 * slicesPerWindow + this.#slices.count;
    if (target - this.#openSlice > first + STEPS) {
      const end = this.#openSlice + first;
      while (this.#openSlice < end) this.#closeSlice(false);
      this.#openSlice = target - STEPS;
    }
    while (this.#openSlice < target) this.#closeSlice(this.#openSlice + 1 === target);
  }

  /** @param isLast the latest that can be closed: it is told of even if there was nothing */
  #closeSlice(isLast: boolean): void {
    const { sliceUs, graceUs, slicesPerWindow, idleUs } = this.#options;
    const slice = this.#openSlice;
    this.#openSlice = slice + 1;
    const partial = this.#slices.close(slice, isLast);
    if (partial !== null) {
      this.#partials++;
      this.#output.partial?.(partial);
    }
    const nowUs = (slice + 1) * sliceUs + graceUs;
    this.#tell();
    this.#look(nowUs);
    // In an order that does not depend on rows.
    if (this.#found.length > 1) this.#found.sort((a, b) => (a.id < b.id ? -1 : 1));
    this.#tell();
    if ((slice + 1) % slicesPerWindow === 0) {
      this.#closeWindow(Math.floor(slice / slicesPerWindow));
      this.#flows.forget(nowUs - idleUs);
    }
  }

  /** What silence tells. */
  #look(nowUs: number): void {
    const { table, sightings, paths } = this.#flows;
    if (table.size === 0) return;
    for (let row = 0; row < table.capacity; row++) {
      if (table.used[row] === 0) continue;
      if (sightings.isVanished(row, nowUs)) {
        this.#flows.touch(row);
        this.#found.push(holeEvent(table, row, sightings, nowUs));
      }
      if (paths.loopSince(row) >= 0 && nowUs - paths.loopLast(row) >= this.#options.loopQuietUs) {
        this.#flows.touch(row);
        this.#found.push(loopEnded(table, row, paths));
        paths.endLoop(row);
      }
    }
  }

  #closeWindow(window: number): void {
    const { table, windows, paths } = this.#flows;
    const { windowUs } = this.#options;
    const startNs = nanosecondText(window * windowUs);
    const endNs = nanosecondText((window + 1) * windowUs);
    for (let row = 0; row < table.capacity; row++) {
      if (table.used[row] === 0) continue;
      const bank = windows.find(row, window);
      const flow = bank < 0 ? null : table.flow(row);
      if (flow === null) continue;
      const { reports, drops, pathChanges, hops, hopsBeyond, endToEnd } = windows.take(bank);
      this.#flows.touch(row);
      this.#flowWindows++;
      this.#output.flowWindow?.({
        type: 'flowWindow',
        id: `flow-${hexOf(table.key(row))}-${window * windowUs}`,
        startNs,
        endNs,
        flow,
        reports,
        drops,
        path: paths.isKnown(row) ? paths.path(row) : null,
        pathChanges,
        hops,
        hopsBeyond,
        endToEnd,
      });
    }
  }

  #tell(): void {
    if (this.#found.length === 0) return;
    const found = this.#found;
    this.#found = [];
    this.#events += found.length;
    for (const event of found) this.#output.event?.(event);
  }

  #take(batch: TelemetryBatch, report: number): void {
    const timeUs = this.#now[0]!;
    const flags = batch.flags[report]!;
    const trace = this.#trace;
    this.#reports++;
    trace.read(batch, report);
    const slice = Math.floor(timeUs / this.#options.sliceUs);
    const isLate = slice < this.#openSlice;
    const bank = this.#slices.bank((isLate ? this.#openSlice : slice) % this.#slices.count);
    if (isLate) {
      this.#late++;
      bank.late();
    }
    this.#noteSequence(bank, batch, report, flags);

    const hasFlow = (flags & FLAG.FLOW) !== 0 && !trace.isProbe;
    let row = NO_ROW;
    if (hasFlow) {
      row = this.#flows.rowOf(batch, report);
      if (row === NO_ROW) this.#untracked++;
      else this.#flows.seen(row, timeUs);
    } else {
      this.#withoutFlow++;
    }
    let windowBank = -1;
    if (row !== NO_ROW && !isLate) {
      windowBank = this.#flows.windows.bankOf(row, Math.floor(slice / this.#options.slicesPerWindow));
      this.#flows.windows.report(windowBank, (flags & FLAG.DROPPED) !== 0);
    }
    if (!isLate) this.#takeHops(batch, report, bank, windowBank, hasFlow);
    if (trace.isProbe) return;
    this.#takePath(batch, report, row, windowBank);
    if (row !== NO_ROW) this.#takeSighting(batch, report, row);
  }

  #noteSequence(bank: SliceBank, batch: TelemetryBatch, report: number, flags: number): void {
    const bits = SEQUENCE_BITS[(flags >>> FLAG.REPORT_SHIFT) & FLAG.REPORT_MASK]!;
    const nodeId = batch.nodeId[report]!;
    // Numbers of nodes that do not name themselves cannot be told apart.
    if (bits === 0 || nodeId === NOT_AVAILABLE) return;
    const hwId = (flags >>> FLAG.HW_ID_SHIFT) & FLAG.HW_ID_MASK;
    const sequence = batch.sequence[report]!;
    bank.sequence(nodeId, hwId, bits, bits === 22 ? sequence & 0x3fffff : sequence);
  }

  #takeHops(batch: TelemetryBatch, report: number, bank: SliceBank, windowBank: number, hasFlow: boolean): void {
    const trace = this.#trace;
    const offsetUs = (this.#now[0]! % this.#options.sliceUs) | 0;
    const { nodes, rows, length, isStack, isWide } = trace;
    const { hopLatency, queue, congestion } = batch.hop;
    const start = batch.hopStart[report]!;
    const flowHash = this.#flows.table.lastHash;
    const { windows } = this.#flows;
    const saysCongested = (batch.flags[report]! & FLAG.QUEUE_CONGESTED) !== 0;
    let sum = 0;
    let values = 0;
    for (let index = 0; index < rows; index++) {
      const at = start + index;
      const nodeId = nodes[index]!;
      let latency = hopLatency[at]!;
      let queued = queue[at]!;
      let status = congestion[at]!;
      if (index === rows - 1 && trace.foldedRow >= 0) {
        if (latency === NOT_AVAILABLE) latency = hopLatency[trace.foldedRow]!;
        if (queued === NOT_AVAILABLE) queued = queue[trace.foldedRow]!;
        if (status === NOT_AVAILABLE) status = congestion[trace.foldedRow]!;
      }
      const hasQueue = queued !== NOT_AVAILABLE;
      const occupancy = hasQueue && !isWide ? queued & 0xffffff : queued;
      const isCongested =
        (status !== NOT_AVAILABLE && (isWide ? status : status & 0xffffff) !== 0) ||
        (saysCongested && index === length - 1);
      if (latency !== NOT_AVAILABLE) {
        sum += latency;
        values++;
      }
      if (nodeId !== NOT_AVAILABLE) {
        const switchRow = bank.seen(nodeId, offsetUs);
        if (latency !== NOT_AVAILABLE) bank.latency(switchRow, latency);
        if (hasQueue) bank.occupancy(nodeId, isWide ? 0 : queued >>> 24, occupancy);
        if (isCongested && (hasQueue || status !== NOT_AVAILABLE)) {
          bank.congestion(nodeId, isWide ? 0 : (hasQueue ? queued : status) >>> 24);
        }
      }
      if (index > 0 && isStack) this.#takeLink(bank, index, offsetUs, flowHash, hasFlow);
      if (windowBank >= 0) windows.hop(windowBank, index, nodeId, latency, occupancy, isCongested);
    }
    // A node that is known from the report's header alone.
    if (length > rows) {
      bank.seen(nodes[rows]!, offsetUs);
      if (rows > 0 && isStack) this.#takeLink(bank, rows, offsetUs, flowHash, hasFlow);
    }
    if (windowBank >= 0 && values > 0 && trace.isPath) windows.endToEnd(windowBank, sum);
  }

  /** The link to the node at `index` from the one before. */
  #takeLink(bank: SliceBank, index: number, offsetUs: number, flowHash: number, hasFlow: boolean): void {
    const { nodes, length, isCut } = this.#trace;
    const from = nodes[index - 1]!;
    const to = nodes[index]!;
    if (from === NOT_AVAILABLE || to === NOT_AVAILABLE || from === to || (isCut && index === length - 1)) return;
    bank.link(from, to, offsetUs, flowHash, hasFlow);
  }

  #takePath(batch: TelemetryBatch, report: number, row: number, windowBank: number): void {
    const timeUs = this.#now[0]!;
    const trace = this.#trace;
    const { table, paths, windows } = this.#flows;
    const isSame = row !== NO_ROW && trace.isPath && paths.isSame(row, trace);
    if (!isSame) {
      // A path that is kept does not loop: such a one is told of as a loop, and is nobody's path.
      const repeated = trace.repeated();
      if (repeated >= 0) {
        this.#takeLoop(batch, report, row, repeated);
        return;
      }
    }
    if (row === NO_ROW || !trace.isPath || !paths.isLatest(row, timeUs)) return;
    if (isSame) {
      paths.touch(row, timeUs);
      return;
    }
    if (paths.isKnown(row)) {
      this.#found.push(pathChangeEvent(table, row, paths.path(row), trace, timeUs));
      if (windowBank >= 0) windows.pathChange(windowBank);
    }
    paths.set(row, trace, timeUs);
  }

  #takeLoop(batch: TelemetryBatch, report: number, flowRow: number, repeated: number): void {
    const timeUs = this.#now[0]!;
    const trace = this.#trace;
    let row = flowRow;
    if (row === NO_ROW) {
      // Reports without a flow loop by the node that sent them.
      if ((batch.flags[report]! & FLAG.FLOW) === 0) row = this.#flows.rowOf(batch, report);
      if (row === NO_ROW) return;
      this.#flows.seen(row, timeUs);
    }
    const { table, paths } = this.#flows;
    if (paths.noteLoop(row, trace.nodes[repeated]!, trace, timeUs)) {
      this.#found.push(loopEvent(table, row, paths, trace));
    }
  }

  #takeSighting(batch: TelemetryBatch, report: number, row: number): void {
    const timeUs = this.#now[0]!;
    const { nodes, length, isAtSink, isPath } = this.#trace;
    const { table, sightings } = this.#flows;
    const reporter = batch.nodeId[report]!;
    const last = length > 0 ? nodes[length - 1]! : NOT_AVAILABLE;
    const node = reporter === NOT_AVAILABLE ? last : reporter;
    let hole = -1;
    if (isAtSink) {
      // Of a path that was cut short, the last node is the sink only if that says so itself.
      hole = sightings.noteSink(row, isPath ? last : reporter, timeUs);
    } else if (node !== NOT_AVAILABLE) {
      const isDrop = (batch.flags[report]! & FLAG.DROPPED) !== 0;
      if (node !== sightings.sink(row)) sightings.noteUpstream(row, node, timeUs);
      else if (!isDrop) hole = sightings.noteSink(row, node, timeUs);
    }
    if (hole >= 0) this.#found.push(holeEnded(table, row, sightings, hole, timeUs));
  }

  /** What of the state has changed since the last call, or since the side was made. */
  changes(): StateChange[] {
    const changes: StateChange[] = [];
    this.#flows.changes(changes);
    this.#slices.changes(changes, this.#openSlice);
    if (this.#clock !== this.#keptClock) {
      this.#keptClock = this.#clock;
      changes.push({ key: Uint8Array.of(CLOCK), value: this.#writeClock() });
    }
    return changes;
  }

  #writeClock(): Uint8Array {
    const { sliceUs, windowUs, graceUs, hops } = this.#options;
    const writer = stateWriter();
    for (const number of [sliceUs, windowUs, graceUs, hops, this.#openSlice]) writer.number(number);
    writer.signed(this.#clock);
    return writer.take();
  }

  /**
   * Puts a piece of state back, into a side with the same options that has seen nothing yet. The order does not matter.
   * @throws StreamError for bytes that no side with these options has written; TypeError if the side has seen reports
   */
  restore(key: Uint8Array, value: Uint8Array): void {
    if (this.#hasSeen) throw new TypeError('state is put back before the first report and the first time');
    const kind = key[0];
    if (kind === Flows.PREFIX) this.#flows.restore(key, value);
    else if (kind === OpenSlices.PREFIX && key.length === 2) this.#slices.restore(key, value);
    else if (kind === CLOCK && key.length === 1) this.#restoreClock(value);
    else throw new StreamError('MALFORMED', 0, `a key that begins with ${kind} is none of a flow side`);
  }

  #restoreClock(value: Uint8Array): void {
    const reader = stateReader(value);
    const { sliceUs, windowUs, graceUs, hops } = this.#options;
    for (const [name, own] of Object.entries({ sliceUs, windowUs, graceUs, hops })) {
      const { offset } = reader;
      const other = reader.number();
      if (other !== own) throw new StreamError('MISMATCH', offset, `${name} was ${other}, and is ${own}`);
    }
    this.#openSlice = reader.number();
    this.#clock = reader.signed();
    this.#keptClock = this.#clock;
    this.#nextTick = (this.#openSlice + 1) * sliceUs + graceUs;
    reader.end();
  }

  totals(): FlowSideTotals {
    return {
      reports: this.#reports,
      withoutFlow: this.#withoutFlow,
      untracked: this.#untracked,
      late: this.#late,
      flows: this.#flows.table.size,
      events: this.#events,
      flowWindows: this.#flowWindows,
      partials: this.#partials,
    };
  }
}
