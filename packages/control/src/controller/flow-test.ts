import { isInPrefix, type Prefix, prefixOf } from '@int/network';
import type { FlowMatch } from '../intents/flow-match.js';
import type { ObservedFlow } from '../twin/rehearsal.js';
import { addressBytes } from './link-map.js';

const isWithin = (prefix: Prefix | null, address: string): boolean => {
  if (prefix === null) return true;
  const bytes = addressBytes(address);
  return bytes !== null && isInPrefix(prefix, bytes, 0, bytes.length);
};

/** Whether a flow is one of a match. */
export function flowTest(match: FlowMatch): (flow: Omit<ObservedFlow, 'packets' | 'bytes' | 'path'>) => boolean {
  const { protocol, sourcePort, destinationPort } = match;
  const source = match.source === undefined ? null : prefixOf(match.source);
  const destination = match.destination === undefined ? null : prefixOf(match.destination);
  return (flow) =>
    (protocol === undefined || flow.protocol === protocol) &&
    (sourcePort === undefined || (flow.sourcePort >= sourcePort[0] && flow.sourcePort <= sourcePort[1])) &&
    (destinationPort === undefined ||
      (flow.destinationPort >= destinationPort[0] && flow.destinationPort <= destinationPort[1])) &&
    isWithin(source, flow.source) &&
    isWithin(destination, flow.destination);
}

/** A match of this flow alone. */
export function matchOfFlow({ source, destination, protocol, sourcePort, destinationPort }: ObservedFlow): FlowMatch {
  const ports = { sourcePort: [sourcePort, sourcePort], destinationPort: [destinationPort, destinationPort] } as const;
  return { source, destination, protocol, ...(protocol === 6 || protocol === 17 ? ports : {}) };
}

export function flowKey({ source, destination, protocol, sourcePort, destinationPort }: ObservedFlow): string {
  return `${source} ${sourcePort} ${destination} ${destinationPort} ${protocol}`;
}

/** Bits a second of the flows that a match means. */
export function rateOf(match: FlowMatch, flows: readonly ObservedFlow[], seconds: number): number {
  const isMeant = flowTest(match);
  let bytes = 0;
  for (const flow of flows) if (isMeant(flow)) bytes += flow.bytes;
  return (8 * bytes) / seconds;
}
