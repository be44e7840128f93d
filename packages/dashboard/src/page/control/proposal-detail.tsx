import { useState } from 'preact/hooks';
import type { ProposalAnswer, ProposalRow } from '../../client/index.js';
import { clockText, durationText } from '../format/text.js';
import { Empty, Panel } from '../parts/panel.js';
import { useAnswer } from '../state/answers.js';
import { client } from '../state/connection.js';
import { orderRefusal } from '../state/control.js';
import { useKeys } from '../state/keyboard.js';
import { addressOf, at } from '../state/location.js';
import { EntryDiff } from './changes.js';
import { Compared, Effect, LinkEffects } from './effect.js';
import { JournalList } from './journal.js';
import { busy, give } from './orders.js';
import { RehearsalResult } from './rehearsal.js';
import { Stages, waitText } from './stages.js';

const MOST_REASON = 500;

/** All of a proposal, and what one can do about it. */
export function ProposalDetail({ id, revision }: { readonly id: string; readonly revision: number }) {
  const { data, error } = useAnswer(`proposal ${id} ${revision}`, (signal) => client.proposal(id, { signal }));
  if (data === null) {
    return (
      <Empty>
        {error ?? 'Asking for the proposal…'} <a href={addressOf({ item: null })}>Back to the list</a>
      </Empty>
    );
  }
  return <Whole proposal={data} error={error} />;
}

const DIFF_NOTES = {
  planned: 'what would be written',
  written: 'what was written, the newest first',
  nothing: 'nothing was written',
} as const;

function Whole({ proposal, error }: { readonly proposal: ProposalAnswer; readonly error: string | null }) {
  const {
    text,
    state,
    reason,
    incident,
    cause,
    effect,
    links,
    compared,
    rehearsal,
    diff,
    journal,
    expiresMs,
    renewals,
  } = proposal;
  const wait = waitText(proposal);
  return (
    <div class="biography">
      <Panel
        title={text}
        note={state}
        error={error}
        tools={
          <a href={addressOf({ item: null })} aria-label="Close the proposal">
            Close
          </a>
        }
      >
        <dl class="facts left">
          <dt>why</dt>
          <dd>{reason}</dd>
          <dt>answers</dt>
          <dd>
            {incident === null ? (
              'an event or a load, no incident'
            ) : (
              <a href={addressOf({ view: 'incidents', item: incident })}>
                {cause === null ? incident : `${cause.kind} at ${cause.name}, and its arithmetic`}
              </a>
            )}
          </dd>
          <dt>policy</dt>
          <dd>
            {proposal.autonomy} for {proposal.kind}
          </dd>
          {expiresMs !== null && (
            <>
              <dt>in force until</dt>
              <dd>
                {clockText(expiresMs, 0)}
                {renewals > 0 && <span class="dim">, renewed {renewals} times</span>}
              </dd>
            </>
          )}
          {wait !== null && (
            <>
              <dt>now</dt>
              <dd>{wait}</dd>
            </>
          )}
        </dl>
        <Orders proposal={proposal} />
      </Panel>
      <Panel title="Pipeline" note="proposed › approved › installed › verified" isFlush>
        <Stages row={proposal} timeMs={at.value} />
      </Panel>
      <Panel title="Effect" note="predicted by the rehearsal, measured by telemetry">
        {effect === null ? (
          <Empty>It changes no traffic that is measured, so there is nothing to predict.</Empty>
        ) : (
          <Effect effect={effect} />
        )}
        {compared !== null && <Compared compared={compared} />}
        {links.length > 0 && <LinkEffects links={links} />}
      </Panel>
      <Panel title="Entries by switch" note={DIFF_NOTES[diff.of]} isFlush>
        <EntryDiff diff={diff} />
      </Panel>
      <Panel title="Rehearsal" note="on the twin, with the traffic of the last minute" isFlush>
        {rehearsal === null ? (
          <Empty>It was not rehearsed{state === 'proposed' ? ' yet' : ''}.</Empty>
        ) : (
          <RehearsalResult rehearsal={rehearsal} />
        )}
      </Panel>
      <Panel title="Its journal" note={`${durationText(ageOf(proposal))} long`} isFlush>
        {journal.length === 0 ? <Empty>The journal no longer remembers it.</Empty> : <JournalList rows={journal} />}
      </Panel>
    </div>
  );
}

const ageOf = ({ stages }: ProposalRow): number => (stages.at(-1)?.atMs ?? 0) - (stages[0]?.atMs ?? 0);

type Order = 'approve' | 'reject' | 'undo';
const ORDERS: readonly (readonly [Order, string, string])[] = [
  ['approve', 'Approve', 'a'],
  ['reject', 'Reject', 'x'],
  ['undo', 'Undo', 'z'],
];
const DONE: Readonly<Record<Order, string>> = {
  approve: 'Approved: it is installed as soon as the limits allow.',
  reject: 'Rejected: nothing was installed. It is not proposed again for a while.',
  undo: 'Undone: the switches are told to take its entries back.',
};

/** What can be done now; what cannot says why. */
function Orders({ proposal }: { readonly proposal: ProposalAnswer }) {
  const [reason, setReason] = useState('');
  const refusalOf = (order: Order): string | null => {
    const refusal = orderRefusal();
    if (refusal !== null) return refusal;
    if (at.value !== null) return 'the page is stopped at a time that is past: press l to be live';
    if (proposal.orders.includes(order)) return null;
    if (order === 'undo') return `it is ${proposal.state}: there is nothing to undo`;
    if (order === 'approve' && proposal.state === 'proposed') return waitText(proposal) ?? 'it cannot be approved now';
    return `it is ${proposal.state}: it waits for nobody`;
  };
  const run = (order: Order): void => {
    if (refusalOf(order) !== null) return;
    void give({ order, proposal: proposal.id }, reason, () => DONE[order]).then(() => setReason(''));
  };
  useKeys(ORDERS.map(([order, text, key]) => ({ key, text: `${text} this proposal`, run: () => run(order) })));
  const reasons = [...new Set(ORDERS.flatMap(([order]) => refusalOf(order) ?? []))];
  return (
    <div class="orders">
      <div class="row wrap">
        {ORDERS.map(([order, text, key]) => {
          const refusal = refusalOf(order);
          return (
            <button
              key={order}
              type="button"
              class={order === 'approve' ? 'primary' : undefined}
              disabled={refusal !== null || busy.value !== null}
              title={refusal ?? key}
              onClick={() => run(order)}
            >
              {busy.value === order ? `${text}…` : text}
            </button>
          );
        })}
        <input
          class="grow"
          aria-label="Why, for the journal"
          placeholder="why, for the journal"
          value={reason}
          maxLength={MOST_REASON}
          disabled={reasons.length === 1 && orderRefusal() !== null}
          onInput={(event) => setReason(event.currentTarget.value)}
        />
      </div>
      {ORDERS.every(([order]) => refusalOf(order) !== null) && <p class="dim">{reasons.join('; ')}.</p>}
    </div>
  );
}
