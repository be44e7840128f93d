import type { CollectorTotals } from '@int/collector';
import type { ControlAnswer } from '../protocol/control.js';
import { BUCKET_MS } from '../protocol/entities.js';
import type { Status } from '../protocol/http.js';
import type { View } from '../server/routes.js';
import type { PipelineState } from '../thread/messages.js';

export interface StatusParts extends View {
  readonly version: string;
  readonly isReadOnly: boolean;
  /** `null`: there is none. */
  readonly control: ControlAnswer | null;
  readonly facts: Readonly<Record<string, unknown>>;
  /** `null`: the collector has not told yet. */
  readonly state: PipelineState | null;
  readonly dashboard: Omit<Status['dashboard'], 'notKept'>;
}

/** Answers `GET /api/v1/status`. */
export function statusAnswer({
  retention,
  network,
  version,
  isReadOnly,
  control,
  facts,
  state,
  dashboard,
}: StatusParts): Status {
  const { series, store } = retention;
  const counts = retention.counts();
  const last = series.lastBucket;
  return {
    version,
    now: retention.nowMs,
    wallMs: Date.now(),
    readOnly: isReadOnly,
    has: {
      topology: network.topology.switches.size > 0,
      rules: facts.rules === true,
      history: facts.history !== undefined && facts.history !== null,
      replay: true,
      captures: Array.isArray(facts.captures) && facts.captures.length > 0,
      control: control !== null,
    },
    ...(control !== null && {
      control: { incidents: control.counts.incidents.open, approvals: control.counts.approvals },
    }),
    retained: {
      from: last === null ? null : series.firstBucket * BUCKET_MS,
      to: last === null ? null : (last + 1) * BUCKET_MS,
      seconds: retention.seconds,
      bytes: retention.bytes,
      budgetBytes: retention.budgetBytes,
      ...store.counts(),
    },
    totals: {
      frames: state?.totals.received ?? 0,
      reports: counts.reports,
      hops: counts.hops,
      events: counts.events,
    },
    losses: state === null ? [] : lossesOf(state.totals),
    degraded: (state?.degraded ?? []).map(({ where, name, text }) => ({ part: where, state: `${name}: ${text}` })),
    dashboard: { ...dashboard, notKept: counts.notKept },
  };
}

/** The status of a replay: what it has shown so far. All else is that of the live network. */
export function replayStatus({ retention }: View, live: Status): Status {
  const { series, store } = retention;
  const { reports, hops, events } = retention.counts();
  const last = series.lastBucket;
  return {
    ...live,
    now: retention.nowMs,
    retained: {
      from: last === null ? null : series.firstBucket * BUCKET_MS,
      to: last === null ? null : (last + 1) * BUCKET_MS,
      seconds: retention.seconds,
      bytes: retention.bytes,
      budgetBytes: retention.budgetBytes,
      ...store.counts(),
    },
    totals: { frames: reports, reports, hops, events },
  };
}

/** What was lost, from the network card on. */
function lossesOf({ kernelDropped, dropped, stages, sinks }: CollectorTotals): Status['losses'] {
  const losses: Status['losses'][number][] = [];
  const add = (stage: string, reason: string, count: number | null | undefined): void => {
    if (typeof count === 'number' && count > 0) losses.push({ stage, reason, count });
  };
  const loss = stages['report loss'];
  add('network', 'reports that did not arrive', (loss?.lost ?? 0) + (loss?.missing ?? 0));
  add('kernel', 'dropped before they were read', kernelDropped);
  for (const [reason, count] of Object.entries(dropped)) add('collector', reason, count);
  for (const [name, totals] of Object.entries(sinks)) {
    for (const [kind, counts] of Object.entries(totals)) {
      for (const [reason, count] of Object.entries(counts.dropped)) add(name, `${kind}: ${reason}`, count);
    }
  }
  return losses;
}
