import { FLAG, NOT_AVAILABLE, type TelemetryBatch } from '@int/codec';
import type { ImmediateEvent } from '../model/event.js';
import type { SliceBank } from '../slice/bank.js';
import { NO_ROW } from '../slice/pair-table.js';
import { holeEvent, loopEvent, pathChangeEvent } from './events.js';
import type { Flows } from './flows.js';
import type { Trace } from './trace.js';

/** A switch without queue ids has one queue, number 0. */
function numberOf(queueId: number): number {
  return queueId === NOT_AVAILABLE ? 0 : queueId;
}

/** Bits of a sequence number by report version, as in `FLAG.REPORT_SHIFT`; 0 without a report. */
const SEQUENCE_BITS = [0, 32, 32, 22] as const;

/** Takes what a report says about its switches, its flow's path and where the flow was seen. Only events allocate. */
export class Intake {
  readonly #sliceUs: number;
  readonly #flows: Flows;
  readonly #trace: Trace;
  readonly #found: (event: ImmediateEvent) => void;
  /** Time of the current report. As an argument that is no small integer, it would allocate an object for each call. */
  readonly now = new Float64Array(1);

  /** @param trace the path of the current report, which the owner reads before each call */
  constructor(sliceUs: number, flows: Flows, trace: Trace, found: (event: ImmediateEvent) => void) {
    this.#sliceUs = sliceUs;
    this.#flows = flows;
    this.#trace = trace;
    this.#found = found;
  }

  sequence(bank: SliceBank, batch: TelemetryBatch, report: number): void {
    const flags = batch.flags[report]!;
    const bits = SEQUENCE_BITS[(flags >>> FLAG.REPORT_SHIFT) & FLAG.REPORT_MASK]!;
    const nodeId = batch.nodeId[report]!;
    // Numbers of nodes without an id cannot be told apart.
    if (bits === 0 || nodeId === NOT_AVAILABLE) return;
    const hwId = (flags >>> FLAG.HW_ID_SHIFT) & FLAG.HW_ID_MASK;
    const sequence = batch.sequence[report]!;
    bank.sequence(nodeId, hwId, bits, bits === 22 ? sequence & 0x3fffff : sequence);
  }

  /**
   * @param bank bank of the report's slice; `null` if nothing is added to the slice
   * @param record record of the flow's window; -1 if there is none
   */
  hops(batch: TelemetryBatch, report: number, bank: SliceBank | null, record: number, hasFlow: boolean): void {
    const trace = this.#trace;
    const offsetUs = (this.now[0]! % this.#sliceUs) | 0;
    const { nodes, rows, length, isStack } = trace;
    const { hopLatency, queueId, queueOccupancy, congestionQueueId, queueCongestion } = batch.hop;
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
      let occupancy = queueOccupancy[at]!;
      let status = queueCongestion[at]!;
      let queueRow = at;
      let statusRow = at;
      if (index === rows - 1 && trace.foldedRow >= 0) {
        const { foldedRow } = trace;
        if (latency === NOT_AVAILABLE) latency = hopLatency[foldedRow]!;
        if (occupancy === NOT_AVAILABLE) {
          occupancy = queueOccupancy[foldedRow]!;
          queueRow = foldedRow;
        }
        if (status === NOT_AVAILABLE) {
          status = queueCongestion[foldedRow]!;
          statusRow = foldedRow;
        }
      }
      const hasQueue = occupancy !== NOT_AVAILABLE;
      const isCongested = (status !== NOT_AVAILABLE && status !== 0) || (saysCongested && index === length - 1);
      if (latency !== NOT_AVAILABLE) {
        sum += latency;
        values++;
      }
      if (bank !== null && nodeId !== NOT_AVAILABLE) {
        const switchRow = bank.seen(nodeId, offsetUs);
        if (latency !== NOT_AVAILABLE) bank.latency(switchRow, latency);
        if (hasQueue) bank.occupancy(nodeId, numberOf(queueId[queueRow]!), occupancy);
        if (isCongested && (hasQueue || status !== NOT_AVAILABLE)) {
          bank.congestion(nodeId, numberOf(hasQueue ? queueId[queueRow]! : congestionQueueId[statusRow]!));
        }
      }
      if (bank !== null && index > 0 && isStack) this.#link(bank, index, offsetUs, flowHash, hasFlow);
      if (record >= 0) windows.hop(record, index, nodeId, latency, occupancy, isCongested);
    }
    // A node that only the report's header names.
    if (bank !== null && length > rows) {
      bank.seen(nodes[rows]!, offsetUs);
      if (rows > 0 && isStack) this.#link(bank, rows, offsetUs, flowHash, hasFlow);
    }
    if (record >= 0 && values > 0 && trace.isPath) windows.endToEnd(record, sum);
  }

  /** Counts the link from the previous node to the node at `index`. */
  #link(bank: SliceBank, index: number, offsetUs: number, flowHash: number, hasFlow: boolean): void {
    const { nodes, length, isCut } = this.#trace;
    const from = nodes[index - 1]!;
    const to = nodes[index]!;
    if (from === NOT_AVAILABLE || to === NOT_AVAILABLE || from === to || (isCut && index === length - 1)) return;
    bank.link(from, to, offsetUs, flowHash, hasFlow);
  }

  path(batch: TelemetryBatch, report: number, row: number, record: number): void {
    const timeUs = this.now[0]!;
    const trace = this.#trace;
    const { table, paths, windows } = this.#flows;
    const isSame = row !== NO_ROW && trace.isPath && paths.isSame(row, trace);
    if (!isSame) {
      // A looping path is reported as a loop and never kept, so a known path need not be checked.
      const repeated = trace.repeated();
      if (repeated >= 0) {
        this.#loop(batch, report, row, repeated);
        return;
      }
    }
    if (row === NO_ROW || !trace.isPath) return;
    if (record >= 0) windows.path(record, trace, timeUs);
    if (!paths.isLatest(row, timeUs)) return;
    if (isSame) {
      paths.touch(row, timeUs);
      return;
    }
    if (paths.isKnown(row)) {
      this.#found(pathChangeEvent(table, row, paths.path(row), trace, timeUs));
      if (record >= 0) windows.pathChange(record);
    }
    paths.set(row, trace, timeUs);
  }

  #loop(batch: TelemetryBatch, report: number, flowRow: number, repeated: number): void {
    const timeUs = this.now[0]!;
    const trace = this.#trace;
    let row = flowRow;
    if (row === NO_ROW) {
      // Without a flow, the loop is that of the node that sent the report.
      if ((batch.flags[report]! & FLAG.FLOW) === 0) row = this.#flows.rowOf(batch, report);
      if (row === NO_ROW) return;
      this.#flows.seen(row, timeUs);
    }
    const { table, paths } = this.#flows;
    if (paths.noteLoop(row, trace.nodes[repeated]!, trace, timeUs)) {
      this.#found({ ...loopEvent(table, row, paths, false), path: trace.path() });
    }
  }

  sighting(batch: TelemetryBatch, report: number, row: number): void {
    const timeUs = this.now[0]!;
    const { nodes, length, isAtSink, isPath } = this.#trace;
    const { table, sightings } = this.#flows;
    const reporter = batch.nodeId[report]!;
    const last = length > 0 ? nodes[length - 1]! : NOT_AVAILABLE;
    const node = reporter === NOT_AVAILABLE ? last : reporter;
    let hole = -1;
    if (isAtSink) {
      // The last node of an incomplete path may not be the sink. The reporter is.
      hole = sightings.noteSink(row, isPath ? last : reporter, timeUs);
    } else if (node !== NOT_AVAILABLE) {
      const isDrop = (batch.flags[report]! & FLAG.DROPPED) !== 0;
      if (node !== sightings.sink(row)) sightings.noteUpstream(row, node, timeUs);
      else if (!isDrop) hole = sightings.noteSink(row, node, timeUs);
    }
    if (hole >= 0) this.#found(holeEvent(table, row, sightings, hole, timeUs, true));
  }
}
