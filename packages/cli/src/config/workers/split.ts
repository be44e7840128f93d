/**
 * Splits a configuration with `workers` into the part of the pipeline's thread and the part of each worker.
 *
 * Detection stays in the pipeline, because its state of a switch depends on all flows. So do Parquet files, which have
 * one writer. Reports and flow entries go from the worker of their flow to brokers and servers.
 */
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { RECORD_KINDS, type RecordKind } from '@int/collector';
import type { Topology } from '@int/network';
import type { FlowsConfig, IntConfig, SinkConfig } from '../config.js';

/** Default rows of a flow cache, a power of two, as in @int/flowcache. */
const ROWS = 2 ** 19;

/** A sink restricted to the wanted kinds of records; `null` if none remain. */
function only(sink: SinkConfig, wanted: readonly RecordKind[]): SinkConfig | null {
  if (sink.kafka !== undefined) {
    const records = (sink.kafka.records ?? RECORD_KINDS).filter((kind) => wanted.includes(kind));
    return records.length === 0 ? null : { kafka: { ...sink.kafka, records } };
  }
  if (sink.opensearch !== undefined) {
    const records = (sink.opensearch.records ?? ['events', 'flows']).filter((kind) => wanted.includes(kind));
    return records.length === 0 ? null : { opensearch: { ...sink.opensearch, records } };
  }
  return sink;
}

/** Gives each owner a spool of its own. */
function withSpool(sink: SinkConfig, owner: string): SinkConfig {
  const spool = sink.kafka?.spool;
  if (sink.kafka === undefined || spool === undefined) return sink;
  return { kafka: { ...sink.kafka, spool: { ...spool, directory: join(spool.directory, owner) } } };
}

/** Whether the threads of `workers` have the sink. */
function isOfWorkers({ kafka, opensearch }: SinkConfig): boolean {
  return kafka !== undefined || opensearch !== undefined;
}

export function takesFlows({ sinks = [] }: IntConfig): boolean {
  return sinks.some(({ parquet }) => parquet !== undefined && (parquet.records ?? RECORD_KINDS).includes('flows'));
}

/** Whether the workers of one configuration are those of another one as well. */
export function isOneForWorkers(
  before: { readonly config: IntConfig },
  after: { readonly config: IntConfig },
  named: { readonly topology: Topology },
  names: { readonly topology: Topology },
): boolean {
  const [from, to] = [before.config, after.config];
  if (from.workers === undefined || to.workers === undefined) return from.workers === to.workers;
  const own = ({ sinks = [] }: IntConfig): SinkConfig[] => sinks.filter(isOfWorkers);
  const writesNames = own(to).length > 0;
  return (
    from.workers === to.workers &&
    isDeepStrictEqual(from.flows, to.flows) &&
    isDeepStrictEqual(own(from), own(to)) &&
    (to.flows === undefined || takesFlows(from) === takesFlows(to)) &&
    (!writesNames || named.topology === names.topology)
  );
}

export function pipelinePart(config: IntConfig): IntConfig {
  const { flows: _, workers: __, sinks = [], ...rest } = config;
  const own = sinks.map((sink) => (isOfWorkers(sink) ? only(withSpool(sink, 'events'), ['events']) : sink));
  return { ...rest, sinks: own.filter((sink) => sink !== null) };
}

/** The rows of one of `count` caches. */
function rowsOf({ rows = ROWS }: FlowsConfig, count: number): number {
  return Math.max(1, Math.floor(rows / 2 ** Math.ceil(Math.log2(count))));
}

export function workerPart(config: IntConfig, index: number): IntConfig {
  const { flows, topology, sinks = [], workers = 1 } = config;
  const own = sinks
    .filter(isOfWorkers)
    .map((sink) => only(withSpool(sink, `worker-${index}`), ['reports', 'flows']))
    .filter((sink) => sink !== null);
  return {
    version: config.version,
    sources: config.sources,
    sinks: own,
    ...(topology !== undefined && { topology }),
    ...(flows !== undefined && { flows: { ...flows, rows: rowsOf(flows, workers) } }),
  };
}
