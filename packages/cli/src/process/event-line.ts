import { Topology } from '@int/network';
import type { ImmediateEvent } from '@int/stream-kafka';
import { switchText } from '../network/names.js';
import type { Colours } from '../output/colour.js';
import { counted, grouped } from '../output/numbers.js';
import { flowText, pathText, timeText } from '../output/record-text.js';

function aboutText(event: ImmediateEvent, topology: Topology): string {
  const named = (id: number): string => switchText(id, topology);
  switch (event.kind) {
    case 'loop':
      return `at switch ${named(event.nodeId)}: ${pathText(event.path, topology)}`;
    case 'pathChange':
      return `${pathText(event.previous, topology)} to ${pathText(event.path, topology)}`;
    case 'blackHole':
      return `seen at switch ${named(event.seenBy)}, not at switch ${named(event.nodeId)}`;
    case 'linkFailure':
      return `${named(event.link[0])} > ${named(event.link[1])}, which carried ${counted(event.flows, 'flow')}`;
    case 'persistentCongestion': {
      const limit = `${grouped(event.occupancy)} (threshold ${grouped(event.threshold)})`;
      return `switch ${named(event.nodeId)}, queue ${event.queueId}: occupancy ${limit}, ${counted(event.windows, 'window')}`;
    }
    case 'reportLoss': {
      const numbers = `${event.firstSequence} to ${event.lastSequence}`;
      const from = event.nodeId === null ? 'a node without id' : `switch ${named(event.nodeId)}`;
      return `${counted(event.lost, 'report')} of ${from}, hardware id ${event.hwId}, lost between ${numbers}`;
    }
  }
}

export function immediateText(event: ImmediateEvent, colour: Colours, topology: Topology = Topology.NONE): string {
  const name = event.ended === true ? colour.green(`${event.kind} ended`) : colour.red(event.kind);
  const parts = [colour.dim(timeText(BigInt(event.timeNs))), name, aboutText(event, topology)];
  if ('flow' in event && event.flow !== null) parts.push(colour.cyan(flowText(event.flow)));
  return parts.join('  ');
}
