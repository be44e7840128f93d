import type { TelemetryBatch } from '@int/codec';
import type { EventBatch } from '@int/detect';
import type { CacheGeometry } from '@int/flowcache';
import type { Outlets, RecordKind, Sink } from '../stage.js';
import type { SinkQueue } from './sink-queue.js';

/** The number of reports in a batch that were decoded without a problem. Sinks take only these. */
export function goodReports({ code, reports }: TelemetryBatch): number {
  let count = 0;
  for (let row = 0; row < reports; row++) if (code[row] === 0) count++;
  return count;
}

/** Hands records to a fixed row of sinks. */
export class Delivery implements Outlets {
  readonly queues: readonly SinkQueue[];
  /** Whether any sink takes events or flows. */
  readonly takesRecords: boolean;
  #waiting: Promise<void>[] = [];

  constructor(queues: readonly SinkQueue[]) {
    this.queues = queues;
    this.takesRecords = queues.some(({ takes }) => takes.events || takes.flows);
  }

  reports(batch: TelemetryBatch): void {
    if (this.queues.length === 0) return;
    this.#giveAll('reports', goodReports(batch), (sink) => sink.write(batch));
  }

  events(events: EventBatch): void {
    this.#giveAll('events', events.count, (sink) => sink.writeEvents!(events));
  }

  flows(words: Int32Array, at: number, records: number, geometry: CacheGeometry): void {
    this.#giveAll('flows', records, (sink) => sink.writeFlows!(words, at, records, geometry));
  }

  room(): Promise<void> | undefined {
    const waiting = this.#waiting;
    if (waiting.length === 0) return undefined;
    this.#waiting = [];
    return Promise.all(waiting).then(() => undefined);
  }

  #giveAll(kind: RecordKind, records: number, give: (sink: Sink) => Promise<void> | undefined): void {
    for (const queue of this.queues) {
      if (!queue.takes[kind]) continue;
      const busy = queue.give(kind, records, give);
      if (busy !== undefined) this.#waiting.push(busy);
    }
  }
}
