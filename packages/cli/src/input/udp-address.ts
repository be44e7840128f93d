import { parseUdpAddress, type UdpAddress } from '@int/collector';
import { InvalidArgumentError } from 'commander';

/** An option parser for `udp://HOST:PORT`. */
export function udpAddress(text: string): UdpAddress {
  try {
    return parseUdpAddress(text);
  } catch {
    throw new InvalidArgumentError('Give udp://HOST:PORT, an IPv6 host in brackets.');
  }
}
