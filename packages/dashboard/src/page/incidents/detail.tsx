import type { HostsAnswer, IncidentRow } from '../../client/index.js';
import { clockText, durationText, percentText } from '../format/text.js';
import { Empty, Panel } from '../parts/panel.js';
import { useAnswer } from '../state/answers.js';
import { client } from '../state/connection.js';
import { addressOf, at, go } from '../state/location.js';
import { Arithmetic } from './arithmetic.js';
import { Baseline } from './baseline.js';
import { incidentEntity } from './entity.js';
import { HostPhases } from './hosts.js';
import { SeverityTag } from './severity-tag.js';

interface DetailProps {
  readonly id: string;
  /** The row of the list, if it has it: it is there at once. */
  readonly listed: IncidentRow | null;
  readonly hosts: HostsAnswer | null;
  /** Changes when something has happened. */
  readonly revision: number;
}

/** All of an incident: why it was opened, what else it could be, and what can be done. */
export function IncidentDetail({ id, listed, hosts, revision }: DetailProps) {
  const { data, error } = useAnswer(`incident ${id} ${revision}`, (signal) => client.incident(id, { signal }));
  const row = data?.id === id ? data : listed;
  if (row === null) {
    return (
      <Empty>
        {error ?? 'Asking for the incident…'} <a href={addressOf({ item: null })}>Back to the list</a>
      </Empty>
    );
  }
  return <Whole row={row} hosts={hosts} />;
}

function Whole({ row, hosts }: { readonly row: IncidentRow; readonly hosts: HostsAnswer | null }) {
  const { kind, entity, name, state, from, to, detector, windowMs } = row;
  const host = entity.startsWith('host:') ? entity.slice('host:'.length) : null;
  const known = hosts?.rows.find((each) => each.host === host);
  return (
    <div class="biography">
      <Panel
        title={kind}
        note={`${name}, ${state === 'open' ? 'open since' : 'from'} ${clockText(from)}${to === null ? '' : ` to ${clockText(to)}`}`}
        tools={
          <>
            <SeverityTag row={row} />
            <button type="button" aria-pressed={at.value === from} title="T" onClick={() => go({ at: from })}>
              Show this time everywhere
            </button>
            <a href={addressOf({ item: null })} aria-label="Close the incident">
              Close
            </a>
          </>
        }
      >
        <Facts row={row} />
      </Panel>
      <Panel title="Arithmetic" note={`${detector}, over ${durationText(windowMs)} of telemetry`}>
        <Arithmetic row={row} />
      </Panel>
      <Panel title="Baseline" note="what is usual">
        <Baseline row={row} />
      </Panel>
      {host !== null && (
        <Panel title="Evidence at this host" note="phases of the last seven days: hypotheses" isFlush>
          {known === undefined || known.phases.length === 0 ? (
            <Empty>Nothing is remembered of {host} that speaks for a phase of an attack.</Empty>
          ) : (
            <HostPhases row={known} />
          )}
        </Panel>
      )}
    </div>
  );
}

function Facts({ row }: { readonly row: IncidentRow }) {
  const { entity, name, phase, confidence, otherwise, confirm, along, suggest, proposals } = row;
  return (
    <dl class="facts left">
      <dt>where</dt>
      <dd>
        {name}
        {along.length > 0 && <span class="dim"> and {along.map((each) => incidentEntity(each).name).join(', ')}</span>}
      </dd>
      <dt>confidence</dt>
      <dd>
        <b>{percentText(confidence)}</b>
      </dd>
      <dt>phase</dt>
      <dd>{phase === null ? 'no attack: a state of the network' : `${phase}, as a hypothesis`}</dd>
      <dt>to be sure</dt>
      <dd>{confirm === '' ? 'nothing is suggested' : confirm}</dd>
      <dt>it may also be</dt>
      <dd>{otherwise.length === 0 ? 'nothing else is known to look like this' : otherwise.join('; ')}</dd>
      <dt>suggested</dt>
      <dd>
        {suggest === null
          ? 'no action'
          : `${suggest.intent} ${Object.entries(suggest.match)
              .map(([field, value]) => `${field} ${value}`)
              .join(', ')} for ${durationText(suggest.ttlMs)}`}
      </dd>
      <dt>answered by</dt>
      <dd>
        {proposals.length === 0
          ? 'no proposal'
          : proposals.map((id) => (
              <span key={id}>
                <a href={addressOf({ view: 'control', item: id })}>{id}</a>{' '}
              </span>
            ))}
      </dd>
      <dt>at that time</dt>
      <dd>
        <Elsewhere entity={entity} timeMs={row.from} />
      </dd>
    </dl>
  );
}

/** The other views at the time when it began. */
function Elsewhere({ entity, timeMs }: { readonly entity: string; readonly timeMs: number }) {
  const { filter, series, switchId } = incidentEntity(entity);
  const only = filter === null ? {} : { filter };
  return (
    <>
      <a
        href={addressOf({
          view: 'topology',
          at: timeMs,
          rest: switchId === null ? {} : { pick: `switch:${switchId}` },
        })}
      >
        map
      </a>
      {', '}
      <a href={addressOf({ view: 'series', at: timeMs, rest: series === null ? {} : { entities: series } })}>series</a>
      {', '}
      <a href={addressOf({ view: 'events', at: timeMs, ...only })}>events</a>
      {', '}
      <a href={addressOf({ view: 'table', at: timeMs, ...only })}>flows</a>
      {', '}
      <a href={addressOf({ view: 'control', at: timeMs })}>control</a>
    </>
  );
}
