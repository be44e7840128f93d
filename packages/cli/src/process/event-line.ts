import type { ImmediateEvent } from '@int/stream-kafka';
import type { Colours } from '../output/colour.js';
import { counted, grouped } from '../output/numbers.js';
import { flowText, pathText, timeText } from '../output/record-text.js';

function aboutText(event: ImmediateEvent): string {
  switch (event.kind) {
    case 'loop':
      return `at switch ${event.nodeId}: ${pathText(event.path)}`;
    case 'pathChange':
      return `${pathText(event.previous)} to ${pathText(event.path)}`;
    case 'blackHole':
      return `seen at switch ${event.seenBy}, not at switch ${event.nodeId}`;
    case 'linkFailure':
      return `${event.link[0]} > ${event.link[1]}, which carried ${counted(event.flows, 'flow')}`;
    case 'persistentCongestion': {
      const limit = `${grouped(event.occupancy)} (threshold ${grouped(event.threshold)})`;
      return `switch ${event.nodeId}, queue ${event.queueId}: occupancy ${limit}, ${counted(event.windows, 'window')}`;
    }
    case 'reportLoss': {
      const numbers = `${event.firstSequence} to ${event.lastSequence}`;
      const from = event.nodeId === null ? 'a node without id' : `switch ${event.nodeId}`;
      return `${counted(event.lost, 'report')} of ${from}, hardware id ${event.hwId}, lost between ${numbers}`;
    }
  }
}

export function immediateText(event: ImmediateEvent, colour: Colours): string {
  const name = event.ended === true ? colour.green(`${event.kind} ended`) : colour.red(event.kind);
  const parts = [colour.dim(timeText(BigInt(event.timeNs))), name, aboutText(event)];
  if ('flow' in event && event.flow !== null) parts.push(colour.cyan(flowText(event.flow)));
  return parts.join('  ');
}
