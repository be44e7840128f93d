/** The sinks of int.yaml. */
import { isDeepStrictEqual } from 'node:util';
import type { Sink } from '@int/collector';
import type { CacheGeometry, RecordConsumer } from '@int/flowcache';
import type { DeviceProfile, Topology } from '@int/network';
import { nameOf, type PrometheusConfig, type SinkConfig } from './config.js';
import { kafkaSink } from './kafka.js';
import { openSearchSink } from './opensearch.js';
import { parquetSink } from './parquet.js';
import type { ReadConfig } from './read-config.js';
import { redisSink } from './redis.js';
import type { Tell } from './sink-parts.js';

/** Longest time to close unused sinks. */
const UNUSED_MS = 1000;

/** A sink, and what it was made from. */
export interface ConfigSink {
  readonly config: SinkConfig;
  /** The layout of the flow cache, for a sink that needs it; otherwise `null`. */
  readonly geometry: CacheGeometry | null;
  readonly names: Topology;
  /** The units of a sink that writes them beside its numbers; otherwise `null`. */
  readonly units: ReturnType<DeviceProfile['units']> | null;
  readonly sink: Sink;
}

/** The consumer of the flow cache's events among the sinks. */
export function cacheEventsOf(sinks: readonly ConfigSink[]): RecordConsumer | null {
  for (const { sink } of sinks) {
    const { cacheEvents } = sink as { readonly cacheEvents?: RecordConsumer };
    if (cacheEvents !== undefined) return cacheEvents;
  }
  return null;
}

/**
 * Makes all sinks except the page for Prometheus, which pulls its values.
 * @param geometry geometry of the flow cache, if there is one
 * @param names of switches and ports
 * @param before the sinks of the configuration so far: those that stay the same are taken over
 * @throws CliError (rejects), after closing those already made
 */
export async function configSinks(
  read: ReadConfig,
  geometry: CacheGeometry | null,
  names: Topology,
  tell: Tell,
  before: readonly ConfigSink[] = [],
): Promise<readonly ConfigSink[]> {
  const sinks: ConfigSink[] = [];
  try {
    for (const [index, config] of (read.config.sinks ?? []).entries()) {
      if (config.prometheus !== undefined) continue;
      const needed = config.redis === undefined ? null : geometry;
      const units = config.kafka === undefined ? read.device.units() : null;
      const same = before.find(
        (each) =>
          each.names === names &&
          isDeepStrictEqual(each.units, units) &&
          isDeepStrictEqual(each.config, config) &&
          isDeepStrictEqual(each.geometry, needed),
      );
      const made = async (): Promise<ConfigSink> => {
        const sink = await configSink(read, index, geometry, names, tell, spoolOwner(config, before));
        return { config, geometry: needed, names, units, sink };
      };
      sinks.push(same ?? (await made()));
    }
  } catch (error) {
    await closeSinks(newSinks(sinks, before));
    throw error;
  }
  return sinks;
}

/** The sink that has the spool of another one open; `null` if none has. */
function spoolOwner({ kafka }: SinkConfig, before: readonly ConfigSink[]): Sink | null {
  const directory = kafka?.spool?.directory;
  if (directory === undefined) return null;
  return before.find(({ config }) => config.kafka?.spool?.directory === directory)?.sink ?? null;
}

/** The sinks that were not there before. */
export function newSinks(sinks: readonly ConfigSink[], before: readonly ConfigSink[]): Sink[] {
  return sinks.filter((each) => !before.includes(each)).map(({ sink }) => sink);
}

function configSink(
  read: ReadConfig,
  index: number,
  geometry: CacheGeometry | null,
  names: Topology,
  tell: Tell,
  predecessor: Sink | null,
): Promise<Sink> {
  const config = read.config.sinks![index]!;
  const name = nameOf(config);
  if (config.kafka !== undefined) return kafkaSink(read, index, name, names, tell, predecessor);
  if (config.parquet !== undefined) return parquetSink(read, index, name, names, tell);
  if (config.opensearch !== undefined) return openSearchSink(read, index, name, names, tell);
  return redisSink(read, index, name, geometry!, names, tell);
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
    return `${what(redis.records ?? ['flows', 'events'])} to Redis at ${redis.url ?? 'redis://127.0.0.1:6379'}`;
  }
  return `metrics for Prometheus on ${prometheus?.listen ?? ''}`;
}
