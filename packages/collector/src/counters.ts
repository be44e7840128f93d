import { CODE_NAMES, type CodeName, type Status } from '@int/codec';
import { CODE_STATUS } from '@int/codec/internals';
import { REFUSED } from './admission/admission.js';
import type { SinkTotals } from './stage.js';

/** Why a frame was not decoded: the decoder's status, or `overrun`, because the pipeline was too slow. */
export type DropStatus = Exclude<Status, 'ok'> | 'overrun';

/** Why a frame was refused: its sender may not send, or it names a switch that there is not. */
export type Refusal = 'unknown-source' | 'unknown-switch';

/** What became of the frames. `received` is `decoded` plus the sum of `dropped`. */
export interface FrameTotals {
  /** Frames (datagrams, captured packets) that reached this process. */
  readonly received: number;
  /** Frames without a problem that held at least one report or INT header. */
  readonly decoded: number;
  /** Individual reports and INT packets decoded; one frame may hold several. */
  readonly reports: number;
  /**
   * Frames that became no rows, by reason. The keys of {@link DropStatus} are always there, `unknown-source` if a source has a
   * list of senders, and `unknown-switch` if the collector knows the switches.
   */
  readonly dropped: Readonly<Record<DropStatus, number> & Partial<Record<Refusal, number>>>;
  /** What the decoder found wrong in dropped frames, by its code. Only codes that occurred. */
  readonly errors: Readonly<Partial<Record<CodeName, number>>>;
  /** Frames the kernel discarded before this process saw them; `null` if no source can say. Not part of `received`. */
  readonly kernelDropped: number | null;
}

/** The counters of a collector at one moment. */
export interface CollectorTotals extends FrameTotals {
  /** Counters of each stage, by name. Stages that count nothing are left out. */
  readonly stages: Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** Counters of the records given to each sink, by name. */
  readonly sinks: Readonly<Record<string, SinkTotals>>;
  /** Steps back of the frame times, summed over the sources. Missing if there were none. */
  readonly clockStepsBack?: number;
  /** Outages of the origins of sources, summed over the sources. Missing if there were none. */
  readonly outages?: number;
}

/** Counts frames by decoder code. Typed arrays: nothing is allocated per frame. */
export class FrameCounters {
  /** Frames by code; the first is `OK`. Floats hold integers exactly up to 2^53. */
  readonly byCode: Float64Array = new Float64Array(CODE_NAMES.length);
  reports = 0;
  /** Frames that the pipeline itself dropped. */
  overrun = 0;
  /** Frames of senders that may not send. */
  unknownSource = 0;
  /** Frames that name a switch that there is not. */
  unknownSwitch = 0;
  /** Whether senders and switches are looked at, so that the totals have these counts. */
  checksSenders = false;
  checksSwitches = false;

  /** Adds frames `from` to `to - 1` of a batch's `frameCode` column. */
  add(frameCode: Uint8Array, from: number, to: number): void {
    const byCode = this.byCode;
    for (let index = from; index < to; index++) byCode[frameCode[index]!]!++;
  }

  /** Adds all frames of a batch, of which some are refused. @param reasons by frame, see `Admission` */
  addAdmitted(frameCode: Uint8Array, reasons: Uint8Array, frames: number): void {
    for (let frame = 0; frame < frames; frame++) {
      const reason = reasons[frame];
      if (reason === REFUSED.NO) this.byCode[frameCode[frame]!]!++;
      else if (reason === REFUSED.UNKNOWN_SOURCE) this.unknownSource++;
      else this.unknownSwitch++;
    }
  }

  /**
   * @param overrun frames for which the sources had no room
   * @param sources frames that the sources refused themselves: because of their senders, and of the switches that they name
   * @param kernelDropped what the sources know of the kernel's drops
   */
  totals(
    overrun: number,
    sources: { readonly refused: number; readonly refusedSwitches: number },
    kernelDropped: number | null,
  ): FrameTotals {
    const dropped: Record<DropStatus, number> & Partial<Record<Refusal, number>> = {
      truncated: 0,
      malformed: 0,
      unsupported: 0,
      'not-int': 0,
      overrun: overrun + this.overrun,
    };
    const unknownSource = sources.refused + this.unknownSource;
    const unknownSwitch = sources.refusedSwitches + this.unknownSwitch;
    if (this.checksSenders) dropped['unknown-source'] = unknownSource;
    if (this.checksSwitches) dropped['unknown-switch'] = unknownSwitch;
    const errors: Partial<Record<CodeName, number>> = {};
    let received = dropped.overrun + unknownSource + unknownSwitch;
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
