/** Series of times that are no longer retained, from the history. */
import { factorOf, type SeriesRequest } from '../answers/series.js';
import { type Entity, parseEntity, type SeriesMetric } from '../protocol/entities.js';
import type { SeriesAnswer } from '../protocol/http.js';
import type { View } from '../server/routes.js';
import type { HistoryReader } from './history-reader.js';

const LIMIT_MS = 20_000;
/** Entities of one request: each is a query. */
const MOST_ENTITIES = 16;
const NS_PER_MS = 1_000_000;

/** The value of a bucket, of rows of hops. */
const OF_HOPS: Readonly<Partial<Record<SeriesMetric, string>>> = {
  latencyP50: 'quantile_disc(hopLatency, 0.5)',
  latencyP99: 'quantile_disc(hopLatency, 0.99)',
  latencyMax: 'max(hopLatency)',
  occupancy: 'max(queueOccupancy)',
  utilization: 'max(egressUtilization)',
};

/** The SQL of a series; `null`: the history does not tell. Numbers only are put into it. */
function sqlOf(metric: SeriesMetric, key: string, from: number, to: number, stepMs: number): string | null {
  const entity = parseEntity(key);
  if (entity === null) return null;
  const range = `time >= make_timestamp_ns(${ns(from)}) AND time < make_timestamp_ns(${ns(to)})`;
  const bucket = `(epoch_ns(time) - ${ns(from)}) // ${ns(stepMs)}`;
  if (entity.kind === 'other') return null;
  const place =
    entity.kind === 'switch'
      ? ` AND "nodeId" = ${entity.switchId}`
      : entity.kind === 'queue'
        ? ` AND "nodeId" = ${entity.switchId} AND "queueId" = ${entity.queue}`
        : '';
  const select = (value: string, from: string, condition = ''): string =>
    `SELECT ${bucket} AS bucket, ${value} AS value FROM ${from} WHERE ${range}${place}${condition} GROUP BY bucket ORDER BY bucket`;
  const ofHops = OF_HOPS[metric];
  if (entity.kind === 'link') {
    const value = ofHops ?? (metric === 'reports' ? 'count(*)' : null);
    return value === null ? null : select(value, passages(range), conditionOf(entity));
  }
  if (ofHops !== undefined) return select(ofHops, 'hops');
  if (metric === 'events') return entity.kind === 'queue' ? null : select('count(*)', 'events');
  if (metric === 'reports') return select('count(*)', entity.kind === 'all' ? 'reports' : 'hops');
  return entity.kind === 'all' ? select('count(*)', 'reports', ' AND dropped') : null;
}

/** Hops with the next one of their report. */
const passages = (range: string): string => `(
  SELECT *, lead("nodeId") OVER path AS "nextId", lead("l1IngressInterface") OVER path AS "nextPort"
  FROM hops WHERE ${range} WINDOW path AS (PARTITION BY id ORDER BY hop))`;

const conditionOf = ({ from, fromPort, to, toPort }: Extract<Entity, { readonly kind: 'link' }>): string =>
  ` AND "nodeId" = ${from} AND "l1EgressInterface" IS NOT DISTINCT FROM ${fromPort ?? 'NULL'}` +
  ` AND "nextId" = ${to} AND "nextPort" IS NOT DISTINCT FROM ${toPort ?? 'NULL'}`;

const ns = (ms: number): string => (BigInt(Math.round(ms)) * BigInt(NS_PER_MS)).toString();

/** @returns `null` if the history has nothing of it. @throws ApiError (rejects) if it cannot be read */
export async function olderSeries(
  reader: HistoryReader,
  request: SeriesRequest,
  view: View,
  signal: AbortSignal,
): Promise<SeriesAnswer | null> {
  const { metric, entities, from, to, stepMs } = request;
  const steps = Math.ceil((to - from) / stepMs);
  const series: { entity: string; values: (number | null)[] }[] = [];
  for (const entity of entities.slice(0, MOST_ENTITIES)) {
    const values = new Array<number | null>(steps).fill(null);
    series.push({ entity, values });
    const sql = sqlOf(metric, entity, from, to, stepMs);
    if (sql === null) continue;
    const { rows } = await reader.query(sql, { rows: steps, ms: LIMIT_MS }, signal);
    const factor = factorOf(metric, entity, view);
    for (const [bucket, value] of rows) {
      if (value !== null) values[Number(bucket)] = Number(value) * factor;
    }
  }
  if (series.every(({ values }) => values.every((value) => value === null))) return null;
  return { metric, unit: null, from, stepMs, series, source: 'history', empty: null };
}
