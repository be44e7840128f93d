import type { TelemetryBatch } from '@int/codec';
import type { RecordIds } from '@int/collector';
import type { EventBatch } from '@int/detect';
import type { CacheGeometry } from '@int/flowcache';
import { ProtobufEvent } from './protobuf-event.js';
import { ProtobufFlow } from './protobuf-flow.js';
import { putReport, reportBound } from './protobuf-report.js';
import { RecordEncoder } from './record-encoder.js';
import type { MessageSlab } from './slab.js';

/** Messages whose value is a `Report`, `Event` or `FlowSummary` of `proto/int.proto`. */
export class ProtobufEncoder extends RecordEncoder {
  readonly format = 'protobuf';
  readonly #event = new ProtobufEvent();
  #flow: ProtobufFlow | null = null;

  protected reportBytes(batch: TelemetryBatch, row: number): number {
    return reportBound(batch, row);
  }

  protected writeReport(slab: MessageSlab, at: number, batch: TelemetryBatch, row: number, ids: RecordIds): number {
    return putReport(slab, at, batch, row, ids);
  }

  protected eventBytes(events: EventBatch, row: number): number {
    return this.#event.bound(events, row);
  }

  protected writeEvent(slab: MessageSlab, at: number, events: EventBatch, row: number, ids: RecordIds): number {
    return this.#event.write(slab, at, events, row, ids);
  }

  protected flowBytes(geometry: CacheGeometry): number {
    if (this.#flow?.geometry !== geometry) this.#flow = new ProtobufFlow(geometry);
    return this.#flow.bound;
  }

  protected writeFlow(slab: MessageSlab, at: number, words: Int32Array, entry: number, ids: RecordIds): number {
    return this.#flow!.write(slab, at, words, entry, ids);
  }
}
