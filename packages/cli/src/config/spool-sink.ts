/** A sink that takes the spool of another one over, while the command runs. */
import type { TelemetryBatch } from '@int/codec';
import type { DegradedState, RecordCounts, RecordKind, Sink, SinkTotals } from '@int/collector';
import { within } from '@int/collector/internals';
import type { EventBatch } from '@int/detect';
import type { CacheGeometry } from '@int/flowcache';

/** Longest time in which a sink that is taken over sends what it has in memory. The rest is in the spool then. */
const HAND_OVER_MS = 500;

/**
 * A sink that opens when another one has closed, because only one of them can have the spool open. It finds there what the
 * other one has not sent.
 */
export class SpoolSink implements Sink {
  readonly name: string;
  readonly #predecessor: Sink;
  readonly #open: () => Sink;
  /** `null`: not open yet. */
  #sink: Sink | null = null;
  #failure: Error | null = null;
  /** What it found, which the predecessor of the same name counts as well. */
  #found: Partial<Record<RecordKind, number>> = {};

  /** @param open opens the spool */
  constructor(name: string, predecessor: Sink, open: () => Sink) {
    this.name = name;
    this.#predecessor = predecessor;
    this.#open = open;
  }

  /** Closes the predecessor and opens, once. @throws what opening throws (rejects): the next record tries again */
  async takeOver(): Promise<void> {
    if (this.#sink !== null) return;
    await within(2 * HAND_OVER_MS, Promise.resolve(this.#predecessor.close?.(HAND_OVER_MS)));
    this.#opened();
  }

  write(batch: TelemetryBatch): Promise<void> | undefined {
    return this.#opened().write(batch);
  }

  writeEvents(events: EventBatch): Promise<void> | undefined {
    return this.#opened().writeEvents?.(events);
  }

  writeFlows(words: Int32Array, at: number, records: number, geometry: CacheGeometry): Promise<void> | undefined {
    return this.#opened().writeFlows?.(words, at, records, geometry);
  }

  advance(timeMs: number): void {
    this.#sink?.advance?.(timeMs);
  }

  totals(): SinkTotals {
    const kinds = Object.entries(this.#sink?.totals?.() ?? {}) as [RecordKind, RecordCounts][];
    return Object.fromEntries(
      kinds.map(([kind, { offered, pending, ...counts }]) => {
        const found = this.#found[kind] ?? 0;
        return [kind, { ...counts, offered: offered - found, pending: pending - found }];
      }),
    );
  }

  health(): string | null {
    return this.#failure?.message ?? this.#sink?.health?.() ?? null;
  }

  degraded(): readonly DegradedState[] {
    return this.#sink?.degraded?.() ?? [];
  }

  async close(timeoutMs?: number): Promise<void> {
    await this.#sink?.close?.(timeoutMs);
  }

  #opened(): Sink {
    if (this.#sink !== null) return this.#sink;
    try {
      this.#sink = this.#open();
    } catch (error) {
      this.#failure = error as Error;
      throw error;
    }
    this.#failure = null;
    if (this.#predecessor.name !== this.name) return this.#sink;
    const kinds = Object.entries(this.#sink.totals?.() ?? {}) as [RecordKind, RecordCounts][];
    this.#found = Object.fromEntries(kinds.map(([kind, { offered }]) => [kind, offered]));
    return this.#sink;
  }
}
