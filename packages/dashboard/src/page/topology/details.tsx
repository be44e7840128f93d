import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { FlowsAnswer, LinkInfo, TopologyAnswer } from '../../client/index.js';
import {
  bytesText,
  countText,
  flowFilter,
  flowText,
  latencyText,
  measureText,
  percentText,
  quoted,
} from '../format/text.js';
import { Chart } from '../parts/chart.js';
import { Empty, Panel } from '../parts/panel.js';
import { useAnswer } from '../state/answers.js';
import { client, isLive, useLive } from '../state/connection.js';
import { addressOf, at, filter } from '../state/location.js';
import { entityName, portName, switchName, switchOf, unitOfSeries } from '../state/network.js';
import type { Picked } from './picture.js';

const MOST_FLOWS = 12;

/** What is known of a link: its load, and its busiest flows. */
export function LinkDetails({ link, onPick }: { readonly link: LinkInfo; readonly onPick: (picked: Picked) => void }) {
  const from = quoted(switchName(link.from));
  const only =
    link.fromPort === null
      ? `switch=${from} switch=${quoted(switchName(link.to))}`
      : `hop(switch=${from} egress=${link.fromPort}) switch=${quoted(switchName(link.to))}`;
  return (
    <>
      <Panel title={entityName(link.key)} note={<State link={link} />}>
        <dl class="facts">
          <dt>load</dt>
          <dd>{link.load === null ? 'not told by telemetry' : percentText(link.load)}</dd>
          <dt>speed</dt>
          <dd>{link.speedBps === null ? 'unknown' : `${bytesText(link.speedBps).replace('B', 'bit/s')}`}</dd>
          <dt>reports</dt>
          <dd>{countText(link.reportsPerSecond)} per second</dd>
          <dt>ends</dt>
          <dd>
            <Pick id={link.from} onPick={onPick} /> {portName(link.from, link.fromPort)} ›{' '}
            <Pick id={link.to} onPick={onPick} /> {portName(link.to, link.toPort)}
          </dd>
        </dl>
        <Chart
          label="Utilisation of the link"
          height={110}
          lines={[{ metric: 'utilization', entity: link.key, label: 'utilisation' }]}
        />
      </Panel>
      <TopFlows title="Its busiest flows" only={only} />
    </>
  );
}

function State({ link: { state } }: { readonly link: LinkInfo }) {
  if (state === 'up') return <span class="good">up</span>;
  return state === 'down' ? (
    <span class="tag bad">down: it carried reports and carries none now</span>
  ) : (
    <span class="tag">not seen in telemetry yet</span>
  );
}

function Pick({ id, onPick }: { readonly id: number; readonly onPick: (picked: Picked) => void }) {
  return (
    <button type="button" class="link" onClick={() => onPick({ kind: 'switch', id })}>
      {switchName(id)}
    </button>
  );
}

/** What is known of a switch: its ports with their links, and its queues. */
export function SwitchDetails({
  id,
  topology,
  onPick,
}: {
  readonly id: number;
  readonly topology: TopologyAnswer;
  readonly onPick: (picked: Picked) => void;
}) {
  const info = topology.switches.find((each) => each.id === id) ?? switchOf(id);
  const links = topology.links.filter(({ from }) => from === id);
  return (
    <>
      <Panel title={switchName(id)} note={info?.seen === false ? 'not seen in telemetry yet' : `switch ${id}`}>
        <Chart
          label="Hop latency of the switch"
          height={110}
          lines={[
            { metric: 'latencyP50', entity: `switch:${id}`, label: 'p50' },
            { metric: 'latencyP99', entity: `switch:${id}`, label: 'p99' },
          ]}
        />
      </Panel>
      <Queues id={id} queues={info?.queues ?? []} />
      <Panel title="Ports" note={`${info?.ports.length ?? 0} known`} isFlush>
        {links.length === 0 ? (
          <Empty>No link that leaves this switch is known.</Empty>
        ) : (
          <table>
            <tbody>
              {links.map((link) => (
                <tr key={link.key}>
                  <td>{portName(id, link.fromPort)}</td>
                  <td class="grow">
                    <button type="button" class="link" onClick={() => onPick({ kind: 'link', key: link.key })}>
                      › {switchName(link.to)}
                    </button>
                  </td>
                  <td class={link.state === 'down' ? 'num bad' : 'num'}>
                    {link.state === 'up' ? percentText(link.load) : link.state}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </Panel>
      <TopFlows title="Its busiest flows" only={`switch=${quoted(switchName(id))}`} />
    </>
  );
}

function Queues({ id, queues }: { readonly id: number; readonly queues: readonly number[] }) {
  const keys = queues.map((queue) => `queue:${id}/${queue}`);
  const stopped = at.value;
  const asked = useAnswer(
    `${keys.join()} ${stopped}`,
    keys.length === 0
      ? null
      : async (signal) => {
          const to = stopped ?? undefined;
          const range = to === undefined ? {} : { from: to - 10_000, to };
          return client.series({ metric: 'occupancy', entities: keys, stepMs: 1000, ...range }, { signal });
        },
    stopped === null ? 1000 : null,
  );
  return (
    <Panel title="Queues" note="highest occupancy of the last 10 s" isFlush error={asked.error}>
      {keys.length === 0 ? (
        <Empty>The reports of this switch name no queue.</Empty>
      ) : (
        <table>
          <tbody>
            {keys.map((key, index) => {
              const values = asked.data?.series[index]?.values.slice(-10) ?? [];
              const known = values.filter((value) => value !== null);
              return (
                <tr key={key}>
                  <td>
                    <a href={addressOf({ view: 'series', rest: { metric: 'occupancy', entities: key } })}>
                      queue {queues[index]}
                    </a>
                  </td>
                  <td class="num">
                    {known.length === 0 ? '–' : measureText(Math.max(...known), unitOfSeries('occupancy', key))}
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      )}
    </Panel>
  );
}

/** Flows that pass somewhere, busiest first. */
function TopFlows({ title, only }: { readonly title: string; readonly only: string }) {
  const both = filter.value === '' ? only : `(${filter.value}) and ${only}`;
  const [live, setLive] = useState<FlowsAnswer | null>(null);
  useLive(
    isLive.value ? { type: 'flows', filter: both, sort: '-reportsPerSecond', limit: MOST_FLOWS } : null,
    (message) => {
      if (message.type === 'flows') setLive(message.data);
    },
  );
  const stopped = at.value;
  const asked = useAnswer(
    `${both} ${stopped}`,
    stopped === null
      ? null
      : (signal) =>
          client.flows({ filter: both, sort: '-reportsPerSecond', limit: MOST_FLOWS, at: stopped }, { signal }),
  );
  const answer = stopped === null ? live : asked.data;
  let content: ComponentChildren = <Empty>{answer?.empty ?? 'Waiting for flows.'}</Empty>;
  if (answer !== null && answer.rows.length > 0) {
    content = (
      <table>
        <tbody>
          {answer.rows.map((row) => (
            <tr key={row.id}>
              <td class="cut flow">
                <a href={addressOf({ view: 'table', filter: flowFilter(row) })} title={flowText(row)}>
                  {flowText(row)}
                </a>
              </td>
              <td class="num">{countText(row.reportsPerSecond)}/s</td>
              <td class="num">{latencyText(row.pathLatencyNs)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    );
  }
  return (
    <Panel title={title} note="rate, path latency" isFlush error={asked.error}>
      {content}
    </Panel>
  );
}
