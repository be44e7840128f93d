import { DeviceProfile } from '@int/network';
import { decodePartial, NetworkSide, type NetworkSideOptions } from '@int/stream';
import { FindingsBuffer, type Topics } from './findings.js';
import type { LogRecord } from './kafka/committed.js';
import {
  NO_COUNTS,
  sideChange,
  type Unit,
  type UnitChange,
  type UnitCounts,
  type UnitProgress,
  type UnitState,
} from './unit.js';

/** The network side: merges the partials of all flow sides. */
export class NetworkUnit implements Unit {
  readonly #side: NetworkSide;
  readonly #found: FindingsBuffer;
  timeMs = Number.NEGATIVE_INFINITY;
  #bad = 0;

  constructor(
    options: NetworkSideOptions,
    topics: Topics,
    keepObjects: boolean,
    device: DeviceProfile = DeviceProfile.NONE,
  ) {
    const found = new FindingsBuffer(topics, keepObjects, device);
    this.#found = found;
    this.#side = new NetworkSide(options, {
      event: (event) => found.event(event),
      networkWindow: (window) => found.window(window),
      correction: (correction) => found.correction(correction),
    });
  }

  get waitingBytes(): number {
    return this.#found.bytes;
  }

  take(records: readonly LogRecord[], from: number, to: number): void {
    for (let index = from; index < to; index++) this.#merge(records[index]!);
  }

  /** Does nothing: its time comes from the flow sides, so silence here has no meaning. */
  quiet(): void {}

  gap(): void {
    this.#side.missing();
  }

  /** Does nothing: partials come as long as there are flow sides. */
  end(): void {}

  results(): ReturnType<Unit['results']> {
    this.#side.revise();
    return this.#found.take();
  }

  changes(): UnitChange[] {
    return this.#side.changes().map(sideChange);
  }

  restore(state: UnitState): void {
    for (const { key, value } of state.side) this.#side.restore(key, value);
  }

  counts(): UnitCounts {
    const { partials, repeated, lateReports, incompleteWindows } = this.#side.totals();
    const own = { taken: partials, repeated, bad: this.#bad, late: lateReports, incomplete: incompleteWindows };
    return { ...NO_COUNTS, ...own };
  }

  progress(): UnitProgress {
    return { behindMs: 0, trouble: null };
  }

  #merge(record: LogRecord): void {
    if (record.value === null) {
      this.#bad++;
      return;
    }
    try {
      const partial = decodePartial(record.value);
      this.#side.merge(partial);
      const end = (partial.closed * partial.sliceUs) / 1000;
      if (end > this.timeMs) this.timeMs = end;
    } catch {
      // No processor with these options has written this message.
      this.#bad++;
    }
  }
}
