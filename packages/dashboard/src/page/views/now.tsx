import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';
import type { FlowRow, Status } from '../../client/index.js';
import type { SeriesMetric } from '../../protocol/entities.js';
import {
  bytesText,
  clockText,
  countText,
  durationText,
  exactText,
  flowFilter,
  flowText,
  latencyText,
  measureText,
  percentText,
  shortState,
} from '../format/text.js';
import { Chart } from '../parts/chart.js';
import { Empty, Panel } from '../parts/panel.js';
import { useAnswer } from '../state/answers.js';
import { client, isLive, messageOf, status, useLive } from '../state/connection.js';
import { addressOf, at, filter, replay } from '../state/location.js';
import { entityName, switchName, unitOfSeries } from '../state/network.js';

const SHOWN = 5;

export function Now() {
  const now = status.value;
  return (
    <div class="grid now">
      <Figures now={now} />
      <div class="half">
        <Panel title="Reports" note="per second">
          <Chart
            label="Reports per second"
            isRate
            height={128}
            lines={[{ metric: 'reports', entity: 'all', label: 'reports' }]}
          />
        </Panel>
      </div>
      <div class="half">
        <Panel title="Hop latency" note="all switches">
          <Chart
            label="Hop latency"
            height={128}
            lines={[
              { metric: 'latencyP50', entity: 'all', label: 'p50' },
              { metric: 'latencyP99', entity: 'all', label: 'p99' },
            ]}
          />
        </Panel>
      </div>
      <Ranking title="Worst switches" note="p99 hop latency, 10 s" kind="switch" metric="latencyP99" />
      <Ranking title="Deepest queues" note="occupancy, 10 s" kind="queue" metric="occupancy" />
      <Ranking title="Busiest links" note="utilisation, 10 s" kind="link" metric="utilization" />
      <Flows />
      {now !== null && (
        <div>
          <Noted annotations={now.annotations ?? []} isReadOnly={now.readOnly} />
        </div>
      )}
      <div>
        <Panel title="Losses" note="since the start, by stage">
          <Losses now={now} />
        </Panel>
      </div>
      <div>
        <Panel title="This dashboard">
          <Own now={now} />
        </Panel>
      </div>
    </div>
  );
}

function Figures({ now }: { readonly now: Status | null }) {
  const rates = useRates(now);
  const lost = now?.losses.reduce((sum, { count }) => sum + count, 0) ?? 0;
  const figure = (name: string, value: string, unit: ComponentChildren, tone = '') => (
    <div>
      <dt>{name}</dt>
      <dd class={tone}>
        {value} <small>{unit}</small>
      </dd>
    </div>
  );
  return (
    <dl class="figures whole">
      {figure('Reports', countText(rates?.reports), 'per second')}
      {figure('Hops', countText(rates?.hops), 'per second')}
      {figure(
        'Events',
        countText(rates?.events),
        <a href={addressOf({ view: 'events' })}>per second</a>,
        (rates?.events ?? 0) > 0 ? 'warn' : '',
      )}
      {figure(
        'Lost',
        countText(lost),
        now === null || lost === 0 ? 'nothing' : `of ${countText(now.totals.frames)} frames`,
        lost > 0 ? 'warn' : '',
      )}
      {figure(
        'Retained',
        now === null ? '–' : durationText(now.retained.seconds * 1000),
        now === null ? '' : `${countText(now.retained.reports)} reports`,
      )}
      {figure(
        'State',
        now === null ? '–' : now.degraded.length === 0 ? 'good' : shortState(now.degraded[0]!.state),
        now?.degraded[0]?.part ?? '',
        (now?.degraded.length ?? 0) > 0 ? 'warn' : 'good',
      )}
    </dl>
  );
}

interface Rates {
  readonly reports: number;
  readonly hops: number;
  readonly events: number;
}

/** Statuses over which rates are counted: the counters of the pipeline come once a second, not always in step. */
const RATE_STATUSES = 4;

/** Rates over the last statuses. */
function useRates(now: Status | null): Rates | null {
  const held = useRef<Status[]>([]);
  if (now === null) return null;
  const known = held.current;
  const last = known.at(-1);
  if (last !== undefined && now.totals.reports < last.totals.reports) known.length = 0;
  if (last !== now) known.push(now);
  if (known.length > RATE_STATUSES) known.shift();
  const first = known[0]!;
  const seconds = (now.wallMs - first.wallMs) / 1000;
  if (seconds < 0.5) return null;
  const rate = (name: keyof Rates): number => (now.totals[name] - first.totals[name]) / seconds;
  return { reports: rate('reports'), hops: rate('hops'), events: rate('events') };
}

/** The largest of the last ten seconds, each second anew. */
function Ranking({
  title,
  note,
  kind,
  metric,
}: {
  readonly title: string;
  readonly note: string;
  readonly kind: 'switch' | 'queue' | 'link';
  readonly metric: SeriesMetric;
}) {
  const stopped = at.value;
  const { data, error } = useAnswer(
    `${kind} ${metric} ${stopped} ${replay.value}`,
    (signal) => client.worst({ metric, kind, limit: SHOWN, at: stopped ?? undefined }, { signal }),
    stopped === null ? 1000 : null,
  );
  const shown = (data?.rows ?? []).map(({ entity, value }) => ({ key: entity, value }));
  const most = shown[0]?.value ?? 1;
  return (
    <div>
      <Panel title={title} note={note} isFlush error={error}>
        {shown.length === 0 ? (
          <Empty>
            {`No report of these ten seconds tells ${MEASURED[metric] ?? 'this'}: the switches may not be asked for it, or all of it is 0.`}
          </Empty>
        ) : (
          <table class="bars">
            <tbody>
              {shown.map(({ key, value }) => (
                <tr key={key}>
                  <td class="cut">
                    <a href={addressOf({ view: 'series', rest: { metric, entities: key } })}>{entityName(key)}</a>
                  </td>
                  <td>
                    <span class="meter">
                      <i style={{ width: `${Math.max(2, (100 * value) / (metric === 'utilization' ? 1 : most))}%` }} />
                    </span>
                  </td>
                  <td class="num">
                    {metric === 'utilization' ? percentText(value) : measureText(value, unitOfSeries(metric, key))}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </Panel>
    </div>
  );
}

const MEASURED: Partial<Record<SeriesMetric, string>> = {
  latencyP99: 'a hop latency',
  occupancy: 'a queue occupancy',
  utilization: 'the utilisation of a link',
};

/** Flows that take longest, and their paths. */
function Flows() {
  const [rows, setRows] = useState<readonly FlowRow[] | null>(null);
  const [empty, setEmpty] = useState<string | null>(null);
  useLive(
    isLive.value ? { type: 'flows', filter: filter.value, sort: '-pathLatencyNs', limit: SHOWN } : null,
    (message) => {
      if (message.type !== 'flows') return;
      setRows(message.data.rows);
      setEmpty(message.data.empty);
    },
  );
  const stopped = at.value;
  const asked = useAnswer(
    `${stopped} ${filter.value}`,
    stopped === null
      ? null
      : (signal) =>
          client.flows({ filter: filter.value, sort: '-pathLatencyNs', limit: SHOWN, at: stopped }, { signal }),
  );
  const shown = stopped === null ? rows : (asked.data?.rows ?? null);
  const why = stopped === null ? empty : (asked.data?.empty ?? asked.error);
  return (
    <div>
      <Panel title="Slowest flows" note="sum of the hop latencies" isFlush>
        {shown === null || shown.length === 0 ? (
          <Empty>{why ?? 'Waiting for the first flows.'}</Empty>
        ) : (
          <table>
            <tbody>
              {shown.slice(0, SHOWN).map((row) => (
                <tr key={row.id}>
                  <td class="cut flow">
                    <a href={addressOf({ view: 'table', filter: flowFilter(row) })} title={flowText(row)}>
                      {flowText(row)}
                    </a>
                    <div class="dim cut">{row.path.map(switchName).join(' › ')}</div>
                  </td>
                  <td class="num">{latencyText(row.pathLatencyNs)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </Panel>
    </div>
  );
}

/** Notes that are shown. */
const NOTED_SHOWN = 6;

interface NotedProps {
  readonly annotations: NonNullable<Status['annotations']>;
  readonly isReadOnly: boolean;
}

/** What people and programs have noted; a click leads to the events of that time. */
function Noted({ annotations, isReadOnly }: NotedProps) {
  const [text, setText] = useState('');
  const [error, setError] = useState<string | null>(null);
  const note = async (): Promise<void> => {
    setError(null);
    try {
      await client.annotate({ text, ...(at.value !== null && { timeMs: at.value }) });
      setText('');
    } catch (reason) {
      setError(messageOf(reason));
    }
  };
  return (
    <Panel title="What happened" note="as noted, newest first" error={error}>
      {annotations.length === 0 ? (
        <Empty>Nothing is noted: deployments and faults made on purpose are worth a note.</Empty>
      ) : (
        <ul class="notes">
          {annotations.slice(0, NOTED_SHOWN).map(({ id, timeMs, durationMs, text: said }) => (
            <li key={id}>
              <a href={addressOf({ view: 'events', at: timeMs + durationMs })}>{clockText(timeMs, 0)}</a> {said}
            </li>
          ))}
        </ul>
      )}
      {!isReadOnly && (
        <form
          class="row"
          onSubmit={(event) => {
            event.preventDefault();
            if (text.trim() !== '') void note();
          }}
        >
          <input
            aria-label="Note"
            class="grow"
            maxLength={300}
            placeholder={at.value === null ? 'what happens now' : 'what happened at this time'}
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
          <button type="submit" disabled={text.trim() === ''}>
            Note
          </button>
        </form>
      )}
    </Panel>
  );
}

function Losses({ now }: { readonly now: Status | null }) {
  if (now === null) return <Empty>Waiting for the collector.</Empty>;
  if (now.losses.length === 0)
    return <Empty>Nothing was lost: every frame of {exactText(now.totals.frames)} is accounted for.</Empty>;
  return (
    <dl class="facts">
      {now.losses.flatMap(({ stage, reason, count }) => [
        <dt key={`${stage} ${reason}`}>
          {stage}: {reason}
        </dt>,
        <dd key={`${stage} ${reason} count`} class="warn">
          {exactText(count)}
        </dd>,
      ])}
    </dl>
  );
}

/** What is not retained, or not whole: see `Status.dashboard.notKept`. */
const NOT_KEPT: Readonly<Record<string, string>> = {
  reportsWhileBehind: 'reports counted, not kept whole: it was behind',
  eventsWhileBehind: 'events counted, not kept: it was behind',
  eventsForMemory: 'events forgotten early, for memory',
  eventsAheadOfSeries: 'events in no series: too many of a time to come',
  eventsBeforeSeries: 'events in no series: of a time no longer retained',
  sampleForMemory: 'reports of the sample given up, for memory',
  flows: 'reports of flows beyond the table',
  switches: 'hops of switches without series of their own',
  queues: 'hops of queues without series of their own',
  links: 'hops of links without series of their own',
  lateQuantiles: 'late reports, counted but in no quantile',
  timeSetBack: 'reports from before time was set back',
};

function Own({ now }: { readonly now: Status | null }) {
  if (now === null) return <Empty>Waiting for the collector.</Empty>;
  const { dashboard, retained } = now;
  const facts: readonly (readonly [string, string])[] = [
    ['viewers', countText(dashboard.viewers)],
    ['frames sent', exactText(dashboard.framesSent)],
    ['frames skipped, viewers behind', exactText(dashboard.framesSkipped)],
    ['age of the newest value', durationText(dashboard.lagMs)],
    ['memory', `${bytesText(retained.bytes)} of ${bytesText(retained.budgetBytes)}`],
    ...Object.entries(dashboard.notKept).map(
      ([reason, count]) => [NOT_KEPT[reason] ?? `not kept: ${reason}`, exactText(count)] as const,
    ),
    ...Object.entries(dashboard.refused).map(([reason, count]) => [`refused: ${reason}`, exactText(count)] as const),
  ];
  return (
    <dl class="facts">
      {facts.flatMap(([name, value]) => [<dt key={name}>{name}</dt>, <dd key={`${name} value`}>{value}</dd>])}
    </dl>
  );
}
