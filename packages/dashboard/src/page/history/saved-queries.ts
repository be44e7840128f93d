/** A query with a name. */
export interface SavedQuery {
  readonly name: string;
  readonly sql: string;
}

const KEPT = 'int-dashboard-queries';
const MOST = 50;

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

/** Those that were saved in this browser. */
export function savedQueries(): readonly SavedQuery[] {
  try {
    const kept = JSON.parse(localStorage.getItem(KEPT) ?? '[]') as unknown;
    if (!Array.isArray(kept)) return [];
    return kept.filter((each): each is SavedQuery => typeof each?.name === 'string' && typeof each?.sql === 'string');
  } catch {
    return [];
  }
}

/** Saves a query under its first line; the oldest gives way if there are very many. @returns all of them */
export function saveQuery(sql: string): readonly SavedQuery[] {
  const name = sql.trim().split('\n')[0]!.slice(0, 60);
  if (name === '') return savedQueries();
  const all = [...savedQueries().filter((each) => each.name !== name), { name, sql }].slice(-MOST);
  try {
    localStorage.setItem(KEPT, JSON.stringify(all));
  } catch {
    // Not kept: the list is good until the page is left.
  }
  return all;
}
