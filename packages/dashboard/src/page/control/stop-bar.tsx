import { useState } from 'preact/hooks';
import type { ControlAnswer } from '../../client/index.js';
import { ENDED_STATES } from '../../protocol/control-words.js';
import { clockText, countText } from '../format/text.js';
import { orderRefusal } from '../state/control.js';
import { useKeys } from '../state/keyboard.js';
import { AskOnce } from './ask-once.js';
import { busy, give, myName, setMyName, told } from './orders.js';

const MOST_NAME = 64;

const inForce = ({ counts: { proposals } }: ControlAnswer): number => proposals.installed + proposals.verified;
const waiting = ({ counts: { proposals } }: ControlAnswer): number => proposals.proposed + proposals.approved;

/** Whether the loop acts, and the emergency stop. It is always there. */
export function StopBar({ control }: { readonly control: ControlAnswer }) {
  const [asked, ask] = useState<'stop' | 'withdraw' | null>(null);
  const refusal = orderRefusal();
  const { isStopped, stopped, isSettled } = control;
  const may = (order: 'stop' | 'withdraw' | 'resume'): boolean =>
    refusal === null && (order === 'stop' ? !isStopped : isStopped && (order === 'resume' || inForce(control) > 0));
  const resume = (): void =>
    void give({ order: 'resume' }, '', () => 'The loop acts again, as far as its policy allows.');
  useKeys([
    { key: 'S', text: 'emergency stop: nothing acts any more', run: () => may('stop') && ask('stop') },
    { key: 'W', text: 'when stopped: withdraw all that the loop did', run: () => may('withdraw') && ask('withdraw') },
    { key: 'R', text: 'when stopped: let the loop act again', run: () => may('resume') && resume() },
  ]);
  return (
    <section class={isStopped ? 'stop-bar stopped' : 'stop-bar'} aria-label="Emergency stop">
      <div class="row wrap">
        {isStopped ? (
          <strong class="bad">
            ■ Stopped{stopped === null ? '' : ` at ${clockText(stopped.atMs, 0)} by ${stopped.by}`}: nothing acts
          </strong>
        ) : (
          <strong>▶ The loop runs</strong>
        )}
        <Pipeline counts={control.counts.proposals} />
        {!isSettled && <span class="tag warn">switches are still changing</span>}
        <span class="grow" />
        <label class="row">
          <span class="dim">you are</span>
          <input
            value={myName.value}
            maxLength={MOST_NAME}
            placeholder="name, for the journal"
            disabled={refusal !== null}
            onInput={(event) => setMyName(event.currentTarget.value)}
          />
        </label>
        {isStopped && (
          <>
            <button type="button" title="R" disabled={!may('resume') || busy.value !== null} onClick={resume}>
              Resume
            </button>
            <button
              type="button"
              title={inForce(control) === 0 ? 'nothing of the loop is in force' : 'W'}
              disabled={!may('withdraw') || busy.value !== null}
              onClick={() => ask('withdraw')}
            >
              Withdraw all
            </button>
          </>
        )}
        <button type="button" class="danger" title="S" disabled={!may('stop')} onClick={() => ask('stop')}>
          {isStopped ? 'Stopped' : 'Emergency stop'}
        </button>
      </div>
      {refusal !== null && <p class="notice">No orders from here: {refusal}.</p>}
      {told.value !== null && (
        <p class={told.value.isBad ? 'failure' : 'notice'} role="status">
          {told.value.text}
        </p>
      )}
      {asked === 'stop' && (
        <AskOnce title="Stop the loop?" action="Stop now" onClose={() => ask(null)} onYes={() => stop(control)}>
          Nothing is approved or installed any more, at once. What is installed stays as it is:{' '}
          {countText(inForce(control))} in force. It can be withdrawn in a second step.
        </AskOnce>
      )}
      {asked === 'withdraw' && (
        <AskOnce
          title="Withdraw all that the loop did?"
          action="Withdraw all"
          onClose={() => ask(null)}
          onYes={() => withdraw(control)}
        >
          {countText(inForce(control))} proposals are in force. Their entries are removed from the switches; intents of
          people stay.
        </AskOnce>
      )}
    </section>
  );
}

const WAY = ['proposed', 'approved', 'installed', 'verified'] as const;

/** How many proposals are at each stage, and how many have ended in which way. */
function Pipeline({ counts }: { readonly counts: ControlAnswer['counts']['proposals'] }) {
  return (
    <span class="pipeline">
      {WAY.map((state, index) => (
        <span key={state}>
          {index > 0 && <span class="dim"> › </span>}
          {state} <b>{countText(counts[state])}</b>
        </span>
      ))}
      <span class="dim">
        {ENDED_STATES.filter((state) => counts[state] > 0)
          .map((state) => `${state} ${countText(counts[state])}`)
          .join(', ')}
      </span>
    </span>
  );
}

const stop = (control: ControlAnswer): void =>
  void give(
    { order: 'stop' },
    '',
    () =>
      `Stopped: nothing acts any more. ${countText(inForce(control))} in force stay as they are, ${countText(waiting(control))} waiting are held.`,
  );

const withdraw = (control: ControlAnswer): void =>
  void give(
    { order: 'withdraw' },
    '',
    () => `Withdrawn: ${countText(inForce(control))} proposals. The switches are told to remove their entries.`,
  );
