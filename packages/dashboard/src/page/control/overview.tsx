import type { ComponentChildren } from 'preact';
import type { ControlAnswer } from '../../client/index.js';
import { clockText, countText, durationText } from '../format/text.js';
import { Empty, Panel } from '../parts/panel.js';
import { addressOf } from '../state/location.js';

const AUTONOMY = {
  observe: 'says what it would do',
  propose: 'waits for approval',
  act: 'does it by itself',
} as const;
const REHEARSE = {
  required: 'required: what breaks an invariant is not installed',
  advised: 'advised: it is rehearsed, and installed all the same',
  off: 'off: changes are not rehearsed',
} as const;

/** What the loop may do by itself, and how often. */
export function Policy({ control }: { readonly control: ControlAnswer }) {
  const { autonomy, limits, rehearse, settleMs, approvalMs } = control;
  return (
    <Panel title="What it may do" note="by kind of intent" isFlush>
      <table>
        <thead>
          <tr>
            <th>kind</th>
            <th>autonomy</th>
            <th class="num">done within {durationText(limits.withinMs)}</th>
            <th class="num">limit</th>
          </tr>
        </thead>
        <tbody>
          {autonomy.map(({ kind, autonomy: level }) => {
            const limit = limits.kinds.find((each) => each.kind === kind);
            return (
              <tr key={kind}>
                <td>{kind}</td>
                <td>
                  <b>{level}</b> <span class="dim">{AUTONOMY[level]}</span>
                </td>
                <td class="num">{limit?.used ?? '–'}</td>
                <td class="num">{limit?.most ?? <span class="dim">as all</span>}</td>
              </tr>
            );
          })}
          <tr>
            <td>all</td>
            <td class="dim">together</td>
            <td class="num">{limits.all.used}</td>
            <td class="num">{limits.all.most ?? '–'}</td>
          </tr>
        </tbody>
      </table>
      <dl class="facts left padded">
        <dt>rehearsal</dt>
        <dd>{REHEARSE[rehearse]}</dd>
        <dt>effect</dt>
        <dd>measured {durationText(settleMs)} after an installation; what does not help is taken back</dd>
        <dt>approval</dt>
        <dd>a proposal ends if nobody approves it within {durationText(approvalMs)}</dd>
      </dl>
    </Panel>
  );
}

const PHASES = {
  absent: 'no session',
  late: 'owes an answer',
  failing: 'fails',
  behind: 'lacks something',
  settled: 'has all it shall have',
} as const;

/** What the switches have of it, and what they refuse. */
export function Switches({ control }: { readonly control: ControlAnswer }) {
  const { switches, refusals, failedLinks } = control;
  return (
    <Panel title="Switches" note={control.isSettled ? 'all have what they shall have' : 'not all have it yet'} isFlush>
      {switches.length === 0 ? (
        <Empty>The controller knows no switch.</Empty>
      ) : (
        <table>
          <tbody>
            {switches.map(({ switchId, name, phase, error }) => (
              <tr key={switchId}>
                <td>
                  <a href={addressOf({ view: 'topology', rest: { pick: `switch:${switchId}` } })}>{name}</a>
                </td>
                <td class={phase === 'settled' ? 'good' : phase === 'behind' || phase === 'late' ? 'warn' : 'bad'}>
                  {PHASES[phase]}
                </td>
                <td class="cut flow dim">{error ?? ''}</td>
              </tr>
            ))}
            {failedLinks.map(({ name, key }) => (
              <tr key={`link ${name}`}>
                <td>
                  {key === null ? name : <a href={addressOf({ view: 'topology', rest: { pick: key } })}>{name}</a>}
                </td>
                <td class="bad" colSpan={2}>
                  this link carries nothing
                </td>
              </tr>
            ))}
            {refusals.map(({ switchId, name, change, message, attempts }, index) => (
              <tr key={`refusal ${switchId} ${index}`}>
                <td>{name}</td>
                <td class="bad reason" colSpan={2}>
                  refuses {change}: {message} ({attempts} attempts)
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Panel>
  );
}

/** What is in force: intents of people and those of proposals. */
export function Intents({ control: { intents } }: { readonly control: ControlAnswer }) {
  return (
    <Panel title="Intents in force" note={countText(intents.length)} isFlush>
      {intents.length === 0 ? (
        <Empty>No intent is in force: the switches have the network's own routes.</Empty>
      ) : (
        <table>
          <thead>
            <tr>
              <th>intent</th>
              <th>of</th>
              <th class="num">priority</th>
              <th>until</th>
            </tr>
          </thead>
          <tbody>
            {intents.map(({ id, text, reason, owner, proposal, priority, expiresMs }) => (
              <tr key={id}>
                <td class="cut what" title={`${id}: ${reason}`}>
                  {text}
                </td>
                <td class="cut rule">
                  {proposal === null ? owner : <ProposalLink id={proposal}>{owner}</ProposalLink>}
                </td>
                <td class="num">{priority}</td>
                <td class="mono">{expiresMs === null ? 'it is withdrawn' : clockText(expiresMs, 0)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Panel>
  );
}

function ProposalLink({ id, children }: { readonly id: string; readonly children: ComponentChildren }) {
  return <a href={addressOf({ item: id })}>{children}</a>;
}
