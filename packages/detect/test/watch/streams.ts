/** Streams of reports with their times, for watches. */
import { type Hop, ReportCopier, STATE, TelemetryBatch, type TelemetryRecord, telemetry } from '@int/codec';
import { writeRecord } from '@int/codec/internals';
import { type Detector, type Event, EventBatch } from '@int/detect';

export interface Timed {
  readonly timeNs: bigint;
  /** `null`: time passes without a report. */
  readonly record: TelemetryRecord | null;
}

export const SECOND = 1_000_000_000n;
/** A time of day with a fraction of a second. */
export const START = 1_700_000_000_250_000_000n;

export function report(hops: readonly Hop[], flow: number | null = 0, dropped = false): TelemetryRecord {
  const made = telemetry({
    flow:
      flow === null
        ? null
        : {
            source: `10.0.${flow >>> 8}.${flow & 255}`,
            destination: '10.255.0.1',
            sourcePort: 5000,
            destinationPort: 80,
          },
    hops,
    int: { mode: 'md' },
    report: dropped ? {} : null,
  });
  if (made.report !== null) made.report.dropped = dropped;
  return made;
}

/** An event and its time. */
export type Found = Event & { readonly timeNs: bigint };

function read(events: EventBatch | null): Found[] {
  if (events === null) return [];
  const all = Array.from({ length: events.count }, (_, row) => ({ ...events.event(row), timeNs: events.timeNs(row) }));
  events.clear();
  return all;
}

/** Findings of watches, report by report. */
export function byObjects(detector: Detector, stream: readonly Timed[]): Found[] {
  const single = new TelemetryBatch({ frames: 1, reports: 1, hops: 512 });
  const events = new EventBatch(512);
  const found: Found[] = [];
  for (const { timeNs, record } of stream) {
    if (record === null) detector.advance(timeNs);
    else {
      writeRecord(single, record, timeNs);
      events.clear();
      detector.detect(single, events);
    }
    found.push(...read(detector.findings()));
  }
  return found;
}

/** Findings of watches, with so many reports in a batch. */
export function byBatches(detector: Detector, stream: readonly Timed[], size: number): Found[] {
  const single = new TelemetryBatch({ frames: 1, reports: 1, hops: 512 });
  const batch = new TelemetryBatch({ frames: size, reports: size, hops: Math.max(256, size * 8) });
  const copier = new ReportCopier();
  const events = new EventBatch(512);
  const found: Found[] = [];
  const flush = (): void => {
    for (let row = 0; row < batch.reports; ) {
      events.clear();
      row = detector.detect(batch, events, row);
      found.push(...read(detector.findings()));
    }
    batch.clear();
  };
  batch.clear();
  for (const { timeNs, record } of stream) {
    if (record === null) {
      flush();
      detector.advance(timeNs);
      found.push(...read(detector.findings()));
      continue;
    }
    writeRecord(single, record, timeNs);
    // Which hop columns hold something.
    single.state[STATE.WRITTEN] = -1;
    if (batch.reports === size) flush();
    copier.appendAll(single, batch);
  }
  flush();
  return found;
}
