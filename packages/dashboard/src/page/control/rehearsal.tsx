import type { ControlFlow, RehearsalAnswer } from '../../client/index.js';
import { clockText, countText, flowFilter, flowText, measureText, percentText } from '../format/text.js';
import { addressOf } from '../state/location.js';

const RATE = { text: 'bit/s', base: 'bitsPerSecond', factor: 1 } as const;
/** Flows that are listed. */
const MOST_FLOWS = 12;

/** What the twin said: why it refuses the change, which flows move or are lost, and each step of the installation. */
export function RehearsalResult({ rehearsal }: { readonly rehearsal: RehearsalAnswer }) {
  const { isSafe, violations, moved, dropped, highest, steps, tables, unplaced, astray, atMs } = rehearsal;
  return (
    <div class="dry">
      <p class="summary">
        {isSafe ? <b class="good">It meets all invariants.</b> : <b class="bad">It breaks invariants.</b>} Rehearsed at{' '}
        {clockText(atMs, 0)} with the last minute: {countText(moved)} flows move, {countText(dropped)} lose packets
        {highest !== null && (
          <>
            ; the highest load goes from {percentText(highest.before)} to <b>{percentText(highest.after)}</b>
          </>
        )}
        .
      </p>
      {violations.length > 0 && (
        <ul class="refusals">
          {violations.map(({ kind, step, where, flows, message }, index) => (
            <li key={index}>
              <span class="tag bad">{kind}</span> {message} <span class="dim">at {where}, </span>
              <span class="dim">
                {step < 0 ? 'already before' : `after step ${step + 1} of ${steps.length}`}
                {flows > 0 && `, ${countText(flows)} flows`}
              </span>
            </li>
          ))}
        </ul>
      )}
      {(unplaced > 0 || astray > 0) && (
        <p class="warn">
          {unplaced > 0 && `${countText(unplaced)} flows were not rehearsed: nobody knows where they enter. `}
          {astray > 0 &&
            `${countText(astray)} flows took another path than the twin says: the network is not as known.`}
        </p>
      )}
      <Moves rehearsal={rehearsal} />
      {steps.length > 0 && (
        <details>
          <summary>Steps of the installation ({steps.length})</summary>
          <table>
            <thead>
              <tr>
                <th>step</th>
                <th class="num">changes</th>
                <th class="num">flows delivered</th>
                <th class="num">flows that lose</th>
                <th class="num">highest load</th>
              </tr>
            </thead>
            <tbody>
              {steps.map(({ changes, delivered, lost, linkLoad }, index) => (
                <tr key={index}>
                  <td>{index + 1}</td>
                  <td class="num">{changes}</td>
                  <td class="num">{countText(delivered)}</td>
                  <td class={lost > 0 ? 'num warn' : 'num'}>{countText(lost)}</td>
                  <td class="num">{percentText(linkLoad)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </details>
      )}
      {tables.length > 0 && (
        <details>
          <summary>Room in tables ({tables.length})</summary>
          <table>
            <thead>
              <tr>
                <th>switch</th>
                <th>table</th>
                <th class="num">entries before</th>
                <th class="num">after</th>
                <th class="num">room</th>
              </tr>
            </thead>
            <tbody>
              {tables.map(({ switchId, name, table, before, after, size }) => (
                <tr key={`${switchId} ${table}`}>
                  <td>{name}</td>
                  <td class="mono">{table}</td>
                  <td class="num">{before}</td>
                  <td class="num">{after}</td>
                  <td class="num dim">{size}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </details>
      )}
    </div>
  );
}

function Moves({ rehearsal: { movedFlows, droppedFlows } }: { readonly rehearsal: RehearsalAnswer }) {
  if (movedFlows.length + droppedFlows.length === 0) return null;
  return (
    <table>
      <tbody>
        {droppedFlows.slice(0, MOST_FLOWS).map((flow, index) => (
          <tr key={`dropped ${index}`}>
            <td class="cut flow">
              <FlowLink flow={flow} />
            </td>
            <td class="num">{measureText(flow.bps, RATE)}</td>
            <td>
              loses {percentText(flow.share)} at {flow.switchName}
              <span class="dim">
                {flow.intents.length === 0 ? ': nobody meant it' : `: ${flow.intents.join(', ')}`}
              </span>
            </td>
          </tr>
        ))}
        {movedFlows.slice(0, MOST_FLOWS).map((flow, index) => (
          <tr key={`moved ${index}`}>
            <td class="cut flow">
              <FlowLink flow={flow} />
            </td>
            <td class="num">{measureText(flow.bps, RATE)}</td>
            <td>
              <span class="dim">{flow.from.join(' › ')}</span> becomes {flow.to.join(' › ')}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function FlowLink({ flow }: { readonly flow: ControlFlow }) {
  return (
    <a href={addressOf({ view: 'table', filter: flowFilter(flow) })} title={flowText(flow)}>
      {flowText(flow)}
    </a>
  );
}
