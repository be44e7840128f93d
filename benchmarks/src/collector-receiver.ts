/**
 * A collector up to a stage: `collector-receiver.js SOURCE PLACE TARGET STAGE`. SOURCE: `udp`, PLACE is a port; `afxdp`, PLACE is
 * an interface (driver mode). TARGET: brokers with commas, or a folder for Parquet. A line on standard input asks what has
 * been done.
 */
import { XdpSource } from '@int/afxdp/source';
import {
  Collector,
  DetectionStage,
  FlowStage,
  isDecoded,
  type Sink,
  type Source,
  type Stage,
  UdpSource,
} from '@int/collector';
import { compileRules } from '@int/detect';
import { KafkaSink, MessageSlab, ProtobufEncoder, RecordIds } from '@int/sink-kafka';
import { ParquetSink } from '@int/sink-parquet';
import { answerOnInput, ready } from './afxdp/answers.js';
import { INT_PORT, LATENCY, REPORT_PORT } from './afxdp/template.js';
import { STAGES, type StageName, stageOf } from './collector/stages.js';

const [from = '', place = '', target = '', stageArgument = ''] = process.argv.slice(2);
const stage = stageOf(stageArgument);
const reaches = (name: StageName): boolean => STAGES.indexOf(stage) >= STAGES.indexOf(name);

const decode = { reportPorts: [REPORT_PORT], intPorts: [INT_PORT], intDscp: null };
const source: Source =
  from === 'udp'
    ? new UdpSource({ address: `udp://0.0.0.0:${place}` })
    : new XdpSource({ interface: place, mode: 'driver', ports: [REPORT_PORT], decode });

/** Messages that are made and dropped. */
class MessageMaker implements Sink {
  readonly name = 'messages';
  readonly #slab = new MessageSlab({ messages: 8192, bytes: 8 << 20 });
  readonly #encoder = new ProtobufEncoder();
  readonly #ids = new RecordIds();

  write(...[batch]: Parameters<Sink['write']>): undefined {
    for (let row = 0; row < batch.reports; ) {
      this.#slab.clear();
      row = this.#encoder.reports(batch, row, this.#slab, this.#ids);
    }
    return undefined;
  }
}

const rules = compileRules({
  version: 1,
  default: 'drop',
  rules: [
    {
      name: 'latency',
      priority: 1,
      match: 'any',
      detect: { perHop: { metric: 'hopLatency', threshold: LATENCY.threshold } },
    },
  ],
});

const span = { first: -1, last: -1 };
const clock: Stage = {
  name: 'clock',
  process: () => {
    span.last = performance.now();
    if (span.first < 0) span.first = span.last;
  },
};
const stages: Stage[] = [clock];
if (reaches('detect')) stages.push(new DetectionStage(rules));
if (reaches('flows')) stages.push(new FlowStage({ rows: 1 << 14, buckets: 4 }));
const sinks: Sink[] = [];
if (stage === 'message') sinks.push(new MessageMaker());
if (stage === 'kafka') {
  sinks.push(
    new KafkaSink({
      bootstrap: target.split(','),
      format: 'protobuf',
      whenFull: 'drop',
      records: ['reports'],
      // What is counted is records.
      watermarkMs: 0,
    }),
  );
}
if (stage === 'parquet')
  sinks.push(
    await ParquetSink.open({ directory: target, whenFull: 'drop', records: ['reports'], rotate: { ageMs: 1000 } }),
  );

if (stage === 'receive') {
  let frames = 0;
  await source.start((input) => {
    frames += isDecoded(input) ? input.frames : input.count;
    span.last = performance.now();
    if (span.first < 0) span.first = span.last;
    return undefined;
  });
  answer(() => ({ frames, reports: 0, others: 0 }));
} else {
  const collector = new Collector({
    sources: [source],
    decode,
    stages,
    sinks,
    onProblem: ({ where, error }) => console.error(`${where}: ${error.message}`),
  });
  await collector.start();
  answer(() => {
    const { received, decoded, reports, dropped } = collector.totals();
    return { frames: received - dropped.overrun, reports, others: received - decoded - dropped.overrun };
  });
}
ready();

function answer(counts: () => { frames: number; reports: number; others: number }): void {
  answerOnInput(() => {
    const spanNs = Math.round((span.last - span.first) * 1e6);
    span.first = -1;
    span.last = -1;
    const sink = sinks[0]?.totals?.().reports;
    return {
      ...counts(),
      bytes: 0,
      messages: sink?.delivered ?? 0,
      messageBytes: 0,
      spanNs,
      dropped: source.kernelDropped ?? 0,
    };
  });
}
