import { BatchDecoder, encodeFrame, type Hop, NOT_AVAILABLE, TelemetryBatch, telemetry } from '@int/codec';
import { FrameSlab } from '@int/collector';
import { type Detector, EventBatch, KIND, NO_METRIC, SCOPES } from '@int/detect';

/** A report as a test makes it up: what its hops tell, and the number of events at each hop. */
export interface Made {
  readonly timeMs: number;
  readonly hops: readonly Hop[];
  readonly dropped: boolean;
  /** The reporter of a report without hops, or of a dropped packet. */
  readonly reporter: number;
  readonly dropQueue: number | null;
  readonly flow: number;
  /** Indexes of hops with an event. */
  readonly events: readonly number[];
}

/** A batch of reports, each a frame of its own, with its bytes. */
export function batchOf(made: readonly Made[]): TelemetryBatch {
  const frames = made.map((one) => {
    const flow = {
      source: '10.0.0.1',
      destination: `10.0.1.${one.flow & 0xff}`,
      sourcePort: 1000 + (one.flow >>> 8),
      destinationPort: 80,
    };
    const report = {
      nodeId: one.reporter,
      dropped: one.dropped,
      ...(one.dropped && { dropReason: 1, dropQueueId: one.dropQueue ?? 0 }),
    };
    return encodeFrame([telemetry({ flow, hops: one.hops, report, ...(one.hops.length === 0 && { int: null }) })]);
  });
  const bytes = frames.reduce((sum, { length }) => sum + length, 0);
  const slab = new FrameSlab({ frames: Math.max(1, made.length), bytes: Math.max(1, bytes) }, 'ethernet');
  for (const [row, frame] of frames.entries()) slab.append(frame, made[row]!.timeMs);
  const batch = new TelemetryBatch({ frames: Math.max(1, made.length) });
  new BatchDecoder({ linkType: 'ethernet' }).decode(batch, slab, 0, slab.count);
  for (const [row, { dropped, dropQueue }] of made.entries()) {
    if (batch.code[row] !== 0) throw new Error(`row ${row} is no report`);
    if (dropped && dropQueue === null) batch.drop[row] = NOT_AVAILABLE;
  }
  return batch;
}

/** The events of a batch, of one rule. @param isApart the batch is none of the stream */
export function eventsOf(batch: TelemetryBatch, made: readonly Made[], rule = 'rule', isApart = false): EventBatch {
  const count = made.reduce((sum, { events }) => sum + events.length, 0);
  const events = new EventBatch(Math.max(256, count));
  events.attach(batch, { ruleName: () => rule } as unknown as Detector, isApart);
  let at = 0;
  for (const [row, { events: hops, hops: all }] of made.entries()) {
    for (const hop of hops) {
      events.report[at] = row;
      events.rule[at] = 0;
      events.kind[at] = (NO_METRIC << KIND.METRIC_SHIFT) | (SCOPES.indexOf('hop') << KIND.SCOPE_SHIFT);
      events.hop[at] = hop;
      events.nodeId[at] = all[hop]!.nodeId ?? 0xffffffff;
      at++;
    }
  }
  events.count = at;
  return events;
}
