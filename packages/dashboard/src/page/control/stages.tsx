import type { ProposalRow, ProposalState } from '../../client/index.js';
import { clockText, durationText } from '../format/text.js';

/** The way of a proposal that ends well. */
const WAY = ['proposed', 'approved', 'installed', 'verified'] as const;

const isWay = (stage: string): stage is (typeof WAY)[number] => (WAY as readonly string[]).includes(stage);

/** The state that a proposal had at a time; `null`: there was none yet. */
export function stateAt({ stages, state }: ProposalRow, timeMs: number | null): ProposalState | null {
  if (timeMs === null) return state;
  const reached = stages.filter(({ stage, atMs }) => stage !== 'rehearsed' && atMs <= timeMs).at(-1);
  return reached === undefined ? null : (reached.stage as ProposalState);
}

/** The way of a proposal in one line: what it has passed, and where it has ended. */
export function StageTrack({ row, timeMs }: { readonly row: ProposalRow; readonly timeMs: number | null }) {
  const passed = row.stages.filter(({ atMs }) => timeMs === null || atMs <= timeMs);
  const end = passed.find(({ stage }) => !isWay(stage) && stage !== 'rehearsed');
  return (
    <ol class="track">
      {WAY.map((stage) => {
        const at = passed.find((each) => each.stage === stage);
        const words = at === undefined ? `not ${stage}` : `${stage} ${clockText(at.atMs, 0)}`;
        return (
          <li key={stage} class={at === undefined ? 'open' : 'passed'} title={words}>
            <span aria-hidden="true">{at === undefined ? '○' : '●'}</span>
            <span class="hidden">{words}</span>
          </li>
        );
      })}
      {end !== undefined && (
        <li class="ended" title={`${end.stage} ${clockText(end.atMs, 0)}: ${end.reason}`}>
          <span aria-hidden="true">✕</span>
          <span class="hidden">
            {end.stage} {clockText(end.atMs, 0)}
          </span>
        </li>
      )}
    </ol>
  );
}

/** Each stage with its time, who did it, and why; and those that are still to come. */
export function Stages({ row, timeMs }: { readonly row: ProposalRow; readonly timeMs: number | null }) {
  const passed = row.stages.filter(({ atMs }) => timeMs === null || atMs <= timeMs);
  const isEnded = passed.some(({ stage }) => !isWay(stage) && stage !== 'rehearsed');
  const ahead = isEnded ? [] : WAY.filter((stage) => !passed.some((each) => each.stage === stage));
  return (
    <table class="stages">
      <tbody>
        {passed.map(({ stage, atMs, by, reason }, index) => {
          const before = passed[index - 1];
          return (
            <tr key={index}>
              <td>
                <b class={isWay(stage) || stage === 'rehearsed' ? undefined : 'bad'}>{stage}</b>
              </td>
              <td class="mono">{clockText(atMs)}</td>
              <td class="num dim">{before === undefined ? '' : `+${durationText(atMs - before.atMs)}`}</td>
              <td class="cut by" title={by}>
                {by}
              </td>
              <td class="reason">{reason}</td>
            </tr>
          );
        })}
        {ahead.map((stage) => (
          <tr key={stage} class="dim">
            <td>{stage}</td>
            <td colSpan={4}>not yet</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** What a proposal waits for, in words; `null`: nothing. */
export function waitText({ waitsFor, heldBy, autonomy }: ProposalRow): string | null {
  switch (waitsFor) {
    case 'rehearsal':
      return 'it is rehearsed on the twin';
    case 'approval':
      return autonomy === 'observe' ? 'the policy only observes: it is never installed' : 'it waits for your approval';
    case 'limit':
      return heldBy ?? 'the limit of actions is reached';
    case 'resume':
      return 'the loop is stopped: resume it first';
    case 'switches':
      return 'the switches have not acknowledged it yet';
    case 'measurement':
      return 'its effect is measured';
    default:
      return null;
  }
}
