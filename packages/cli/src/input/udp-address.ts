import type { UdpAddress } from '@int/collector';
import { parseUdpAddress } from '@int/collector/internals';
import { InvalidArgumentError } from 'commander';

/** An option parser for `udp://HOST:PORT`. */
export function udpAddress(text: string): UdpAddress {
  try {
    return parseUdpAddress(text);
  } catch (error) {
    throw new InvalidArgumentError(`${(error as Error).message}.`);
  }
}
