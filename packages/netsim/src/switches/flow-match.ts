/** Matches packets by flow. */
import { checkInteger } from '../checks.js';
import { destinationWord, isIpv4, sourceWord, uint16 } from '../frames.js';

/** A prefix of IPv4 addresses. */
export interface AddressPrefix {
  /** A 32-bit word, signed or unsigned. */
  readonly address: number;
  /** Leading bits that count, 0 to 32. Default: 32. */
  readonly bits?: number;
}

/** A partial 5-tuple. An omitted field matches everything. */
export interface FlowMatch {
  readonly source?: AddressPrefix;
  readonly destination?: AddressPrefix;
  /** IP protocol, 0 to 255. */
  readonly protocol?: number;
  /** UDP or TCP port; a packet without ports does not match. */
  readonly sourcePort?: number;
  readonly destinationPort?: number;
}

const TCP = 6;
const UDP = 17;

/** @throws RangeError for a value out of range */
export function checkMatch(match: FlowMatch): void {
  for (const prefix of [match.source, match.destination]) {
    if (prefix?.bits !== undefined) checkInteger('bits', prefix.bits, 0, 32);
  }
  if (match.protocol !== undefined) checkInteger('protocol', match.protocol, 0, 255);
  if (match.sourcePort !== undefined) checkInteger('sourcePort', match.sourcePort, 0, 0xffff);
  if (match.destinationPort !== undefined) checkInteger('destinationPort', match.destinationPort, 0, 0xffff);
}

function isWithin(prefix: AddressPrefix | undefined, address: number): boolean {
  if (prefix === undefined) return true;
  const { bits = 32 } = prefix;
  // JavaScript shifts by 32 as by 0.
  return bits === 0 || (prefix.address ^ address) >>> (32 - bits) === 0;
}

/**
 * Whether a frame belongs to the flows, by its present headers. INT marked by port has changed the destination port.
 */
export function matchesFlow(match: FlowMatch, frame: Uint8Array): boolean {
  if (!isIpv4(frame)) return false;
  if (!isWithin(match.destination, destinationWord(frame)) || !isWithin(match.source, sourceWord(frame))) return false;
  const protocol = frame[23]!;
  if (match.protocol !== undefined && match.protocol !== protocol) return false;
  if (match.sourcePort === undefined && match.destinationPort === undefined) return true;
  const at = 14 + ((frame[14]! & 15) << 2);
  const isLater = ((frame[20]! & 0x1f) | frame[21]!) !== 0;
  if ((protocol !== UDP && protocol !== TCP) || isLater || at + 4 > frame.length) return false;
  if (match.sourcePort !== undefined && match.sourcePort !== uint16(frame, at)) return false;
  return match.destinationPort === undefined || match.destinationPort === uint16(frame, at + 2);
}
