/** Flows as text, and their keys in a store. */
import { AddressError, type Flow } from '@int/codec';
import { flowKey } from '@int/dart';
import { protocolNumber } from '../output/record-text.js';

const ENDPOINT = String.raw`(?:\[([^\]]+)\](?::(\d{1,5}))?|([^\s:>/]+)(?::(\d{1,5}))?|([0-9a-fA-F:.]*:[0-9a-fA-F:.]*))`;
const FLOW = new RegExp(String.raw`^\s*${ENDPOINT}\s*-?>\s*${ENDPOINT}\s*[\s/]\s*(?:protocol\s+)?(\w+)\s*$`);

export class FlowTextError extends Error {
  override readonly name = 'FlowTextError';
}

function port(text: string | undefined): number {
  const value = Number(text ?? 0);
  if (value > 0xffff) throw new FlowTextError(`a port is a number from 0 to 65535, not ${text}`);
  return value;
}

/** A protocol by name or number. @throws FlowTextError */
export function parseProtocol(text: string): number {
  const value = /^\d{1,3}$/.test(text) ? Number(text) : protocolNumber(text.toLowerCase());
  if (value === undefined || value > 0xff) throw new FlowTextError(`there is no protocol '${text}'`);
  return value;
}

/**
 * Reads `10.0.1.1:5000 > 10.0.2.2:80/udp`, also in the form of `int decode`, without the slash. IPv6 addresses with a
 * port are in brackets; a missing port is 0.
 * @throws FlowTextError if the text is not a flow
 */
export function parseFlow(text: string): Flow {
  const match = FLOW.exec(text);
  if (match === null) {
    throw new FlowTextError(`'${text}' is no flow of the form '10.0.1.1:5000 > 10.0.2.2:80/udp'`);
  }
  return {
    source: (match[1] ?? match[3] ?? match[5])!,
    destination: (match[6] ?? match[8] ?? match[10])!,
    protocol: parseProtocol(match[11]!),
    sourcePort: port(match[2] ?? match[4]),
    destinationPort: port(match[7] ?? match[9]),
  };
}

/** The key of a flow, or of a flow at a switch. @throws FlowTextError if an address is invalid */
export function keyOfFlow(flow: Flow, node: number | undefined): Uint8Array {
  try {
    return flowKey(flow, node);
  } catch (error) {
    if (error instanceof AddressError || error instanceof RangeError) throw new FlowTextError(error.message);
    throw error;
  }
}
