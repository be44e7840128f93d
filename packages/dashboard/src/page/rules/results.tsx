import type { DryRunAnswer, RulesAnswer } from '../../client/index.js';
import { clockText, countText, durationText, exactText, flowText, percentText } from '../format/text.js';
import { Empty } from '../parts/panel.js';
import { switchName } from '../state/network.js';
import { diffOf, shortened } from './diff.js';

/** What rules would have raised of what is retained, beside what those in force raised. */
export function DryRun({ answer }: { readonly answer: DryRunAnswer }) {
  const { problems, from, to, reports, share, nsPerReport, byRule, first } = answer;
  if (problems.some(({ severity }) => severity === 'error')) {
    return <Empty>The rules have mistakes: they are listed below the text.</Empty>;
  }
  if (from === null || to === null || reports === 0)
    return <Empty>No report is retained yet: there is nothing to run the rules over.</Empty>;
  return (
    <div class="dry">
      <p class="summary">
        <b>{exactText(byRule.reduce((sum, { events }) => sum + events, 0))}</b> events in {exactText(reports)} reports
        of {durationText(to - from)} ({clockText(from, 0)} to {clockText(to, 0)}), <b>{countText(nsPerReport)} ns</b>{' '}
        per report
        {share < 1 && (
          <span class="warn">
            ; only {percentText(share)} of all reports are retained, so these counts are of a sample
          </span>
        )}
      </p>
      <table>
        <thead>
          <tr>
            <th>rule</th>
            <th class="num">would raise</th>
            <th class="num">raised</th>
          </tr>
        </thead>
        <tbody>
          {byRule.map(({ rule, events, running }) => (
            <tr key={rule}>
              <td>{rule}</td>
              <td class={running !== null && events !== running ? 'num warn' : 'num'}>{exactText(events)}</td>
              <td class="num dim">{running === null ? 'does not run' : exactText(running)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {first.length > 0 && (
        <table>
          <thead>
            <tr>
              <th>first events</th>
              <th>rule</th>
              <th>switch</th>
              <th>flow</th>
            </tr>
          </thead>
          <tbody>
            {first.map((row) => (
              <tr key={row.id}>
                <td class="mono">{clockText(row.timeMs, 3)}</td>
                <td>{row.rule}</td>
                <td>{row.switchId === null ? 'path' : switchName(row.switchId)}</td>
                <td class="cut">{flowText(row.record.flow)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </div>
  );
}

const SIGNS = { same: ' ', old: '-', new: '+' } as const;

export function Difference({ running, draft }: { readonly running: string; readonly draft: string }) {
  if (running === draft) return <Empty>The text is the one that runs.</Empty>;
  return (
    <pre class="diff">
      {shortened(diffOf(running, draft)).map((line, index) => (
        <div key={`${index}`} class={line === null ? 'dim' : line.kind}>
          {line === null ? '…' : `${SIGNS[line.kind]} ${line.text}`}
        </div>
      ))}
    </pre>
  );
}

export function Versions({
  versions,
  revision,
  onTake,
}: Pick<RulesAnswer, 'versions' | 'revision'> & { readonly onTake: (yaml: string) => void }) {
  if (versions.length === 0) return <Empty>No rules have been applied yet.</Empty>;
  return (
    <table>
      <tbody>
        {versions.map((each) => (
          <tr key={`${each.revision} ${each.appliedMs}`}>
            <td class="mono">{each.revision.slice(0, 12)}</td>
            <td>{clockText(each.appliedMs, 0)}</td>
            <td>{each.by}</td>
            <td>{each.revision === revision && <span class="tag">runs</span>}</td>
            <td>
              {each.yaml !== undefined && (
                <button type="button" class="link" onClick={() => onTake(each.yaml!)}>
                  take this text
                </button>
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
