import type { Biography } from '../../client/index.js';
import { countText, measureText } from '../format/text.js';
import { Empty } from '../parts/panel.js';
import { switchName, unitOfMetric } from '../state/network.js';

/** Who was in the same queue within a millisecond, hop by hop. */
export function Neighbours({ hops }: Pick<Biography, 'hops'>) {
  const rows = hops.flatMap(({ switchId, values, neighbours, isCause }) =>
    neighbours.map((each) => ({ ...each, switchId, queue: values.queueId, isCause })),
  );
  if (rows.length === 0) {
    return <Empty>No other retained report passed one of these queues within 1 ms.</Empty>;
  }
  return (
    <table>
      <thead>
        <tr>
          <th>queue</th>
          <th>flow</th>
          <th class="num">reports</th>
          <th class="num">deepest</th>
        </tr>
      </thead>
      <tbody>
        {rows.map(({ flow, flowId, reports, occupancyMax, switchId, queue, isCause }) => (
          <tr key={`${switchId} ${queue} ${flowId}`}>
            <td>
              {switchName(switchId)} {queue ?? ''} {isCause && <span class="tag bad">cause</span>}
            </td>
            <td class="cut">{flow}</td>
            <td class="num">{countText(reports)}</td>
            <td class="num">{measureText(occupancyMax, unitOfMetric('queueOccupancy', switchId))}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
