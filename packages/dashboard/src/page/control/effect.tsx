import type { EffectRow, LinkEffect, ProposalAnswer } from '../../client/index.js';
import { clockText, measureText, percentText } from '../format/text.js';
import { addressOf } from '../state/location.js';

const RATE = { text: 'bit/s', base: 'bitsPerSecond', factor: 1 } as const;

const METRICS: Readonly<Record<EffectRow['metric'], string>> = {
  'link-load': 'load of the hottest link',
  'link-bps': 'traffic of the link',
  'flow-bps': 'traffic that arrives',
};

const valueText = (metric: EffectRow['metric'], value: number | null): string =>
  value === null ? '–' : metric === 'link-load' ? percentText(value) : measureText(value, RATE);

/** What was to change, as predicted and as measured. */
export function Effect({ effect }: { readonly effect: EffectRow }) {
  const { metric, subject, before, predicted, measured } = effect;
  return (
    <dl class="figures effect">
      <div>
        <dt>before</dt>
        <dd>{valueText(metric, before)}</dd>
      </div>
      <div>
        <dt>predicted</dt>
        <dd>{valueText(metric, predicted)}</dd>
      </div>
      <div>
        <dt>measured</dt>
        <dd>
          {valueText(metric, measured)}
          <small>{measured === null ? 'not yet' : predicted === null ? '' : deviationText(predicted, measured)}</small>
        </dd>
      </div>
      <div>
        <dt>of</dt>
        <dd class="small">
          {METRICS[metric]} {subject}
        </dd>
      </div>
    </dl>
  );
}

/** How far the measured value is from the predicted one. */
function deviationText(predicted: number, measured: number): string {
  if (predicted === 0) return measured === 0 ? 'as predicted' : 'above it';
  const share = measured / predicted - 1;
  if (Math.abs(share) < 0.005) return 'as predicted';
  if (share > 1) return `${(measured / predicted).toFixed(1)} times of it`;
  return `${percentText(Math.abs(share))} ${share > 0 ? 'above' : 'below'} it`;
}

const VERDICTS = {
  'as-predicted': 'all links carry what was predicted',
  partial: 'the change shows, but not every link carries what was predicted',
  none: 'all links carry what they did before',
  worse: 'a link carries more than before, and more than predicted',
  other: 'nothing was to change, and something did',
} as const;

/** Whether the loads of all links together are as predicted. */
export function Compared({ compared }: { readonly compared: NonNullable<ProposalAnswer['compared']> }) {
  const { atMs, verdict, achieved } = compared;
  const isGood = verdict === 'as-predicted' || verdict === 'partial';
  return (
    <p class="compared">
      At {clockText(atMs, 0)} <b class={isGood ? 'good' : 'bad'}>{VERDICTS[verdict]}</b>
      {achieved !== null && `: ${percentText(Math.max(0, achieved))} of the shift that was predicted is seen`}.
    </p>
  );
}

/** Loads of links side by side, at a fixed 0 to 100 % where the capacity is known. */
export function LinkEffects({ links }: { readonly links: readonly LinkEffect[] }) {
  return (
    <table class="loads">
      <thead>
        <tr>
          <th>link</th>
          <th class="num">before</th>
          <th class="num">predicted</th>
          <th class="num">measured</th>
        </tr>
      </thead>
      <tbody>
        {links.map(({ name, key, capacityBps, beforeBps, predictedBps, measuredBps }) => (
          <tr key={name}>
            <td>{key === null ? name : <a href={addressOf({ view: 'topology', rest: { pick: key } })}>{name}</a>}</td>
            <Load bps={beforeBps} capacityBps={capacityBps} kind="before" />
            <Load bps={predictedBps} capacityBps={capacityBps} kind="predicted" />
            <Load bps={measuredBps} capacityBps={capacityBps} kind="measured" />
          </tr>
        ))}
      </tbody>
    </table>
  );
}

interface LoadProps {
  readonly bps: number | null;
  readonly capacityBps: number | null;
  readonly kind: 'before' | 'predicted' | 'measured';
}

function Load({ bps, capacityBps, kind }: LoadProps) {
  if (bps === null) return <td class="num dim">–</td>;
  const share = capacityBps === null ? null : bps / capacityBps;
  return (
    <td class="num" title={measureText(bps, RATE)}>
      {share === null ? measureText(bps, RATE) : percentText(share)}
      {share !== null && (
        <span class="meter">
          <i class={kind} style={{ width: `${Math.max(0, Math.min(100, 100 * share))}%` }} />
        </span>
      )}
    </td>
  );
}
