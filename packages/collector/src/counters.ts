import { CODE_NAMES, type CodeName, type Status } from '@int/codec';
import { CODE_STATUS } from '@int/codec/internals';
import type { SinkTotals } from './stage.js';

/** Why a frame was not decoded: what is wrong with it, or `overrun`: it came faster than the pipeline could take it. */
export type DropStatus = Exclude<Status, 'ok'> | 'overrun';

/** What became of the frames. `received` is `decoded` plus the sum of `dropped`. */
export interface FrameTotals {
  /** Frames (datagrams, captured packets) that reached this process. */
  readonly received: number;
  /** Frames in which nothing was wrong and at least one report or INT header was found. */
  readonly decoded: number;
  /** Individual reports and INT packets decoded; one frame may hold several. */
  readonly reports: number;
  /** Frames that were not decoded. All keys are always there. */
  readonly dropped: Readonly<Record<DropStatus, number>>;
  /** The same by decoder code, without `overrun`; only codes that occurred. */
  readonly errors: Readonly<Partial<Record<CodeName, number>>>;
  /** Frames the kernel discarded before this process saw them; `null` if no source can say. On top of `received`. */
  readonly kernelDropped: number | null;
}

/** The counters of a collector at one moment. */
export interface CollectorTotals extends FrameTotals {
  /** By name, for stages that count. */
  readonly stages: Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** By name: what became of the records given to each sink. */
  readonly sinks: Readonly<Record<string, SinkTotals>>;
  /** How often the times of a source's frames have gone back, summed over the sources; only if they have. */
  readonly clockStepsBack?: number;
  /** Times that what a source receives from was down or away, summed over the sources; only if it was. */
  readonly outages?: number;
}

/** Counts frames by decoder code. Typed arrays: nothing is allocated per frame. */
export class FrameCounters {
  /** Frames by code; the first is `OK`. Floats hold integers exactly up to 2^53. */
  readonly byCode: Float64Array = new Float64Array(CODE_NAMES.length);
  reports = 0;
  /** Frames that the pipeline itself had to let go. */
  overrun = 0;

  /** Adds frames `from` to `to - 1` of a batch's `frameCode` column. */
  add(frameCode: Uint8Array, from: number, to: number): void {
    const byCode = this.byCode;
    for (let index = from; index < to; index++) byCode[frameCode[index]!]!++;
  }

  /**
   * @param overrun frames that the sources refused
   * @param kernelDropped what the sources know of the kernel's drops
   */
  totals(overrun: number, kernelDropped: number | null): FrameTotals {
    const dropped: Record<DropStatus, number> = {
      truncated: 0,
      malformed: 0,
      unsupported: 0,
      'not-int': 0,
      overrun: overrun + this.overrun,
    };
    const errors: Partial<Record<CodeName, number>> = {};
    let received = dropped.overrun;
    let decoded = 0;
    this.byCode.forEach((count, code) => {
      received += count;
      const status = CODE_STATUS[code]!;
      if (status === 'ok') {
        decoded += count;
        return;
      }
      dropped[status] += count;
      if (count > 0) errors[CODE_NAMES[code]!] = count;
    });
    return { received, decoded, reports: this.reports, dropped, errors, kernelDropped };
  }
}
