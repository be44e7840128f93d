import { FLAG, TelemetryBatch } from '@int/codec';
import { REPORT_COLUMN } from '@int/codec/internals';
import { BatchView } from './batch-view.js';
import { EVENT_COLUMN, EVIDENCE } from './event-columns.js';
import type { HopFit } from './hop-fit.js';
import type { LoopContext } from './loops/context.js';

const MOST_HOPS = 256;

/**
 * A report with the hops that fit, and no others, as the loops see it: a copy of one row. So each detector works with
 * hops of its choice by the code that it always runs. The report's path is the switches of these hops.
 */
export class HopLens {
  readonly view: BatchView = new BatchView(new TelemetryBatch({ frames: 1, reports: 1, hops: MOST_HOPS, bytes: 0 }));
  /** Position on the path of each hop that was copied. */
  readonly #positions = new Uint8Array(MOST_HOPS);

  /**
   * @param columns the hop columns that the rule reads, beside the switch id
   * @param withFlow whether it reads the columns of the flow
   */
  load(from: BatchView, row: number, fit: HopFit, columns: readonly number[], withFlow: boolean): void {
    const { view } = this;
    const { report, reportStride } = view;
    const first = from.report[REPORT_COLUMN.HOP_START * from.reportStride + row]!;
    const count = from.hopCount[row]!;
    let kept = 0;
    for (let hop = 0; hop < count; hop++) {
      const at = first + hop;
      if (!fit.fits(from, at)) continue;
      view.hops[kept] = from.hops[at]!;
      for (let k = 0; k < columns.length; k++) {
        const column = columns[k]!;
        view.hops[column * view.hopStride + kept] = from.hops[column * from.hopStride + at]!;
      }
      this.#positions[kept++] = hop;
    }
    view.hopCount[0] = kept;
    const isLast = kept > 0 && this.#positions[kept - 1] === count - 1;
    if (withFlow) {
      view.protocol[0] = from.protocol[row]!;
      for (let column = REPORT_COLUMN.PORTS; column <= REPORT_COLUMN.DESTINATION + 3; column++) {
        report[column * reportStride] = from.report[column * from.reportStride + row]!;
      }
    }
    view.cells[0] = from.cells[row]!;
    report[REPORT_COLUMN.HOP_START * reportStride] = 0;
    // The packet was dropped at the last hop.
    report[REPORT_COLUMN.FLAGS * reportStride] =
      from.report[REPORT_COLUMN.FLAGS * from.reportStride + row]! & ~(isLast ? FLAG.OWN : FLAG.OWN | FLAG.DROPPED);
    // A switch that reports without being one of these hops is not on the path.
    report[REPORT_COLUMN.NODE * reportStride] = -1;
  }

  /** Gives the events from `before` on the row of their report, and their hops the positions that they have there. */
  place({ events, eventStride, count, evidenceSlots }: LoopContext, before: number, row: number): void {
    const hops = EVENT_COLUMN.HOP * eventStride;
    for (let event = before; event < count; event++) {
      events[EVENT_COLUMN.REPORT * eventStride + event] = row;
      // Undefined for events of a whole flow, and then of no harm.
      events[hops + event] = this.#positions[events[hops + event]! & 0xff]!;
      for (let slot = 0; slot < evidenceSlots; slot++) {
        const at = (EVENT_COLUMN.EVIDENCE + slot * EVIDENCE.COLUMNS + EVIDENCE.WHAT) * eventStride + event;
        const what = events[at]!;
        const hop = what >>> EVIDENCE.HOP_SHIFT;
        if (what === EVIDENCE.NONE) break;
        if (hop === EVIDENCE.NO_HOP) continue;
        events[at] = (what & 0xffff) | (this.#positions[hop & 0xff]! << EVIDENCE.HOP_SHIFT);
      }
    }
  }
}
