import type { ImmediateEvent } from '@int/stream-kafka';
import type { KnownNetwork } from '../network/known-network.js';
import { inUnits } from '../network/measured-text.js';
import { switchText } from '../network/names.js';
import { UNKNOWN_NETWORK } from '../network/unknown-network.js';
import type { Colours } from '../output/colour.js';
import { counted } from '../output/numbers.js';
import { flowText, pathText, timeText } from '../output/record-text.js';

function aboutText(event: ImmediateEvent, { device, topology }: KnownNetwork): string {
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
      const text = (value: number): string => inUnits(device, 'queueOccupancy', value, event.nodeId);
      const limit = `${text(event.occupancy)} (threshold ${text(event.threshold)})`;
      return `switch ${named(event.nodeId)}, queue ${event.queueId}: occupancy ${limit}, ${counted(event.windows, 'window')}`;
    }
    case 'reportLoss': {
      const numbers = `${event.firstSequence} to ${event.lastSequence}`;
      const from = event.nodeId === null ? 'a node without id' : `switch ${named(event.nodeId)}`;
      return `${counted(event.lost, 'report')} of ${from}, hardware id ${event.hwId}, lost between ${numbers}`;
    }
  }
}

export function immediateText(event: ImmediateEvent, colour: Colours, network: KnownNetwork = UNKNOWN_NETWORK): string {
  const name = event.ended === true ? colour.green(`${event.kind} ended`) : colour.red(event.kind);
  const parts = [colour.dim(timeText(BigInt(event.timeNs))), name, aboutText(event, network)];
  if ('flow' in event && event.flow !== null) parts.push(colour.cyan(flowText(event.flow)));
  return parts.join('  ');
}
