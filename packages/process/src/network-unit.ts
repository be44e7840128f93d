import { decodePartial, NetworkSide, type NetworkSideOptions } from '@int/stream';
import { FindingsBuffer, type Topics } from './findings.js';
import type { LogRecord } from './kafka/committed.js';
import { sideChange, type Unit, type UnitChange, type UnitCounts, type UnitState } from './unit.js';

/** The network side: merges what all flow sides tell. */
export class NetworkUnit implements Unit {
  readonly #side: NetworkSide;
  readonly #found: FindingsBuffer;
  #timeMs = Number.NEGATIVE_INFINITY;
  #bad = 0;

  constructor(options: NetworkSideOptions, topics: Topics, keepObjects: boolean) {
    const found = new FindingsBuffer(topics, keepObjects);
    this.#found = found;
    this.#side = new NetworkSide(options, {
      event: (event) => found.event(event),
      networkWindow: (window) => found.window(window),
    });
  }

  get timeMs(): number {
    return this.#timeMs;
  }

  get waitingBytes(): number {
    return this.#found.bytes;
  }

  take(records: readonly LogRecord[], from: number, to: number): void {
    for (let index = from; index < to; index++) this.#merge(records[index]!);
  }

  advance(timeMs: number): void {
    if (timeMs <= this.#timeMs) return;
    this.#timeMs = timeMs;
    this.#side.advance(timeMs);
  }

  results(): ReturnType<Unit['results']> {
    return this.#found.take();
  }

  changes(): UnitChange[] {
    return this.#side.changes().map(sideChange);
  }

  restore(state: UnitState): void {
    for (const { key, value } of state.side) this.#side.restore(key, value);
  }

  counts(): UnitCounts {
    const { partials, repeated } = this.#side.totals();
    return { taken: partials, repeated, bad: this.#bad };
  }

  #merge(record: LogRecord): void {
    if (record.value === null) {
      this.#bad++;
      return;
    }
    try {
      const partial = decodePartial(record.value);
      this.#side.merge(partial);
      const end = ((partial.slice + 1) * partial.sliceUs) / 1000;
      if (end > this.#timeMs) this.#timeMs = end;
    } catch {
      // Not written by a processor with these options.
      this.#bad++;
    }
  }
}
