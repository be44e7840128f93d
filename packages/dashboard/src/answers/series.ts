import { BUCKET_MS, type EntityKey, parseEntity, SERIES_METRICS, type SeriesMetric } from '../protocol/entities.js';
import type { SeriesAnswer } from '../protocol/http.js';
import { coarsen } from '../retention/series-reader.js';
import { ApiError } from '../server/api-error.js';
import { type Asked, numberOf, type Services, type View, viewOf } from '../server/routes.js';

/** Steps of an answer, and entities. */
const MOST_STEPS = 2000;
const MOST_ENTITIES = 64;
/** The range without `from`. */
const USUAL_MS = 60_000;

/** What a request for series asks. */
export interface SeriesRequest {
  readonly metric: SeriesMetric;
  readonly entities: readonly EntityKey[];
  readonly from: number;
  readonly to: number;
  readonly stepMs: number;
}

/** Answers ranges that are older than what is retained; `null`: it has nothing. */
export type OlderSeries = (
  request: SeriesRequest,
  services: Services,
  signal: AbortSignal,
) => Promise<SeriesAnswer | null>;

/** Factor from the device's unit of a metric of an entity to the unit of the answers. */
export function factorOf(metric: SeriesMetric, key: EntityKey, { network }: View): number {
  if (metric !== 'utilization') return 1;
  const unit = network.device.unit('egressUtilization', switchOf(key));
  return unit?.base === 'ratio' ? unit.factor : 1;
}

function switchOf(key: EntityKey): number | undefined {
  const entity = parseEntity(key);
  if (entity?.kind === 'switch' || entity?.kind === 'queue') return entity.switchId;
  return entity?.kind === 'link' ? entity.from : undefined;
}

/** The unit of a metric of the first entity; `null`: a count, or nobody said. */
function seriesUnit(metric: SeriesMetric, keys: readonly EntityKey[], { network }: View): string | null {
  const id = keys[0] === undefined ? undefined : switchOf(keys[0]);
  if (metric.startsWith('latency')) return network.device.unit('hopLatency', id)?.text ?? null;
  if (metric === 'occupancy') return network.device.unit('queueOccupancy', id)?.text ?? null;
  if (metric !== 'utilization') return null;
  const unit = network.device.unit('egressUtilization', id);
  return unit === null ? null : unit.base === 'ratio' ? 'ratio' : unit.text;
}

/** Reads what a request asks. @throws ApiError */
function seriesRequest({ query }: Pick<Asked, 'query'>, nowMs: number): SeriesRequest {
  const metric = query.get('metric') as SeriesMetric;
  if (!SERIES_METRICS.includes(metric)) {
    throw new ApiError(400, 'ERR_PARAMETER', `metric must be one of ${SERIES_METRICS.join(', ')}`);
  }
  const entities = query.getAll('entity');
  if (entities.length === 0) entities.push('all');
  if (entities.length > MOST_ENTITIES) {
    throw new ApiError(400, 'ERR_TOO_MANY', `at most ${MOST_ENTITIES} entities at a time`);
  }
  for (const key of entities) {
    if (parseEntity(key) === null) throw new ApiError(400, 'ERR_PARAMETER', `no entity: ${key.slice(0, 100)}`);
  }
  const to = numberOf(query, 'to') ?? nowMs;
  const from = Math.floor((numberOf(query, 'from') ?? to - USUAL_MS) / BUCKET_MS) * BUCKET_MS;
  if (from >= to) throw new ApiError(400, 'ERR_PARAMETER', 'from must be before to');
  const least = Math.ceil((to - from) / BUCKET_MS / MOST_STEPS) * BUCKET_MS;
  const wanted = numberOf(query, 'step', { least: BUCKET_MS }) ?? least;
  const stepMs = Math.max(least, Math.round(wanted / BUCKET_MS) * BUCKET_MS);
  return { metric, entities, from, to, stepMs };
}

/** Series from what is retained. */
function seriesAnswer(view: View, { metric, entities, from, to, stepMs }: SeriesRequest): SeriesAnswer {
  const { series } = view.retention;
  const first = Math.floor(from / BUCKET_MS);
  const count = Math.ceil(to / BUCKET_MS) - first;
  const width = stepMs / BUCKET_MS;
  const unit = seriesUnit(metric, entities, view);
  const last = series.lastBucket;
  const isKnown = last !== null && first <= last && first + count > series.firstBucket;
  const rows = entities.map((key) => {
    const found = series.find(key);
    const values = new Float64Array(count).fill(Number.NaN);
    if (found !== null) series.read(found.row, metric, first, count, values);
    const steps = coarsen(metric, values, width);
    const factor = factorOf(metric, key, view);
    return {
      entity: key,
      values: Array.from(values.subarray(0, steps), (value) => (Number.isNaN(value) ? null : value * factor)),
    };
  });
  const isEmpty = rows.every(({ values }) => values.every((value) => value === null));
  return {
    metric,
    unit,
    from: first * BUCKET_MS,
    stepMs,
    series: rows,
    source: isKnown ? 'retained' : 'none',
    empty: isEmpty ? whyEmpty(view, isKnown, metric, entities) : null,
  };
}

function whyEmpty(view: View, isKnown: boolean, metric: SeriesMetric, entities: readonly EntityKey[]): string {
  const { series, nowMs, seconds } = view.retention;
  if (nowMs === null) return 'No report has arrived yet.';
  if (!isKnown) return `Only the last ${seconds} s are retained.`;
  if (entities.every((key) => series.find(key) === null)) return 'No report tells of it in the retained time.';
  if (metric.startsWith('latency') || metric === 'occupancy' || metric === 'utilization') {
    return 'No report in this range carries this number: the switches do not collect it, or were silent.';
  }
  return 'No report in this range tells of it.';
}

/** A metric of the whole network in the last minute, bucket by bucket. */
export function newestSeries(view: View, metric: SeriesMetric): SeriesAnswer {
  const to = view.retention.nowMs ?? Date.now();
  const from = Math.floor((to - USUAL_MS) / BUCKET_MS) * BUCKET_MS;
  return seriesAnswer(view, { metric, entities: ['all'], from, to, stepMs: BUCKET_MS });
}

/** Answers `GET /api/v1/series`. @param older answers ranges that are not retained */
export const seriesHandler =
  (older: OlderSeries | null) =>
  async (asked: Asked, services: Services): Promise<SeriesAnswer> => {
    const view = viewOf(asked, services);
    const request = seriesRequest(asked, view.retention.nowMs ?? Date.now());
    const answer = seriesAnswer(view, request);
    // Before the first report nothing is retained.
    const { lastBucket, firstBucket } = view.retention.series;
    const isOlder = lastBucket === null || request.from < firstBucket * BUCKET_MS;
    if (older !== null && view === services.live && isOlder && answer.empty !== null) {
      const found = await older(request, services, asked.signal);
      return found === null ? answer : { ...found, unit: answer.unit };
    }
    return answer;
  };
