/**
 * A configuration with `workers`, taken apart: what the thread of the pipeline does, and what each worker does.
 *
 * Detection stays with the pipeline: what it knows of a switch comes from all flows. So do the files of Parquet, which have one
 * writer. Reports and flow entries go to brokers and servers from the worker of their flow.
 */
import { join } from 'node:path';
import { RECORD_KINDS, type RecordKind } from '@int/collector';
import type { FlowsConfig, IntConfig, SinkConfig } from '../config.js';

/** Rows of a flow cache if nothing is said, in 2^n: that of @int/flowcache. */
const ROWS = 2 ** 19;

/** A sink with only some of its records; `null` if none are left. */
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

/** A spool has one owner. */
function withSpool(sink: SinkConfig, owner: string): SinkConfig {
  const spool = sink.kafka?.spool;
  if (sink.kafka === undefined || spool === undefined) return sink;
  return { kafka: { ...sink.kafka, spool: { ...spool, directory: join(spool.directory, owner) } } };
}

/** Whether a worker has this sink. */
function isWorkers({ kafka, opensearch }: SinkConfig): boolean {
  return kafka !== undefined || opensearch !== undefined;
}

/** Whether sinks of the pipeline take the flow entries of the workers. */
export function takesFlows({ sinks = [] }: IntConfig): boolean {
  return sinks.some(({ parquet }) => parquet !== undefined && (parquet.records ?? RECORD_KINDS).includes('flows'));
}

/** What the thread of the pipeline does. */
export function pipelinePart(config: IntConfig): IntConfig {
  const { flows: _, workers: __, sinks = [], ...rest } = config;
  const own = sinks.map((sink) => (isWorkers(sink) ? only(withSpool(sink, 'events'), ['events']) : sink));
  return { ...rest, sinks: own.filter((sink) => sink !== null) };
}

/** The rows that one of some caches has. */
function rowsOf({ rows = ROWS }: FlowsConfig, count: number): number {
  return Math.max(1, Math.floor(rows / 2 ** Math.ceil(Math.log2(count))));
}

/** What worker `index` does. */
export function workerPart(config: IntConfig, index: number): IntConfig {
  const { flows, sinks = [], workers = 1 } = config;
  const own = sinks
    .filter(isWorkers)
    .map((sink) => only(withSpool(sink, `worker-${index}`), ['reports', 'flows']))
    .filter((sink) => sink !== null);
  return {
    version: config.version,
    sources: config.sources,
    sinks: own,
    ...(flows !== undefined && { flows: { ...flows, rows: rowsOf(flows, workers) } }),
  };
}
