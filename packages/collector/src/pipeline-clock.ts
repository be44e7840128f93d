import type { TelemetryBatch } from '@int/codec';
import { frameTimeMs, isDecoded, type SourceFrames, sourceTimeMs } from './frames.js';
import type { Source } from './source/source.js';

/** What the clock knows of a source. */
export class SourceTime {
  /** The source will push nothing more. */
  hasEnded = false;
  readonly #source: Source;
  #latestMs = Number.NEGATIVE_INFINITY;

  constructor(source: Source) {
    this.#source = source;
  }

  /** The source has pushed frames. */
  pushed(input: SourceFrames | TelemetryBatch): void {
    if (this.#source.lowTimeMs !== undefined) return;
    const count = isDecoded(input) ? input.frames : input.count;
    for (let row = 0; row < count; row++) {
      const timeMs = isDecoded(input) ? frameTimeMs(input, row) : sourceTimeMs(input, row);
      if (timeMs > this.#latestMs) this.#latestMs = timeMs;
    }
  }

  /** No frame that it pushes from now on has an earlier time. */
  get lowMs(): number {
    if (this.hasEnded) return Number.POSITIVE_INFINITY;
    const { lowTimeMs } = this.#source;
    return lowTimeMs === undefined ? this.#latestMs : (lowTimeMs.call(this.#source) ?? Number.NEGATIVE_INFINITY);
  }
}

/** The time up to which all sources have pushed their frames: the earliest of their low times. */
export class PipelineClock {
  readonly #times = new Map<Source, SourceTime>();

  add(source: Source): SourceTime {
    const time = new SourceTime(source);
    this.#times.set(source, time);
    return time;
  }

  remove(source: Source): void {
    this.#times.delete(source);
  }

  /** No frame pushed from now on has an earlier time; `null` if that is not known. */
  now(): number | null {
    let earliest = Number.POSITIVE_INFINITY;
    for (const time of this.#times.values()) earliest = Math.min(earliest, time.lowMs);
    return Number.isFinite(earliest) ? earliest : null;
  }
}
