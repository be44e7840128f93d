import { topologyAnswer } from '../network/topology-answer.js';
import { BUCKET_MS } from '../protocol/entities.js';
import type { Status } from '../protocol/http.js';
import { type Asked, numberOf, type Route, type Services, viewOf } from '../server/routes.js';
import { eventsAnswer, reportAnswer, reportsAnswer } from './events.js';
import { flowsAnswer } from './flows.js';
import { type OlderSeries, seriesHandler } from './series.js';
import { replayStatus } from './status.js';
import { worstAnswer } from './worst.js';

/** What can be asked of what is retained. */
export function retentionRoutes(older: OlderSeries | null = null): readonly Route[] {
  return [
    { method: 'GET', path: '/api/v1/status', handle: status },
    { method: 'GET', path: '/api/v1/topology', handle: topology },
    { method: 'GET', path: '/api/v1/series', handle: seriesHandler(older) },
    { method: 'GET', path: '/api/v1/worst', handle: worstAnswer },
    { method: 'GET', path: '/api/v1/flows', handle: flows },
    { method: 'GET', path: '/api/v1/events', handle: eventsAnswer },
    { method: 'GET', path: '/api/v1/reports', handle: reportsAnswer },
    { method: 'GET', path: '/api/v1/reports/:id', handle: reportAnswer },
  ];
}

function status(asked: Asked, services: Services): Status {
  const view = viewOf(asked, services);
  return view === services.live ? services.status() : replayStatus(view, services.status());
}

function topology(asked: Asked, services: Services): unknown {
  const { retention, network } = viewOf(asked, services);
  const last = retention.series.lastBucket;
  const at = numberOf(asked.query, 'at');
  const bucket = at === undefined || last === null ? last : Math.min(last, Math.floor(at / BUCKET_MS) - 1);
  return topologyAnswer(retention, network, bucket);
}

function flows(asked: Asked, services: Services): unknown {
  const { query } = asked;
  return flowsAnswer(viewOf(asked, services), {
    filter: query.get('filter') ?? '',
    sort: query.get('sort') ?? '',
    limit: numberOf(query, 'limit', { least: 1, most: 1000 }) ?? 100,
    at: numberOf(query, 'at') ?? null,
  });
}
