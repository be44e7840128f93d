import type { TelemetryBatch } from '@int/codec';
import type { RecordIds } from '@int/collector';
import { EventJson, FlowJson, RecordNames, ReportJson } from '@int/collector/internals';
import type { EventBatch } from '@int/detect';
import type { CacheGeometry } from '@int/flowcache';
import type { Topology } from '@int/network';
import { RecordEncoder } from './record-encoder.js';
import type { MessageSlab } from './slab.js';

/** Messages whose value is one JSON object: `ReportRecord`, `EventRecord` and `FlowRecord` of @int/collector. */
export class JsonEncoder extends RecordEncoder {
  readonly format = 'json';
  readonly #names: RecordNames | null;
  readonly #report: ReportJson;
  readonly #event: EventJson;
  #flow: FlowJson | null = null;

  /** @param names of switches and ports, to put beside their ids. Default: none */
  constructor(names?: Topology) {
    super();
    this.#names = names === undefined || names.switches.size === 0 ? null : new RecordNames(names);
    this.#report = new ReportJson(this.#names);
    this.#event = new EventJson(this.#names);
  }

  protected reportBytes(batch: TelemetryBatch, row: number): number {
    return this.#report.bound(batch, row);
  }

  protected writeReport(slab: MessageSlab, at: number, batch: TelemetryBatch, row: number, ids: RecordIds): number {
    return this.#report.write(slab.view, at, batch, row, ids, ids.next);
  }

  protected eventBytes(events: EventBatch, row: number): number {
    return this.#event.bound(events, row);
  }

  protected writeEvent(slab: MessageSlab, at: number, events: EventBatch, row: number, ids: RecordIds): number {
    return this.#event.write(slab.view, at, events, row, ids, ids.next);
  }

  protected flowBytes(geometry: CacheGeometry): number {
    if (this.#flow?.geometry !== geometry) this.#flow = new FlowJson(geometry, this.#names);
    return this.#flow.bound;
  }

  protected writeFlow(slab: MessageSlab, at: number, words: Int32Array, entry: number, ids: RecordIds): number {
    return this.#flow!.write(slab.view, at, words, entry, ids, ids.next);
  }
}
