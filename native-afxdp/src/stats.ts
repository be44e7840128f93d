import type { XdpProgramCounters } from './program.js';

/** What a socket has done, and what the kernel has done for it, since it was opened. */
export interface XdpStats {
  /** Frames that `receive` handed out. */
  readonly received: number;
  readonly receivedBytes: number;
  /** Frames that `release` took back. */
  readonly released: number;
  /** Frames that `transmit` accepted. */
  readonly sent: number;
  readonly sentBytes: number;
  /** Frames of those that the kernel is done with. */
  readonly completed: number;
  /**
   * Of these, frames that did not leave: the interface was going down, or what is behind it had no room. Drivers in zero-copy
   * mode do not say.
   */
  readonly unsent: number;
  /** The kernel's own counters (XDP_STATISTICS). */
  readonly kernel: {
    /** Longer than a frame, or no frame was free. */
    readonly rxDropped: number;
    /** Wrong descriptors in the fill ring: always 0. */
    readonly rxInvalid: number;
    /** The ring of received frames was full. */
    readonly rxRingFull: number;
    /** How often no free frame was there. */
    readonly fillRingEmpty: number;
    /** Wrong descriptors among the frames to send: always 0. */
    readonly txInvalid: number;
    /** How often the kernel looked for frames to send and found none. */
    readonly txRingEmpty: number;
  };
  /** Counters of the socket's own program; null if it has none. */
  readonly program: XdpProgramCounters | null;
}

/** Numbers that the addon's `socketStats` fills in. */
export const STATS_NUMBERS = 14;

/** @param numbers in the order of `socketStats` */
export function readStats(numbers: Float64Array, program: XdpProgramCounters | null): XdpStats {
  const at = (index: number): number => numbers[index]!;
  return {
    received: at(0),
    receivedBytes: at(1),
    released: at(2),
    sent: at(3),
    sentBytes: at(4),
    completed: at(5),
    unsent: at(13),
    kernel: {
      rxDropped: at(7),
      rxInvalid: at(8),
      rxRingFull: at(9),
      fillRingEmpty: at(10),
      txInvalid: at(11),
      txRingEmpty: at(12),
    },
    program,
  };
}
