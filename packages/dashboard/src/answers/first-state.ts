import { FIRST_METRICS, FIRST_STATE_ID, type FirstState } from '../protocol/first-state.js';
import type { Services } from '../server/routes.js';
import { newestSeries } from './series.js';

/** What the page has when it begins. */
function firstState(services: Services): FirstState {
  const { retention, network } = services.live;
  const seen = retention.series.entities().find(({ entity }) => entity.kind === 'switch')?.entity;
  const [given] = network.topology.switches.keys();
  const id = given ?? (seen?.kind === 'switch' ? seen.switchId : undefined);
  return {
    status: services.status(),
    series: FIRST_METRICS.map((metric) => newestSeries(services.live, metric)),
    units:
      id === undefined
        ? null
        : {
            hopLatency: network.device.unit('hopLatency', id),
            queueOccupancy: network.device.unit('queueOccupancy', id),
            egressUtilization: network.device.unit('egressUtilization', id),
          },
  };
}

/** The document with that state as a block of data, which no browser runs. @param html the document as it was built */
export function documentWithState(html: string, services: Services): string {
  // No text can end the element.
  const json = JSON.stringify(firstState(services)).replaceAll('<', '\\u003c');
  const block = `<script type="application/json" id="${FIRST_STATE_ID}">${json}</script>\n`;
  const end = html.lastIndexOf('</body>');
  return end < 0 ? html + block : html.slice(0, end) + block + html.slice(end);
}
