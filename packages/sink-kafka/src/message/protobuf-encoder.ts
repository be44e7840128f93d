import type { TelemetryBatch } from '@int/codec';
import type { RecordIds } from '@int/collector';
import type { EventBatch } from '@int/detect';
import type { CacheGeometry } from '@int/flowcache';
import type { Topology } from '@int/network';
import { NodeNames } from './node-names.js';
import { ProtobufEvent } from './protobuf-event.js';
import { ProtobufFlow } from './protobuf-flow.js';
import { putReport, reportBound } from './protobuf-report.js';
import { RecordEncoder } from './record-encoder.js';
import type { MessageSlab } from './slab.js';

/** Messages whose value is a `Report`, `Event` or `FlowSummary` of `proto/int.proto`. */
export class ProtobufEncoder extends RecordEncoder {
  readonly format = 'protobuf';
  readonly #names: NodeNames | null;
  readonly #event: ProtobufEvent;
  #flow: ProtobufFlow | null = null;

  /** @param names of switches and ports, to put beside their ids. Default: none */
  constructor(names?: Topology) {
    super();
    this.#names = NodeNames.of(names);
    this.#event = new ProtobufEvent(this.#names);
  }

  protected reportBytes(batch: TelemetryBatch, row: number): number {
    return reportBound(batch, row, this.#names);
  }

  protected writeReport(slab: MessageSlab, at: number, batch: TelemetryBatch, row: number, ids: RecordIds): number {
    return putReport(slab, at, batch, row, ids, this.#names);
  }

  protected eventBytes(events: EventBatch, row: number): number {
    return this.#event.bound(events, row);
  }

  protected writeEvent(slab: MessageSlab, at: number, events: EventBatch, row: number, ids: RecordIds): number {
    return this.#event.write(slab, at, events, row, ids);
  }

  protected flowBytes(geometry: CacheGeometry): number {
    if (this.#flow?.geometry !== geometry) this.#flow = new ProtobufFlow(geometry, this.#names);
    return this.#flow.bound;
  }

  protected writeFlow(slab: MessageSlab, at: number, words: Int32Array, entry: number, ids: RecordIds): number {
    return this.#flow!.write(slab, at, words, entry, ids);
  }
}
