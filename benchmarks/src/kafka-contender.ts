/**
 * A producer of reports: `kafka-contender.js HOW BOOTSTRAP TOPIC FORMAT COMPRESSION BATCH BATCHES`. HOW: `bare`, the client alone,
 * with messages made before; `sink`, the KafkaSink, with batches of reports. Idempotent, all replicas acknowledge, one batch of
 * BATCH messages under way. Prints processor time and time per message as JSON.
 */
import type { TelemetryBatch } from '@int/codec';
import { FLOW_KEY_BYTES_IPV4 } from '@int/hash';
import { JsonEncoder, KafkaSink, type MessageFormat, MessageSlab, ProtobufEncoder, RecordIds } from '@int/sink-kafka';
import { Producer } from '@platformatic/kafka';
import { batchOf } from './kafka/reports.js';

const [how = '', bootstrap = '', topic = '', format = '', compression = '', size = '', count = ''] =
  process.argv.slice(2);
const messages = Number(size);
const batches = Number(count);
/** Different batches, so that no cache has seen all of it. */
const KINDS = 8;
/** Batches before anything is timed: the engine compiles what is used often. */
const WARM_UP = 20;

type Message = { topic: string; key: Buffer; value: Buffer; headers: Record<string, string> };

/** The same messages that the sink makes. */
function messagesOf(batch: TelemetryBatch): Message[] {
  const slab = new MessageSlab({ messages, bytes: messages * 2048 + (1 << 20) });
  const encoder = format === 'json' ? new JsonEncoder() : new ProtobufEncoder();
  encoder.reports(batch, 0, slab, new RecordIds());
  const { bytes, keyStart, keyEnd, valueStart, valueEnd } = slab;
  if (slab.count !== messages || keyEnd[0]! - keyStart[0]! !== FLOW_KEY_BYTES_IPV4) throw new Error('not all messages');
  const headers = { type: 'report', format };
  return Array.from({ length: messages }, (_, row) => ({
    topic,
    key: Buffer.from(bytes.slice(keyStart[row], keyEnd[row])),
    value: Buffer.from(bytes.slice(valueStart[row], valueEnd[row])),
    headers,
  }));
}

const kinds = Array.from({ length: KINDS }, (_, index) => batchOf(messages, index + 1));
const send = how === 'bare' ? await bare() : await sink();
for (let round = 0; round < WARM_UP; round++) await send(round);
const cpu = process.cpuUsage();
const started = performance.now();
for (let round = 0; round < batches; round++) await send(round);
const used = process.cpuUsage(cpu);
const sent = messages * batches;
const figures = {
  cpuNs: ((used.user + used.system) * 1000) / sent,
  userNs: (used.user * 1000) / sent,
  wallNs: ((performance.now() - started) * 1e6) / sent,
};
process.stdout.write(`${JSON.stringify(figures)}\n`);
process.exit(0);

async function bare(): Promise<(round: number) => Promise<void>> {
  const producer = new Producer<Buffer, Buffer, string, string>({
    clientId: 'bare',
    bootstrapBrokers: bootstrap.split(','),
    idempotent: true,
    acks: -1,
    compression: compression as 'none',
    serializers: { headerKey: Buffer.from as never, headerValue: Buffer.from as never },
  });
  const made = kinds.map(messagesOf);
  return async (round) => {
    await producer.send({ messages: made[round % KINDS]! });
  };
}

async function sink(): Promise<(round: number) => Promise<void>> {
  const own = new KafkaSink({
    bootstrap: bootstrap.split(','),
    format: format as MessageFormat,
    compression: compression as 'none',
    whenFull: 'wait',
    records: ['reports'],
    // What is counted is records.
    watermarkMs: 0,
  });
  return async (round) => {
    const batch = kinds[round % KINDS]!;
    await own.write(batch);
    await own.flush();
  };
}
