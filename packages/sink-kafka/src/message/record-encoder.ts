import type { TelemetryBatch } from '@int/codec';
import { RECORD_KINDS, type RecordIds } from '@int/collector';
import { frameTimeMs } from '@int/collector/internals';
import type { EventBatch } from '@int/detect';
import { type CacheGeometry, COMPACT, EXACT, META } from '@int/flowcache';
import type { MessageEncoder, MessageFormat } from './encoder.js';
import { enter, MAX_KEY_BYTES, putKey4, putKey6, putReportKey } from './key.js';
import type { MessageSlab } from './slab.js';

const REPORTS = /* @__PURE__ */ RECORD_KINDS.indexOf('reports');
const EVENTS = /* @__PURE__ */ RECORD_KINDS.indexOf('events');
const FLOWS = /* @__PURE__ */ RECORD_KINDS.indexOf('flows');

const MS_PER_HIGH_WORD = 4294.967296;

/** Keys, order and bounds, which are the same in all formats; a format adds how values are written. */
export abstract class RecordEncoder implements MessageEncoder {
  abstract readonly format: MessageFormat;

  /** Bytes of a value at most, with room behind it that writing needs. */
  protected abstract reportBytes(batch: TelemetryBatch, row: number): number;
  /** Writes a value and returns the position behind it. */
  protected abstract writeReport(
    slab: MessageSlab,
    at: number,
    batch: TelemetryBatch,
    row: number,
    ids: RecordIds,
  ): number;
  protected abstract eventBytes(events: EventBatch, row: number): number;
  protected abstract writeEvent(slab: MessageSlab, at: number, events: EventBatch, row: number, ids: RecordIds): number;
  /** Called before entries of a cache are written. @returns bytes of a value at most */
  protected abstract flowBytes(geometry: CacheGeometry): number;
  protected abstract writeFlow(slab: MessageSlab, at: number, words: Int32Array, entry: number, ids: RecordIds): number;

  reports(batch: TelemetryBatch, from: number, slab: MessageSlab, ids: RecordIds): number {
    const { view } = slab;
    const rows = batch.reports;
    for (let row = from; row < rows; row++) {
      if (batch.code[row] !== 0) continue;
      if (!slab.fits(MAX_KEY_BYTES + this.reportBytes(batch, row))) return row;
      const keyEnd = putReportKey(view, slab.used, batch, row);
      const end = this.writeReport(slab, keyEnd, batch, row, ids);
      enter(slab, REPORTS, keyEnd, end, frameTimeMs(batch, batch.frame[row]!));
      ids.next++;
    }
    return rows;
  }

  events(events: EventBatch, from: number, slab: MessageSlab, ids: RecordIds): number {
    const { view } = slab;
    const { batch, count } = events;
    for (let row = from; row < count; row++) {
      if (!slab.fits(MAX_KEY_BYTES + this.eventBytes(events, row))) return row;
      const report = events.report[row]!;
      const keyEnd = putReportKey(view, slab.used, batch, report);
      const end = this.writeEvent(slab, keyEnd, events, row, ids);
      enter(slab, EVENTS, keyEnd, end, frameTimeMs(batch, batch.frame[report]!));
      ids.next++;
    }
    return count;
  }

  flows(
    words: Int32Array,
    at: number,
    records: number,
    geometry: CacheGeometry,
    from: number,
    slab: MessageSlab,
    ids: RecordIds,
  ): number {
    const { view } = slab;
    const bytes = MAX_KEY_BYTES + this.flowBytes(geometry);
    const fields = geometry.layout === 'exact' ? EXACT : COMPACT;
    for (let record = from; record < records; record++) {
      if (!slab.fits(bytes)) return record;
      const entry = at + record * geometry.bucketStride;
      const keyEnd = putFlowKey(view, slab.used, words, entry, geometry);
      const end = this.writeFlow(slab, keyEnd, words, entry, ids);
      const last = entry + fields.LAST;
      enter(slab, FLOWS, keyEnd, end, (words[last + 1]! >>> 0) * MS_PER_HIGH_WORD + (words[last]! >>> 0) / 1e6);
      ids.next++;
    }
    return records;
  }
}

function putFlowKey(view: DataView, at: number, words: Int32Array, entry: number, { layout }: CacheGeometry): number {
  const fields = layout === 'exact' ? EXACT : COMPACT;
  const meta = words[entry + fields.META]!;
  const source = entry + fields.SOURCE;
  const destination = entry + fields.DESTINATION;
  const protocol = meta & META.PROTOCOL_MASK;
  const ports = words[entry + fields.PORTS]!;
  return (meta & META.IPV6) === 0
    ? putKey4(view, at, words[source]!, words[destination]!, protocol, ports)
    : putKey6(view, at, words, source, destination, 1, protocol, ports);
}
