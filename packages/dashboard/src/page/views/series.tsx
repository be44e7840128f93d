import { useState } from 'preact/hooks';
import type { EntityKey } from '../../client/index.js';
import { parseEntity, SERIES_METRICS, type SeriesMetric } from '../../protocol/entities.js';
import { durationText } from '../format/text.js';
import { Chart } from '../parts/chart.js';
import { Empty, Panel } from '../parts/panel.js';
import { useAnswer } from '../state/answers.js';
import { client } from '../state/connection.js';
import { useKeys } from '../state/keyboard.js';
import { at, keep, kept } from '../state/location.js';
import { entitiesOf, entityName } from '../state/network.js';

const NAMES: Readonly<Record<SeriesMetric, string>> = {
  reports: 'Reports',
  latencyP50: 'Hop latency, p50',
  latencyP99: 'Hop latency, p99',
  latencyMax: 'Hop latency, highest',
  occupancy: 'Queue occupancy',
  utilization: 'Utilisation',
  drops: 'Drops',
  events: 'Events',
};
const RATES: readonly SeriesMetric[] = ['reports', 'drops', 'events'];
const KINDS = ['switch', 'queue', 'link'] as const;
/** Lines of a chart at most, of which the five largest are drawn: of more, the largest of the last ten seconds are asked for. */
const MOST = 64;
const WORST_MS = 10_000;
const COMPARE = [0, 60, 300, 3600, 86_400, 604_800] as const;

const metricOf = (text: string, otherwise: SeriesMetric): SeriesMetric =>
  SERIES_METRICS.find((metric) => metric === text) ?? otherwise;

/** Entities that the address names; `every-switch` stands for all of a kind, or for the largest if there are very many. */
function useChosen(metric: SeriesMetric): { readonly names: readonly string[]; readonly keys: readonly EntityKey[] } {
  const text = kept('entities');
  const names = text === '' ? ['all'] : text.split(',');
  const crowd = KINDS.find((kind) => names.includes(`every-${kind}`) && entitiesOf(kind).length > MOST) ?? null;
  const worst = useAnswer(
    `${crowd} ${metric} ${at.value}`,
    crowd === null
      ? null
      : (signal) => client.worst({ metric, kind: crowd, limit: 6, at: at.value ?? undefined }, { signal }),
    at.value === null ? WORST_MS : null,
  );
  const keys = names.flatMap((name) => {
    const kind = KINDS.find((each) => name === `every-${each}`);
    if (kind !== undefined && kind === crowd) return (worst.data?.rows ?? []).map(({ entity }) => entity).sort();
    return kind !== undefined ? entitiesOf(kind) : parseEntity(name) === null ? [] : [name];
  });
  return { names, keys: [...new Set(keys)].slice(0, MOST) };
}

export function SeriesView() {
  const metric = metricOf(kept('metric'), 'latencyP99');
  const second = kept('second') === 'none' ? null : metricOf(kept('second'), 'occupancy');
  const compare = Number(kept('compare')) || 0;
  const { names, keys } = useChosen(metric);
  const step = (by: number): void => {
    const index = SERIES_METRICS.indexOf(metric);
    keep({ metric: SERIES_METRICS[(index + by + SERIES_METRICS.length) % SERIES_METRICS.length]! });
  };
  useKeys([
    { key: 'm', text: 'next metric', run: () => step(1) },
    { key: 'M', text: 'metric before', run: () => step(-1) },
    { key: 'a', text: 'the whole network', run: () => keep({ entities: '' }) },
    { key: 'w', text: 'every switch: the five worst and the rest', run: () => keep({ entities: 'every-switch' }) },
    { key: 'b', text: 'compare with earlier', run: () => keep({ compare: compare === 0 ? '60' : '' }) },
  ]);
  return (
    <div class="split series">
      <Chooser names={names} />
      <div class="side">
        <One
          name="metric"
          metric={metric}
          keys={keys}
          compare={compare}
          height={300}
          tools={
            <label class="row">
              <span class="dim">compare with</span>
              <select value={String(compare)} onChange={(event) => keep({ compare: event.currentTarget.value })}>
                {COMPARE.map((seconds) => (
                  <option key={seconds} value={String(seconds)}>
                    {seconds === 0 ? 'nothing' : `${durationText(seconds * 1000)} earlier`}
                  </option>
                ))}
              </select>
            </label>
          }
        />
        {second === null ? (
          <button type="button" onClick={() => keep({ second: '' })}>
            A second chart
          </button>
        ) : (
          <One
            name="second"
            metric={second}
            keys={keys}
            compare={compare}
            height={170}
            tools={
              <button type="button" onClick={() => keep({ second: 'none' })}>
                Close
              </button>
            }
          />
        )}
      </div>
    </div>
  );
}

interface OneProps {
  /** Under which the address keeps the metric. */
  readonly name: string;
  readonly metric: SeriesMetric;
  readonly keys: readonly EntityKey[];
  readonly compare: number;
  readonly height: number;
  readonly tools: preact.ComponentChildren;
}

function One({ name, metric, keys, compare, height, tools }: OneProps) {
  const isRate = RATES.includes(metric);
  return (
    <Panel
      title={NAMES[metric]}
      note={isRate ? 'per second' : undefined}
      tools={
        <>
          <select aria-label="Metric" value={metric} onChange={(event) => keep({ [name]: event.currentTarget.value })}>
            {SERIES_METRICS.map((each) => (
              <option key={each} value={each}>
                {NAMES[each]}
              </option>
            ))}
          </select>
          {tools}
        </>
      }
    >
      {keys.length === 0 ? (
        <Empty>None of the chosen switches, queues and links is known. Choose others at the left.</Empty>
      ) : (
        <Chart
          label={NAMES[metric]}
          height={height}
          isRate={isRate}
          compareMs={compare * 1000}
          lines={keys.map((entity) => ({ metric, entity, label: entityName(entity) }))}
        />
      )}
    </Panel>
  );
}

const MOST_LISTED = 300;

/** What the charts show: the whole network, all of a kind, or single switches, queues and links. */
function Chooser({ names }: { readonly names: readonly string[] }) {
  const [kind, setKind] = useState<(typeof KINDS)[number]>('switch');
  const [part, setPart] = useState('');
  const toggle = (name: string): void => {
    const others = names.filter((each) => each !== name && each !== 'all');
    keep({ entities: names.includes(name) ? others.join(',') : [...others, name].join(',') });
  };
  const wanted = part.toLowerCase();
  const all = entitiesOf(kind);
  const listed = all.filter((key) => entityName(key).toLowerCase().includes(wanted));
  const check = (name: string, text: string) => (
    <li key={name}>
      <label class="row">
        <input type="checkbox" checked={names.includes(name)} onChange={() => toggle(name)} />
        <span class="cut">{text}</span>
      </label>
    </li>
  );
  return (
    <Panel title="Of what" isFlush>
      <div class="chooser">
        <ul>
          <li>
            <label class="row">
              <input type="checkbox" checked={names.includes('all')} onChange={() => keep({ entities: '' })} />
              whole network
            </label>
          </li>
        </ul>
        <div class="row kinds" role="tablist" aria-label="Kind">
          {KINDS.map((each) => (
            <button key={each} type="button" role="tab" aria-selected={kind === each} onClick={() => setKind(each)}>
              {each === 'switch' ? 'Switches' : each === 'queue' ? 'Queues' : 'Links'}
            </button>
          ))}
        </div>
        <input
          type="search"
          placeholder="part of a name"
          aria-label="Part of a name"
          value={part}
          onInput={(event) => setPart(event.currentTarget.value)}
        />
        <ul class="names">
          {check(`every-${kind}`, `every ${kind}: the five largest`)}
          {listed.slice(0, MOST_LISTED).map((key) => check(key, entityName(key)))}
          {listed.length === 0 && (
            <li class="dim">{all.length === 0 ? `No ${kind} is known yet.` : 'No name has this part.'}</li>
          )}
          {listed.length > MOST_LISTED && (
            <li class="dim">and {listed.length - MOST_LISTED} more: write a part of the name</li>
          )}
        </ul>
      </div>
    </Panel>
  );
}
