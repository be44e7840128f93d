import type { HostRow, HostsAnswer } from '../../client/index.js';
import { clockText, percentText, quoted, sentenceOf } from '../format/text.js';
import { Empty, Panel } from '../parts/panel.js';
import { addressOf, go } from '../state/location.js';

const LEVEL_OF = { topology: 'the topology', intent: 'a protect intent', default: 'nobody: 1 is usual' } as const;
const MOST = 100;

/** Hosts with their security level, and what was seen at them; the highest score first. */
export function Hosts({ answer, error }: { readonly answer: HostsAnswer | null; readonly error: string | null }) {
  const rows = answer?.rows ?? [];
  return (
    <Panel title="Hosts" note="security level, and the weight of what was seen" isFlush error={error}>
      {rows.length === 0 ? (
        <Empty>
          {answer === null
            ? 'Asking for the hosts…'
            : sentenceOf(answer.empty ?? 'no host is known, and nothing was seen of one')}
        </Empty>
      ) : (
        <div class="groups">
          <table>
            <thead>
              <tr>
                <th>host</th>
                <th class="num">level</th>
                <th class="num">score</th>
                <th class="num">open</th>
                <th>phases</th>
              </tr>
            </thead>
            <tbody>
              {rows.slice(0, MOST).map(({ host, name, level, levelOf, score, open, phases }) => (
                <tr key={host}>
                  <td class="cut rule">
                    <button
                      type="button"
                      class="link"
                      title="filter by this host"
                      onClick={() => go({ filter: `host=${quoted(host)}` })}
                    >
                      {name ?? host}
                    </button>
                    {name !== null && <span class="dim"> {host}</span>}
                  </td>
                  <td class="num" title={`by ${LEVEL_OF[levelOf]}`}>
                    {level}
                  </td>
                  <td class="num">{score === 0 ? <span class="dim">0</span> : score.toFixed(2)}</td>
                  <td class="num">{open}</td>
                  <td class="cut flow dim">{phases.map(({ phase }) => phase).join(' › ')}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Panel>
  );
}

/** What speaks for each phase at one host. */
export function HostPhases({ row }: { readonly row: HostRow }) {
  return (
    <table>
      <thead>
        <tr>
          <th>since</th>
          <th>phase</th>
          <th class="num">evidence</th>
          <th>found by</th>
          <th>or it is</th>
        </tr>
      </thead>
      <tbody>
        {row.phases.map(({ phase, evidence, incident, timeMs, otherwise }) => (
          <tr key={phase}>
            <td class="mono">{clockText(timeMs, 0)}</td>
            <td>{phase}</td>
            <td class="num">{percentText(evidence)}</td>
            <td>
              <a href={addressOf({ item: incident })}>{incident.split('/')[0]}</a>
            </td>
            <td class="cut flow dim">{otherwise.join('; ')}</td>
          </tr>
        ))}
      </tbody>
      <caption class="dim">
        level {row.level} (by {LEVEL_OF[row.levelOf]}), score {row.score.toFixed(2)}: evidence of all phases, those in
        order counted twice, times the level
      </caption>
    </table>
  );
}
