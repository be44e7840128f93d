/** Immediate events in words. */
import type { ImmediateEvent } from '@int/stream';

function flowText({ flow }: { readonly flow: Extract<ImmediateEvent, { kind: 'loop' }>['flow'] }): string {
  if (flow === null) return 'a flow without a name';
  const { source, sourcePort, destination, destinationPort } = flow;
  return `${source}:${sourcePort} > ${destination}:${destinationPort}`;
}

const pathText = (path: readonly (number | null)[]): string => path.map((node) => node ?? '?').join('-');

/** What an event says, without its time. */
export function eventText(event: ImmediateEvent): string {
  const over = event.ended === true ? ' is over' : '';
  switch (event.kind) {
    case 'loop':
      return `loop at switch ${event.nodeId}${over}: ${flowText(event)} took ${pathText(event.path)}`;
    case 'pathChange':
      return `path change: ${flowText(event)} from ${pathText(event.previous)} to ${pathText(event.path)}`;
    case 'blackHole':
      return `black hole${over}: ${flowText(event)} is seen at ${event.seenBy}, not at its sink ${event.nodeId}`;
    case 'linkFailure':
      return `link failure${over}: ${event.link[0]} > ${event.link[1]}, which carried ${event.flows} flows`;
    case 'persistentCongestion':
      return `congestion${over}: queue ${event.queueId} of switch ${event.nodeId} at ${event.occupancy}, ${event.windows} windows long`;
    case 'reportLoss':
      return `reports lost${over}: ${event.lost} of switch ${event.nodeId}, from number ${event.firstSequence} on`;
  }
}
