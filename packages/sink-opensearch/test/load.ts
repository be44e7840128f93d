import { BatchDecoder, encodeReport, TelemetryBatch, telemetry } from '@int/codec';
import type { SourceFrames } from '@int/collector';
import { Detector, EventBatch } from '@int/detect';
import { readRules } from '@int/detect/yaml';
import { type CacheGeometry, EXACT, geometryOf, META, REASON } from '@int/flowcache';
import type { OpenSearchSink } from '@int/sink-opensearch';

/** 2026-11-21 12:00:00 UTC. */
export const NOON_NS = 1_795_262_400_000_000_000n;

const FLOW = { source: '10.0.1.1', destination: '10.0.2.2', protocol: 17, sourcePort: 40_000, destinationPort: 80 };

function report(number: number): Uint8Array {
  const hops = [{ nodeId: 7, hopLatency: number, queueId: 3, queueOccupancy: 15 }];
  const report = { hwId: 1, sequence: number, nodeId: 9, metadata: { hopLatency: 100 } };
  return encodeReport(telemetry({ flow: FLOW, hops, report }));
}

/** Frames as a source has them: one report each, whose sequence number and hop latency at switch 7 is its number. */
export function framesOf(from: number, count: number, timeNs: bigint = NOON_NS): SourceFrames {
  const payloads = Array.from({ length: count }, (_, k) => report(from + k));
  const lengths = Uint32Array.from(payloads, ({ length }) => length);
  const offsets = new Uint32Array(count);
  for (let row = 1; row < count; row++) offsets[row] = offsets[row - 1]! + lengths[row - 1]!;
  return {
    linkType: 'report',
    bytes: Buffer.concat(payloads),
    offsets,
    lengths,
    timestampsHigh: new Uint32Array(count).fill(Number(timeNs >> 32n)),
    timestampsLow: new Uint32Array(count).fill(Number(timeNs & 0xffff_ffffn)),
    count,
  };
}

/** Frames decoded. */
export function decoded(frames: SourceFrames): TelemetryBatch {
  const batch = new TelemetryBatch({ frames: Math.max(1, frames.count) });
  new BatchDecoder({ linkType: 'report' }).decode(batch, frames);
  return batch;
}

/** Gives a sink reports. */
export function writeReports(
  sink: OpenSearchSink,
  from: number,
  count: number,
  timeNs?: bigint,
): Promise<void> | undefined {
  return sink.write(decoded(framesOf(from, count, timeNs)));
}

/** Gives a sink events: each report's hop latency, which is its number, is above the threshold of 0. */
export function writeEvents(
  sink: OpenSearchSink,
  from: number,
  count: number,
  timeNs?: bigint,
): Promise<void> | undefined {
  const detector = new Detector(
    readRules(`
version: 1
units: { hopLatency: ns }
rules:
  - { name: any, priority: 1, match: any, detect: { threshold: { metric: hopLatency, threshold: 100, scope: hop } } }
`),
  );
  const events = new EventBatch();
  detector.detect(decoded(framesOf(from, count, timeNs)), events);
  return sink.writeEvents(events);
}

const GEOMETRY: CacheGeometry = /* @__PURE__ */ geometryOf({ rows: 1, hops: 1, metrics: ['hopLatency'] });

/** Gives a sink entries of a flow cache: each has as many packets as its number says. */
export function writeFlows(
  sink: OpenSearchSink,
  from: number,
  count: number,
  timeNs: bigint = NOON_NS,
): Promise<void> | undefined {
  const words = new Int32Array(GEOMETRY.bucketStride * count);
  for (let k = 0; k < count; k++) {
    const at = k * GEOMETRY.bucketStride;
    words[at + EXACT.SOURCE] = 0x0a00_0101;
    words[at + EXACT.DESTINATION] = 0x0a00_0202;
    words[at + EXACT.META] =
      6 | (1 << META.SEEN_SHIFT) | (1 << META.LENGTH_SHIFT) | (REASON.EVICTED << META.REASON_SHIFT);
    words[at + EXACT.PACKETS] = from + k;
    const time = [Number(timeNs & 0xffff_ffffn) | 0, Number(timeNs >> 32n) | 0];
    words.set(time, at + EXACT.FIRST);
    words.set(time, at + EXACT.LAST);
    words.set([7, 1000, 2, 3000, 0], at + GEOMETRY.hopsAt);
  }
  return sink.writeFlows(words, 0, count, GEOMETRY);
}
