import { topologyAnswer } from '../network/topology-answer.js';
import { isOlder, type Older, type OlderTimes } from '../older/older-times.js';
import { BUCKET_MS } from '../protocol/entities.js';
import type { FlowsAnswer, Status, TopologyAnswer, WorstAnswer } from '../protocol/http.js';
import { type Asked, limitOf, numberOf, type Route, type Services, viewOf } from '../server/routes.js';
import { eventsHandler, reportHandler, reportsHandler } from './events.js';
import { flowsAnswer } from './flows.js';
import { seriesHandler } from './series.js';
import { replayStatus } from './status.js';
import { worstAnswer } from './worst.js';

/** What can be asked of what is retained, and of older times. */
export function retentionRoutes(older: OlderTimes): readonly Route[] {
  return [
    { method: 'GET', path: '/api/v1/status', handle: status },
    { method: 'GET', path: '/api/v1/topology', handle: (...asked) => topology(older, ...asked) },
    { method: 'GET', path: '/api/v1/series', handle: seriesHandler(older.series) },
    { method: 'GET', path: '/api/v1/worst', handle: (...asked) => worst(older, ...asked) },
    { method: 'GET', path: '/api/v1/flows', handle: (...asked) => flows(older, ...asked) },
    { method: 'GET', path: '/api/v1/events', handle: eventsHandler(older) },
    { method: 'GET', path: '/api/v1/reports', handle: reportsHandler(older) },
    { method: 'GET', path: '/api/v1/reports/:id', handle: reportHandler(older) },
  ];
}

function status(asked: Asked, services: Services): Status {
  const view = viewOf(asked, services);
  return view === services.live ? services.status() : replayStatus(view, services.status());
}

/** What tells of the time `at` of a request, if that is no longer retained; else `null`. */
async function olderOf(older: OlderTimes, asked: Asked, services: Services): Promise<Older | null> {
  const at = numberOf(asked.query, 'at');
  const isLive = viewOf(asked, services) === services.live;
  if (at === undefined || !isLive || !isOlder(at, services.live.retention)) return null;
  return older.at(at, services, asked.signal);
}

/** What an answer from the history says besides. */
const ofHistory = ({ share, empty }: Older): Pick<FlowsAnswer, 'source' | 'share' | 'empty'> => ({
  source: 'history',
  share,
  empty,
});

async function topology(older: OlderTimes, asked: Asked, services: Services): Promise<TopologyAnswer> {
  const { query } = asked;
  const past = await olderOf(older, asked, services);
  const { retention, network } = past?.view ?? viewOf(asked, services);
  const last = retention.series.lastBucket;
  const at = numberOf(query, 'at');
  const bucket = at === undefined || last === null ? last : Math.min(last, Math.floor(at / BUCKET_MS) - 1);
  const answer = topologyAnswer(retention, network, bucket);
  if (past === null) return answer;
  // Of a part of the reports, rates are those of all.
  const links = answer.links.map((link) => ({
    ...link,
    reportsPerSecond: Math.round(link.reportsPerSecond / past.share),
  }));
  return { ...answer, links, at: at ?? null, ...ofHistory(past) };
}

async function worst(older: OlderTimes, asked: Asked, services: Services): Promise<WorstAnswer> {
  const past = await olderOf(older, asked, services);
  return worstAnswer(asked, past?.view ?? viewOf(asked, services));
}

async function flows(older: OlderTimes, asked: Asked, services: Services): Promise<FlowsAnswer> {
  const { query } = asked;
  const request = {
    filter: query.get('filter') ?? '',
    sort: query.get('sort') ?? '',
    limit: limitOf(query, 1000, 100),
    at: numberOf(query, 'at') ?? null,
  };
  const past = await olderOf(older, asked, services);
  const answer = flowsAnswer(past?.view ?? viewOf(asked, services), request);
  if (past === null) return answer;
  return { ...answer, at: request.at, ...ofHistory(past), empty: past.empty ?? answer.empty };
}
