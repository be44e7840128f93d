/** Sends a made-up metadata item through everything that shows items, and prints what it finds. Bundled by made-up.test.ts. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BatchDecoder, decodeReport, encodeReport, FIELDS, recordToJson, TelemetryBatch, telemetry } from '@int/codec';
import { Collector, FrameSlab, RecordIds, reportRecord, SwitchTotals, UdpSource } from '@int/collector';
import { Detector } from '@int/detect';
import { readRules } from '@int/detect/yaml';
import { PipelineMetrics } from '@int/metrics';
import { History, ParquetSink } from '@int/sink-parquet';

const metadata = { hopLatency: 700 };
// Its name is in no type of this build.
const hop = { nodeId: 1, hopLatency: 700, madeUp: 4711 };
const frame = encodeReport(
  telemetry({
    flow: { source: '10.0.1.1', destination: '10.0.2.2', sourcePort: 5000, destinationPort: 80 },
    hops: [hop],
    report: { nodeId: 1, metadata },
  }),
);
const decoded = decodeReport(frame).records[0]!;

const frames = new FrameSlab({ frames: 1, bytes: frame.length }, 'report');
frames.append(frame, 1_700_000_000_000);
const batch = new TelemetryBatch({ frames: 1 });
new BatchDecoder({ linkType: 'report' }).decode(batch, frames);

const switches = new SwitchTotals();
const collector = new Collector({ sources: [new UdpSource({ address: 'udp://127.0.0.1:0' })], stages: [switches] });
switches.process(batch);
const page = await new PipelineMetrics({ collector, switches, process: false }).text();

const detector = new Detector(
  readRules(`
version: 1
rules:
  - { name: made-up, priority: 1, match: any, detect: { threshold: { metric: madeUp, threshold: 4000, scope: hop } } }
`),
);

const directory = await mkdtemp(join(tmpdir(), 'int-made-up-'));
const sink = await ParquetSink.open({ directory });
await sink.write(batch);
await sink.close();
const history = await History.open({ directory });
const rows = await history.rows('SELECT madeUp FROM hops WHERE NOT own');
history.close();
await rm(directory, { recursive: true });

console.log(
  JSON.stringify({
    json: recordToJson(decoded).hops[0],
    record: reportRecord(batch, 0, new RecordIds().text(0)).hops[0],
    page: page.split('\n').filter((line) => line.includes('madeUp')),
    events: detector.observe(decoded).map(({ rule, value }) => ({ rule, value })),
    rows,
    fields: FIELDS.length,
  }),
);
