/** Kafka as a source and as a sink. */
import type { DecodeOptions } from '@int/codec';
import type { Sink, Source } from '@int/collector';
import { optionalPackage } from '../input/optional-package.js';
import type { TelemetryInput } from '../input/telemetry-input.js';
import type { SaslConfig } from './config.js';
import { bytesOf, millisecondsOf } from './quantities.js';
import type { ReadConfig } from './read-config.js';
import { made, opened, reporting, retryOf, type Tell } from './sink-parts.js';
import { readCertificates } from './tls.js';

const PACKAGE = '@int/sink-kafka';

/** Login options in the form of the client. */
function saslOf({ mechanism = 'PLAIN', username, password }: SaslConfig): Required<SaslConfig> {
  return { mechanism, username, password };
}

class KafkaInput implements TelemetryInput {
  readonly sources: readonly Source[];
  readonly decode: Omit<DecodeOptions, 'linkType'>;
  readonly isLive = true;
  readonly filtered = null;
  readonly text: string;

  constructor(source: Source, decode: Omit<DecodeOptions, 'linkType'>, text: string) {
    this.sources = [source];
    this.decode = decode;
    this.text = text;
  }

  get words(): readonly string[] {
    return [`reading ${this.text}`];
  }
}

/** @throws CliError (rejects) */
export async function kafkaInput(
  read: ReadConfig,
  index: number,
  decode: Omit<DecodeOptions, 'linkType'>,
  tell: Tell,
): Promise<TelemetryInput> {
  const config = read.config.sources[index]!.kafka!;
  const { brokers, topic = 'int.reports', group = 'int-collect', from, format, tls, sasl } = config;
  const path = ['sources', index, 'kafka'];
  const { KafkaSource } = await optionalPackage(PACKAGE, 'a kafka source', import('@int/sink-kafka'));
  const certificates = tls === undefined ? null : await readCertificates(read, tls, [...path, 'tls']);
  const source = made(
    read,
    path,
    () =>
      new KafkaSource({
        bootstrap: brokers,
        topic,
        group,
        ...reporting(`kafka ${topic}`, tell),
        ...(from !== undefined && { from }),
        ...(format !== undefined && { format }),
        ...(certificates !== null && { tls: certificates }),
        ...(sasl !== undefined && { sasl: saslOf(sasl) }),
      }),
  );
  return new KafkaInput(source, decode, `Kafka topic ${topic} as group ${group}`);
}

/** @throws CliError (rejects) */
export async function kafkaSink(read: ReadConfig, index: number, name: string, tell: Tell): Promise<Sink> {
  const config = read.config.sinks![index]!.kafka!;
  const path = ['sinks', index, 'kafka'];
  const { KafkaSink } = await optionalPackage(PACKAGE, 'a kafka sink', import('@int/sink-kafka'));
  const { brokers, records, prefix, format, compression, partitions, replicas, whenFull, spool, sasl } = config;
  const { memory, batch, linger, retry, durability } = config;
  const tls = config.tls === undefined ? null : await readCertificates(read, config.tls, [...path, 'tls']);
  return opened(
    read,
    path,
    () =>
      new KafkaSink({
        name,
        bootstrap: brokers,
        ...reporting(name, tell),
        ...(records !== undefined && { records }),
        ...(prefix !== undefined && { topics: { prefix } }),
        ...(format !== undefined && { format }),
        ...(compression !== undefined && { compression }),
        createTopics: {
          ...(partitions !== undefined && { partitions }),
          ...(replicas !== undefined && { replicas }),
        },
        ...(batch !== undefined && { batchBytes: bytesOf(batch) }),
        ...(retry !== undefined && { retry: retryOf(retry) }),
        ...(whenFull !== undefined && { whenFull }),
        ...(memory !== undefined && { memoryBytes: bytesOf(memory) }),
        ...(linger !== undefined && { lingerMs: millisecondsOf(linger) }),
        ...(durability !== undefined && { durability }),
        ...(spool !== undefined && {
          spool: {
            directory: read.path(spool.directory),
            ...(spool.limit !== undefined && { limitBytes: bytesOf(spool.limit) }),
            ...(spool.sync !== undefined && { sync: spool.sync }),
            ...(spool.commit !== undefined && { commitMs: millisecondsOf(spool.commit) }),
          },
        }),
        ...(tls !== null && { tls }),
        ...(sasl !== undefined && { sasl: saslOf(sasl) }),
      }),
  );
}
