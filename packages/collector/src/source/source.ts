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
 * Where frames come from. The pipeline calls `start` once and `stop` at most once; a source whose input ends by itself
 * settles `finished` without being stopped.
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
  /** Pushes what is held back, closes, and resolves when that has been accepted. */
  stop(): Promise<void>;
  /** Frames that arrived while the pipeline was behind and all slabs were full: they were refused. */
  readonly overrun: number;
  /** Frames the kernel discarded because this process was behind; `null` where the system does not say. */
  readonly kernelDropped: number | null;
  /**
   * No frame that it pushes from now on has an earlier time: milliseconds since the epoch, `null` if it cannot say. Asked some
   * times a second. Without this method the latest time of its frames is taken for that: such a source has to push frames in
   * the order of their times, and its time stands still while it is silent.
   */
  lowTimeMs?(): number | null;
  /** How often the times that it gives frames have gone back, because the system's clock was set back. */
  readonly clockStepsBack?: number;
  /** Times that what it receives from was down or away, one that lasts included. */
  readonly outages?: number;
  /** Why it receives nothing at present, in a few words for people: an outage. `null` if it is well. */
  health?(): string | null;
  /** What it suffers from now besides: an outage (`health`), `overrun` and `kernelDropped` that grow are known without it. */
  degraded?(): readonly DegradedState[];
}
