import type { TelemetryBatch } from '@int/codec';
import { frameTimeMs, reportIndex } from '@int/collector/internals';
import type { EventBatch } from '@int/detect';
import type { NetworkView } from '../network/network-view.js';
import { FlowTable } from '../retention/flow-table.js';
import { geometryOf, shareRetention } from '../retention/geometry.js';
import { Retention } from '../retention/retention.js';
import { Segment } from '../retention/segment.js';
import { SeriesWriter } from '../retention/series-writer.js';
import { NO_FLOW, PLACES, WHY } from '../retention/slabs.js';
import type { View } from '../server/routes.js';

const LEAST_SECONDS = 10;
const MARGIN_SECONDS = 5;
const MEMORY_BYTES = 64 << 20;
const FLOWS = 1 << 14;

/** Reports with the events in them, that were read from elsewhere. */
export interface Part {
  readonly batch: TelemetryBatch;
  readonly events: EventBatch | null;
  /** Whether the batch only says when and what the events are about. */
  readonly isApart: boolean;
  /** Names of the rules, by the slots in the events. */
  readonly names: ReadonlyMap<number, string | null>;
}

/** What is kept of a part: all of it. @param placeOf row of a report's flow in a table of flows */
export function segmentOf({ batch, events, isApart, names }: Part, placeOf: (row: number) => number): Segment {
  const { reports } = batch;
  const why = new Uint32Array(reports).fill(isApart ? WHY.EVENT | WHY.APART : WHY.SAMPLE);
  if (!isApart && events !== null) {
    for (let event = 0; event < events.count; event++) why[events.report[event]!] = WHY.SAMPLE | WHY.EVENT;
  }
  const place = Uint32Array.from({ length: reports }, (_, row) => placeOf(row));
  const index = Uint32Array.from({ length: reports }, (_, row) =>
    batch.frameLength[batch.frame[row]!] === 0 ? 0 : reportIndex(batch, row),
  );
  return Segment.made(batch, events, { why, place, index }, names);
}

/** A range of another time, whole, in the form of what is retained: it is read by the same code. */
export class LoadedView implements View {
  readonly retention: Retention;
  readonly network: NetworkView;

  /** @param parts in the order of their times */
  constructor(parts: readonly Part[], fromMs: number, toMs: number, network: NetworkView) {
    const seconds = Math.max(LEAST_SECONDS, Math.ceil((toMs - fromMs) / 1000) + MARGIN_SECONDS);
    const shared = shareRetention(geometryOf({ seconds, memoryBytes: MEMORY_BYTES, flows: FLOWS }));
    this.retention = new Retention(shared);
    this.network = network;
    const series = new SeriesWriter(shared);
    const flows = new FlowTable(shared);
    for (const part of parts) {
      const { batch, events, isApart } = part;
      const places = new Uint32Array(batch.reports).fill(NO_FLOW);
      if (!isApart) {
        flows.hash(batch);
        for (let row = 0; row < batch.reports; row++) {
          places[row] = flows.note(batch, row, frameTimeMs(batch, batch.frame[row]!)) * PLACES;
        }
        for (let event = 0; event < (events?.count ?? 0); event++) {
          flows.noteEvents(flows.rowOf(batch, events!.report[event]!), 1);
        }
      }
      if (events !== null) series.addEvents(events);
      if (!isApart) series.add(batch);
      this.retention.store.load(segmentOf(part, (row) => places[row]!));
    }
    series.advance(toMs);
    series.finish();
  }
}
