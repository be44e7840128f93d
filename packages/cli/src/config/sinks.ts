/** The sinks of int.yaml. */
import type { Sink } from '@int/collector';
import type { CacheGeometry, RecordConsumer } from '@int/flowcache';
import type { Topology } from '@int/network';
import { nameOf, type PrometheusConfig, type SinkConfig } from './config.js';
import { kafkaSink } from './kafka.js';
import { openSearchSink } from './opensearch.js';
import { parquetSink } from './parquet.js';
import type { ReadConfig } from './read-config.js';
import { redisSink } from './redis.js';
import type { Tell } from './sink-parts.js';

/** Longest time to close unused sinks. */
const UNUSED_MS = 1000;

export interface ConfigSinks {
  readonly sinks: readonly Sink[];
  readonly cacheEvents: RecordConsumer | null;
}

/**
 * Makes all sinks except the page for Prometheus, which pulls its values.
 * @param geometry geometry of the flow cache, if there is one
 * @param names of switches and ports
 * @throws CliError (rejects), after closing those already made
 */
export async function configSinks(
  read: ReadConfig,
  geometry: CacheGeometry | null,
  names: Topology,
  tell: Tell,
): Promise<ConfigSinks> {
  const sinks: Sink[] = [];
  let cacheEvents: RecordConsumer | null = null;
  try {
    for (const [index, sink] of (read.config.sinks ?? []).entries()) {
      const name = nameOf(sink);
      if (sink.kafka !== undefined) sinks.push(await kafkaSink(read, index, name, names, tell));
      else if (sink.parquet !== undefined) sinks.push(await parquetSink(read, index, name, names, tell));
      else if (sink.opensearch !== undefined) sinks.push(await openSearchSink(read, index, name, names, tell));
      else if (sink.redis !== undefined) {
        const redis = await redisSink(read, index, name, geometry!, tell);
        cacheEvents ??= redis.cacheEvents ?? null;
        sinks.push(redis);
      }
    }
  } catch (error) {
    await closeSinks(sinks);
    throw error;
  }
  return { sinks, cacheEvents };
}

/** Closes sinks that received no records. */
export async function closeSinks(sinks: readonly Sink[]): Promise<void> {
  await Promise.allSettled(sinks.map((sink) => sink.close?.(UNUSED_MS)));
}

export function prometheusOf({ config }: ReadConfig): PrometheusConfig | null {
  return config.sinks?.find(({ prometheus }) => prometheus !== undefined)?.prometheus ?? null;
}

export function sinkText(sink: SinkConfig): string {
  const { kafka, parquet, prometheus, opensearch, redis } = sink;
  const what = (records: readonly string[] | undefined): string => records?.join(', ') ?? 'all records';
  if (kafka !== undefined) {
    const { brokers, prefix = 'int.', format = 'protobuf', records, durability, spool } = kafka;
    const how = durability === 'spool' ? 'by way of the spool' : 'spool';
    const where = spool === undefined ? '' : `, ${how} in ${spool.directory}`;
    return `${what(records)} to Kafka topics ${prefix}* of ${brokers.join(', ')} as ${format}${where}`;
  }
  if (parquet !== undefined) return `${what(parquet.records)} to Parquet files in ${parquet.directory}`;
  if (opensearch !== undefined) {
    return `${what(opensearch.records ?? ['events', 'flows'])} to indexes ${opensearch.prefix ?? 'int-'}* of ${opensearch.nodes.join(', ')}`;
  }
  if (redis !== undefined) {
    return `${what(redis.records ?? ['flows', 'events'])} of the flow cache to Redis at ${redis.url ?? 'redis://127.0.0.1:6379'}`;
  }
  return `metrics for Prometheus on ${prometheus?.listen ?? ''}`;
}
