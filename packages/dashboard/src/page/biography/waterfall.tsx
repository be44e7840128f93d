import type { Biography } from '../../client/index.js';
import { countText, latencyText, measureText } from '../format/text.js';
import { addressOf } from '../state/location.js';
import { portName, switchName, unitOfMetric } from '../state/network.js';

/** The latency of a hop: in nanoseconds where the unit is known, else as the switch sent it; so is what is usual. */
function latencyOf({ latencyNs, values: { hopLatency } }: Biography['hops'][number]): number | null {
  return latencyNs ?? (typeof hopLatency === 'number' ? hopLatency : null);
}

/**
 * One bar per hop, beginning where the one before ended, with what is usual for the hop as ticks. Hops whose units are not known
 * cannot be added up: their bars all begin at the left.
 */
export function Waterfall({ hops, links }: Pick<Biography, 'hops' | 'links'>) {
  let start = 0;
  // A reporting switch that adds nothing of its own is no further hop.
  const shown = hops.filter(({ values }) => Object.keys(values).some((name) => name !== 'nodeId'));
  const bars = shown.map((hop, index) => {
    const isKnown = hop.latencyNs !== null;
    const from = isKnown ? start : 0;
    const link = links[index];
    start += (hop.latencyNs ?? 0) + Math.max(0, link?.timeNs ?? 0);
    const text = (value: number | null): string =>
      isKnown ? latencyText(value) : measureText(value, unitOfMetric('hopLatency', hop.switchId));
    return { hop, link, from, latency: latencyOf(hop), text };
  });
  const reach = Math.max(
    1,
    start,
    ...bars.map(({ hop, from, latency }) => from + Math.max(latency ?? 0, hop.usual?.p99 ?? 0)),
  );
  const share = (value: number): string => `${Math.max(0, Math.min(100, (100 * value) / reach)).toFixed(2)}%`;
  return (
    <ol class="waterfall">
      {bars.map(({ hop, link, from, latency, text }, index) => {
        const { switchId, values, usual, isCause } = hop;
        const factor = latency !== null && usual !== null && usual.p50 > 0 ? latency / usual.p50 : null;
        const number = (name: string): number | null => {
          const value = values[name];
          return typeof value === 'number' ? value : null;
        };
        const port = (name: string): string => (switchId === null ? '–' : portName(switchId, number(name)));
        return (
          <li key={`${index} ${switchId}`} class={isCause ? 'cause' : ''}>
            <div class="hop">
              {switchId === null ? (
                <b>unknown</b>
              ) : (
                <a href={addressOf({ view: 'topology', rest: { pick: `switch:${switchId}` } })}>
                  {switchName(switchId)}
                </a>
              )}
              {isCause && <span class="tag bad">cause</span>}
              <span class="dim">
                {port('l1IngressInterface')} › {port('l1EgressInterface')}
              </span>
            </div>
            <div class="track">
              <i class="time" style={{ left: share(from), width: share(latency ?? 0) }} />
              {usual !== null && (
                <>
                  <i class="tick" title={`usual p50 ${text(usual.p50)}`} style={{ left: share(from + usual.p50) }} />
                  <i
                    class="tick far"
                    title={`usual p99 ${text(usual.p99)}`}
                    style={{ left: share(from + usual.p99) }}
                  />
                </>
              )}
            </div>
            <div class="num">
              <b>{text(latency)}</b>
              {factor !== null && factor >= 2 && <span class="bad"> {countText(Math.round(factor * 10) / 10)}×</span>}
            </div>
            <div
              class="num dim"
              title={usual === null ? 'nothing is retained of this hop before' : `of ${usual.samples} reports before`}
            >
              {usual === null ? 'usual unknown' : `p50 ${text(usual.p50)}, p99 ${text(usual.p99)}`}
            </div>
            <div class="num">
              {number('queueOccupancy') === null
                ? ''
                : `queue ${number('queueId') ?? '?'}: ${measureText(number('queueOccupancy'), unitOfMetric('queueOccupancy', switchId))}`}
            </div>
            {link !== undefined && index < hops.length - 1 && (
              <div class="between dim" title={link.doubt ?? ''}>
                link{' '}
                {link.timeNs === null
                  ? `time unknown${link.doubt === null ? '' : `: ${link.doubt}`}`
                  : latencyText(link.timeNs)}
                {link.timeNs !== null && link.doubt !== null && ` (${link.doubt})`}
              </div>
            )}
          </li>
        );
      })}
    </ol>
  );
}
