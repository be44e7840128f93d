/** Messages of generated reports in a topic, and collectors that read them. */
import { BatchDecoder, TelemetryBatch } from '@int/codec';
import { Collector, FrameSlab, RecordIds, type ReportRecord, reportRecord, type Sink } from '@int/collector';
import {
  KafkaSource,
  type KafkaSourceOptions,
  type MessageFormat,
  MessageSlab,
  MIN_SLAB_BYTES,
  makeEncoder,
} from '@int/sink-kafka';
import { ReportStream } from '@int/traffic';
import { Admin, Producer } from '@platformatic/kafka';
import { until as untilInTime } from '../../../../.ci/test/until.js';
import { newName } from '../topic.js';

const PARTITIONS = 3;
/** Reports that {@link messages} makes. */
export const REPORTS = 600;

export interface Written {
  readonly slab: MessageSlab;
  /** The records by id, less the id. */
  readonly records: ReadonlyMap<string, ReportRecord>;
}

/** Messages of generated reports. */
export function messages(format: MessageFormat, seed: number): Written {
  const stream = new ReportStream({ topology: 'leaf-spine:4x2', flows: 64, seed });
  const bytes = new Uint8Array(512 * 1024);
  const offsets = new Uint32Array(REPORTS);
  const lengths = new Uint32Array(REPORTS);
  stream.fill(bytes, offsets, lengths);
  const batch = new TelemetryBatch({ frames: REPORTS });
  const frames = new FrameSlab({ frames: REPORTS, bytes: bytes.length }, 'report');
  for (let row = 0; row < REPORTS; row++) {
    frames.append(bytes.subarray(offsets[row]!, offsets[row]! + lengths[row]!), 1_700_000_000_000 + row);
  }
  new BatchDecoder({ linkType: 'report' }).decode(batch, frames);
  const slab = new MessageSlab({ messages: REPORTS, bytes: 8 * MIN_SLAB_BYTES });
  const ids = new RecordIds();
  makeEncoder(format).reports(batch, 0, slab, ids);
  const records = new Map<string, ReportRecord>();
  for (let row = 0; row < batch.reports; row++) {
    const id = ids.text(row);
    records.set(id, reportRecord(batch, row, id));
  }
  if (slab.count !== REPORTS) throw new Error(`only ${slab.count} messages`);
  return { slab, records };
}

export async function makeTopic(bootstrap: readonly string[]): Promise<string> {
  const topic = newName('reports');
  const admin = new Admin({ clientId: 'test', bootstrapBrokers: [...bootstrap], timeout: 20_000 });
  await admin.createTopics({ topics: [topic], partitions: PARTITIONS, replicas: 1 });
  await admin.close();
  return topic;
}

/** Sends the messages of a slab from row `from` on, to the partitions that their hashes name. */
export async function send(bootstrap: readonly string[], topic: string, slab: MessageSlab, from = 0, to = slab.count) {
  const producer = new Producer({ clientId: 'test', bootstrapBrokers: [...bootstrap], timeout: 20_000 });
  for (let row = from; row < to; row += 200) {
    const some = Array.from({ length: Math.min(200, to - row) }, (_, index) => row + index);
    await producer.send({
      messages: some.map((at) => ({
        topic,
        key: Buffer.from(slab.key(at)),
        value: Buffer.from(slab.value(at)),
        partition: slab.partitionHash[at]! % PARTITIONS,
      })),
    });
  }
  await producer.close();
}

/** Keeps what it is given. */
export class Keeper implements Sink {
  readonly name = 'keeper';
  readonly kept: ReportRecord[] = [];

  write(batch: TelemetryBatch): undefined {
    for (let row = 0; row < batch.reports; row++) {
      if (batch.code[row] !== 0) continue;
      this.kept.push(reportRecord(batch, row, ''));
    }
  }
}

export interface Reading {
  readonly keeper: Keeper;
  readonly source: KafkaSource;
  readonly collector: Collector;
}

export async function read(options: KafkaSourceOptions): Promise<Reading> {
  const source = new KafkaSource(options);
  const keeper = new Keeper();
  const collector = new Collector({ sources: [source], sinks: [keeper] });
  await collector.start();
  return { keeper, source, collector };
}

/** Waits until something is so, and if it is not, shows what is. A group takes its time to share its partitions. */
export async function until(isSo: () => boolean, found: () => unknown = isSo): Promise<void> {
  await untilInTime(String(isSo), isSo, { withinMs: 60_000, everyMs: 20, found });
}

/** Records without their ids, in an order that does not depend on partitions. */
export function sorted(records: Iterable<ReportRecord>): string[] {
  return [...records].map((record) => JSON.stringify({ ...record, id: '' })).sort();
}
