import type { ComponentChildren } from 'preact';
import type { Biography } from '../../client/index.js';
import { clockText, flowFilter, flowText, historyText, latencyText, measureText } from '../format/text.js';
import { Empty, Panel } from '../parts/panel.js';
import { useAnswer } from '../state/answers.js';
import { client } from '../state/connection.js';
import { addressOf, at, go } from '../state/location.js';
import { switchName, unitOfMetric, unitOfText } from '../state/network.js';
import { Bytes } from './bytes.js';
import { Neighbours } from './neighbours.js';
import { SameFlow } from './same-flow.js';
import { Waterfall } from './waterfall.js';

/** Why an event was raised: the packet, its path, who was with it. */
export function BiographyPanel({ id, isReport }: { readonly id: string; readonly isReport: boolean }) {
  const { data, error, isLoading } = useAnswer(`${isReport} ${id}`, (signal) =>
    isReport ? client.reportBiography(id, { signal }) : client.biography(id, { signal }),
  );
  if (error !== null && (data === null || !isLoading)) {
    return (
      <Empty>
        {error} <a href={addressOf({ item: null })}>Back to the list</a>
      </Empty>
    );
  }
  if (data === null) return <Empty>Looking for the packet…</Empty>;
  return <Whole biography={data} />;
}

function Whole({ biography }: { readonly biography: Biography }) {
  const { event, rule, report, hops, links, before, after, bytes, fields } = biography;
  const timeMs = Number(BigInt(report.timeNs) / 1000n) / 1000;
  const known = hops.every(({ latencyNs }) => latencyNs !== null);
  const latencyNs = known && hops.length > 0 ? hops.reduce((sum, hop) => sum + hop.latencyNs!, 0) : null;
  return (
    <div class="biography">
      <Panel
        title={event === null ? 'A report' : event.rule}
        note={`${clockText(timeMs, 3)}${historyText(biography)}`}
        tools={
          <>
            {event?.severity != null && (
              <span class={event.severity === 'critical' ? 'tag bad' : 'tag warn'}>{event.severity}</span>
            )}
            <button
              type="button"
              aria-pressed={at.value === Math.round(timeMs)}
              onClick={() => go({ at: Math.round(timeMs) })}
            >
              Show this time everywhere
            </button>
            <a href={addressOf({ item: null })} aria-label="Close the biography">
              Close
            </a>
          </>
        }
      >
        <dl class="facts left">
          {rule !== null && <Why rule={rule} />}
          <dt>flow</dt>
          <dd>
            {report.flow === null ? (
              'unknown: the report holds no packet headers'
            ) : (
              <a href={addressOf({ view: 'table', filter: flowFilter(report.flow) })}>{flowText(report.flow)}</a>
            )}
          </dd>
          <dt>path</dt>
          <dd>
            {report.path.map((id, index) => (
              <span key={index}>
                {index > 0 && <span class="dim"> › </span>}
                {switchName(id)}
              </span>
            ))}
            {latencyNs !== null && <span class="dim"> in {latencyText(latencyNs)}</span>}
          </dd>
        </dl>
      </Panel>
      <Panel title="Hop by hop" note="bar: this packet; ticks: usual p50 and p99 of the hop">
        {hops.length === 0 ? (
          <Empty>The report carries no hop: it is about a packet without INT.</Empty>
        ) : (
          <Waterfall hops={hops} links={links} />
        )}
      </Panel>
      <Panel
        title="In the same queue"
        note={biography.source === 'history' ? 'within 1 ms' : 'within 1 ms, of the retained reports'}
        isFlush
      >
        <Neighbours hops={hops} />
      </Panel>
      <Panel title="The same flow before and after" isFlush>
        <SameFlow before={before} after={after} timeMs={timeMs} latencyNs={latencyNs} />
      </Panel>
      <Panel title="The packet" note={`${bytes.hex.length / 2} bytes`} isFlush>
        <Bytes hex={bytes.hex} fields={fields} isHistory={biography.source === 'history'} />
      </Panel>
    </div>
  );
}

function Why({ rule }: { readonly rule: NonNullable<Biography['rule']> }) {
  const parts: ComponentChildren[] = rule.operands.map(({ name, value, unit, switchId }) => {
    const known = unitOfMetric(name, switchId) ?? unitOfText(unit);
    return (
      <span key={`${name} ${switchId}`}>
        {name}
        {switchId !== null && ` of ${switchName(switchId)}`} ={' '}
        <b>{typeof value === 'number' ? measureText(value, known) : value}</b>
        {typeof value === 'number' && unit !== null && known === null && ` ${unit}`}
        <br />
      </span>
    );
  });
  return (
    <>
      <dt>because</dt>
      <dd>
        {parts}
        {rule.threshold !== null && <span>threshold: {rule.threshold}</span>}
      </dd>
      <dt>rule</dt>
      <dd>
        <a href={addressOf({ view: 'rules', rest: { rule: rule.name } })}>{rule.name}</a>
        <details>
          <summary class="dim">as it is written</summary>
          <pre>{rule.yaml}</pre>
        </details>
      </dd>
    </>
  );
}
