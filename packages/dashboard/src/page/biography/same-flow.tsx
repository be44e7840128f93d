import type { Biography } from '../../client/index.js';
import { clockText, latencyText } from '../format/text.js';
import { Empty } from '../parts/panel.js';
import { addressOf } from '../state/location.js';

const HEIGHT = 96;
const MARGIN = 8;

/** The same flow before and after: a dot per report, by time and path latency; events are squares. */
export function SameFlow({
  before,
  after,
  timeMs,
  latencyNs,
}: Pick<Biography, 'before' | 'after'> & { readonly timeMs: number; readonly latencyNs: number | null }) {
  const all = [...before, ...after];
  if (all.length === 0) return <Empty>No other report of this flow is retained.</Empty>;
  const from = Math.min(timeMs, ...all.map((each) => each.timeMs));
  const to = Math.max(timeMs, ...all.map((each) => each.timeMs), from + 1);
  const most = Math.max(1, latencyNs ?? 0, ...all.map((each) => each.pathLatencyNs ?? 0));
  const x = (ms: number): string => `${(1.5 + (97 * (ms - from)) / (to - from)).toFixed(2)}%`;
  const y = (ns: number | null): number => HEIGHT - MARGIN - ((ns ?? 0) / most) * (HEIGHT - 2 * MARGIN);
  return (
    <div class="body">
      <svg
        class="dots"
        role="img"
        aria-label={`${before.length} reports of the flow before, ${after.length} after; highest path latency ${latencyText(most)}`}
      >
        <line x1={x(timeMs)} x2={x(timeMs)} y1="0" y2={HEIGHT} class="now" />
        {all.map((each) =>
          each.isEvent ? (
            <rect
              key={each.reportId}
              x={x(each.timeMs)}
              y={y(each.pathLatencyNs) - 4}
              width="8"
              height="8"
              class="event"
            >
              <title>{titleOf(each)}</title>
            </rect>
          ) : (
            <circle key={each.reportId} cx={x(each.timeMs)} cy={y(each.pathLatencyNs)} r="3">
              <title>{titleOf(each)}</title>
            </circle>
          ),
        )}
        <circle cx={x(timeMs)} cy={y(latencyNs)} r="5.5" class="this" />
      </svg>
      <div class="row dim">
        <span class="grow">{clockText(from, 3)}</span>
        <span>
          {latencyText(most)} at most;{' '}
          <a href={addressOf({ view: 'series', at: timeMs, rest: {} })}>all series at this time</a>
        </span>
        <span class="grow right">{clockText(to, 3)}</span>
      </div>
    </div>
  );
}

const titleOf = ({ timeMs, pathLatencyNs, isEvent }: Biography['before'][number]): string =>
  `${clockText(timeMs, 3)}  ${latencyText(pathLatencyNs)}${isEvent ? '  event' : ''}`;
