import type { TelemetryBatch } from '@int/codec';
import { frameTimeMs, isDecoded, type SourceFrames, sourceTimeMs } from './frames.js';
import type { Source } from './source/source.js';

interface Entry {
  readonly source: Source;
  latestMs: number;
  hasEnded: boolean;
}

/** The time up to which all sources have pushed their frames: the earliest of their low times. */
export class PipelineClock {
  readonly #entries: readonly Entry[];

  constructor(sources: readonly Source[]) {
    this.#entries = sources.map((source) => ({ source, latestMs: Number.NEGATIVE_INFINITY, hasEnded: false }));
  }

  /** A source has pushed frames. */
  pushed(index: number, input: SourceFrames | TelemetryBatch): void {
    const entry = this.#entries[index]!;
    if (entry.source.lowTimeMs !== undefined) return;
    const count = isDecoded(input) ? input.frames : input.count;
    for (let row = 0; row < count; row++) {
      const timeMs = isDecoded(input) ? frameTimeMs(input, row) : sourceTimeMs(input, row);
      if (timeMs > entry.latestMs) entry.latestMs = timeMs;
    }
  }

  /** A source will push nothing more. */
  ended(index: number): void {
    this.#entries[index]!.hasEnded = true;
  }

  /** No frame pushed from now on has an earlier time; `null` if that is not known. */
  now(): number | null {
    let earliest = Number.POSITIVE_INFINITY;
    for (const { source, latestMs, hasEnded } of this.#entries) {
      if (hasEnded) continue;
      const timeMs = source.lowTimeMs === undefined ? latestMs : (source.lowTimeMs() ?? Number.NEGATIVE_INFINITY);
      if (timeMs < earliest) earliest = timeMs;
    }
    return Number.isFinite(earliest) ? earliest : null;
  }
}
