import { isWithin } from '../network/topology-answer.js';
import { BUCKET_MS, SERIES_METRICS, type SeriesMetric } from '../protocol/entities.js';
import type { WorstAnswer } from '../protocol/http.js';
import { ApiError } from '../server/api-error.js';
import { type Asked, limitOf, numberOf, type View } from '../server/routes.js';
import { factorOf } from './series.js';

const KINDS = ['switch', 'queue', 'link'] as const;
/** Buckets that are looked at: ten seconds. */
const RECENT = 100;
const MOST_ROWS = 64;

/**
 * The entities of a kind with the largest values of the last ten seconds, or of those before `at`.
 * @throws ApiError for a metric or a kind that there is not
 */
export function worstAnswer({ query }: Pick<Asked, 'query'>, view: View): WorstAnswer {
  const { series } = view.retention;
  const metric = SERIES_METRICS.find((each) => each === query.get('metric')) as SeriesMetric | undefined;
  const kind = KINDS.find((each) => each === query.get('kind'));
  if (metric === undefined)
    throw new ApiError(400, 'ERR_PARAMETER', `metric must be one of ${SERIES_METRICS.join(', ')}`);
  if (kind === undefined) throw new ApiError(400, 'ERR_PARAMETER', `kind must be one of ${KINDS.join(', ')}`);
  const limit = limitOf(query, MOST_ROWS, 5);
  const at = numberOf(query, 'at');
  const newest = series.lastBucket;
  if (newest === null) return { at: null, rows: [] };
  const last = at === undefined ? newest : Math.min(newest, Math.floor(at / BUCKET_MS) - 1);
  const values = new Float64Array(RECENT);
  const rows = series.entities().flatMap(({ key, entity, row }) => {
    if (entity.kind !== kind || (entity.kind === 'link' && isWithin(entity))) return [];
    series.read(row, metric, last - RECENT + 1, RECENT, values);
    let most = Number.NaN;
    for (const value of values) if (!(value <= most) && !Number.isNaN(value)) most = value;
    return most > 0 ? [{ entity: key, value: most * factorOf(metric, key, view) }] : [];
  });
  rows.sort((a, b) => b.value - a.value || (a.entity < b.entity ? -1 : 1));
  return { at: (last + 1) * BUCKET_MS, rows: rows.slice(0, limit) };
}
