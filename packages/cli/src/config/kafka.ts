/** Kafka as a source and as a sink. */
import type { DecodeOptions } from '@int/codec';
import type { Sink } from '@int/collector';
import type { Topology } from '@int/network';
import type { KafkaSinkOptions } from '@int/sink-kafka';
import { given, ifGiven } from '../given.js';
import { optionalPackage } from '../input/optional-package.js';
import type { TelemetryInput } from '../input/telemetry-input.js';
import type { SaslConfig } from './config.js';
import { bytesOf, millisecondsOf } from './quantities.js';
import type { ReadConfig } from './read-config.js';
import { made, opened, reporting, retryOf, type Tell } from './sink-parts.js';
import { SpoolSink } from './spool-sink.js';
import { certificatesOf } from './tls.js';

const PACKAGE = '@int/sink-kafka';

/** Login options in the form of the client. */
const saslOf = (sasl: SaslConfig): Required<SaslConfig> => ({ mechanism: 'PLAIN', ...sasl });

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
  const certificates = await certificatesOf(read, tls, path);
  const source = made(
    read,
    path,
    () =>
      new KafkaSource({
        bootstrap: brokers,
        topic,
        group,
        ...reporting(`kafka ${topic}`, tell),
        ...given({ from, format, tls: certificates, sasl: ifGiven(sasl, saslOf) }),
      }),
  );
  const text = `Kafka topic ${topic} as group ${group}`;
  return { sources: [source], decode, isLive: true, filtered: null, text, words: [`reading ${text}`] };
}

/**
 * @param names of switches and ports, for JSON
 * @param predecessor the sink that has the spool open, and is to be closed first
 */
export async function kafkaSink(
  read: ReadConfig,
  index: number,
  name: string,
  names: Topology,
  tell: Tell,
  predecessor: Sink | null = null,
): Promise<Sink> {
  const path = ['sinks', index, 'kafka'];
  const { KafkaSink } = await optionalPackage(PACKAGE, 'a kafka sink', import('@int/sink-kafka'));
  const { brokers, prefix, partitions, replicas, batch, retry, memory, linger, spool, tls, sasl, ...same } =
    read.config.sinks![index]!.kafka!;
  const certificates = await certificatesOf(read, tls, path);
  return opened(read, path, () => {
    const options: KafkaSinkOptions = {
      ...same,
      name,
      names,
      bootstrap: brokers,
      ...reporting(name, tell),
      createTopics: given({ partitions, replicas }),
      ...given({
        topics: ifGiven(prefix, (text) => ({ prefix: text })),
        batchBytes: ifGiven(batch, bytesOf),
        retry: ifGiven(retry, retryOf),
        memoryBytes: ifGiven(memory, bytesOf),
        lingerMs: ifGiven(linger, millisecondsOf),
        spool: ifGiven(spool, ({ directory, limit, sync, commit }) => ({
          directory: read.path(directory),
          ...given({ limitBytes: ifGiven(limit, bytesOf), sync, commitMs: ifGiven(commit, millisecondsOf) }),
        })),
        tls: certificates,
        sasl: ifGiven(sasl, saslOf),
      }),
    };
    if (predecessor === null) return new KafkaSink(options);
    KafkaSink.check(options);
    return new SpoolSink(name, predecessor, () => new KafkaSink(options));
  });
}
