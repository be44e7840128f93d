import type { Prefix } from '@int/network';
import type { Push } from '../frames.js';
import type { DegradedState } from '../health/degraded-state.js';

const BRAND: unique symbol = /* @__PURE__ */ Symbol.for('@int/collector.SourceError') as never;

/** Why a source failed: it could not be opened, or what it delivered is damaged. */
export type SourceErrorCode = 'ERR_SOURCE_OPEN' | 'ERR_SOURCE_DATA';

/**
 * A source that could not be opened, or whose input is damaged. The system's or the reader's own error is `cause`. The message
 * is `cannot open SOURCE: REASON` or `SOURCE: REASON`, by the code.
 */
export class SourceError extends Error {
  override readonly name = 'SourceError';
  readonly code: SourceErrorCode;
  /** The address or file. */
  readonly source: string;

  constructor(code: SourceErrorCode, source: string, reason: string, cause?: unknown) {
    super(`${code === 'ERR_SOURCE_OPEN' ? 'cannot open ' : ''}${source}: ${reason}`, { cause });
    this.code = code;
    this.source = source;
    Object.defineProperty(this, BRAND, { value: true });
  }

  /** Works across the ESM and the CommonJS copy of this package, where `instanceof` does not. */
  static is(value: unknown): value is SourceError {
    return typeof value === 'object' && value !== null && BRAND in value;
  }
}

/**
 * An origin of frames. The pipeline calls `start` once and `stop` at most once. A source whose input ends settles
 * `finished` without a call of `stop`.
 */
export interface Source {
  /** The address or file, for messages. */
  readonly name: string;
  /**
   * Opens the source and lets it push. Resolves once it is open.
   * @throws SourceError `ERR_SOURCE_OPEN`
   */
  start(push: Push): Promise<void>;
  /** Resolves when everything has been pushed and accepted; rejects with `ERR_SOURCE_DATA` if the input is damaged. */
  readonly finished: Promise<void>;
  /** Pushes the frames it still holds, closes, and resolves when the pipeline has accepted them. */
  stop(): Promise<void>;
  /** Frames refused because the pipeline was busy and all slabs were full. */
  readonly overrun: number;
  /** Frames that the kernel dropped because this process was behind; `null` if unknown. */
  readonly kernelDropped: number | null;
  /**
   * Who may send; missing or `null`: anybody. The collector refuses frames whose outer IP source address is not among
   * these, or cannot be read. A source whose frames have no IP header refuses others itself, and counts them in {@link refused}.
   */
  readonly from?: readonly Prefix[] | null;
  /** Frames that it has not pushed because of their senders. */
  readonly refused?: number;
  /** Frames that it has not pushed because they name switches that there are not. */
  readonly refusedSwitches?: number;
  /**
   * Tells a source that drops frames by their contents itself which switches there are; `null`: any id may be one. The collector
   * calls it before `start`, and when they change. What the source still pushes is looked at again.
   * @throws RangeError for more than it can tell apart
   */
  setKnownSwitches?(ids: readonly number[] | null): void;
  /**
   * A lower bound for the times of all frames still to come, in milliseconds since the epoch; `null` if unknown. Called
   * several times a second. Without this method, the time of the latest frame is the bound: the source must then push
   * frames in the order of their times, and the bound does not advance while it is silent.
   */
  lowTimeMs?(): number | null;
  /** Steps back of the frame times, because the system's clock was set back. */
  readonly clockStepsBack?: number;
  /** Outages of its origin so far, including the current one. */
  readonly outages?: number;
  /** The reason of the current outage, in a few words for people; `null` without an outage. */
  health?(): string | null;
  /**
   * Its other current degraded states. The collector derives those of `health`, `overrun` and `kernelDropped` itself.
   */
  degraded?(): readonly DegradedState[];
}
