import type { SavedQuery } from '../../client/index.js';

/** Questions that every history can answer. */
export const SAVED: readonly SavedQuery[] = [
  {
    name: 'hop latency by switch',
    sql: 'select nodeId, count(*) as hops, round(avg(hopLatency)) as mean, max(hopLatency) as most\nfrom hops group by nodeId order by most desc',
  },
  {
    name: 'events by rule',
    sql: 'select rule, count(*) as events, min(time) as first, max(time) as last\nfrom events group by rule order by events desc',
  },
  {
    name: 'reports per second',
    sql: "select epoch_ms(date_trunc('second', time)) as ms, count(*) as reports\nfrom reports group by ms order by ms",
  },
  {
    name: 'deepest queues',
    sql: 'select nodeId, queueId, max(queueOccupancy) as deepest\nfrom hops where queueOccupancy is not null group by nodeId, queueId order by deepest desc limit 30',
  },
];

/** The name under which a query is saved: its first line. */
export const nameOf = (sql: string): string => sql.trim().split('\n')[0]!.trim().slice(0, 60);
