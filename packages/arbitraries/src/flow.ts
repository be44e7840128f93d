import type { Flow } from '@int/codec';
import * as fc from 'fast-check';
import { bits, ipv4Address, ipv6Address } from './values.js';

const WITH_PORTS: readonly number[] = [6, 17, 132, 136];
/** IPv6 extension headers, which are not transport protocols of a flow. */
const EXTENSIONS: readonly number[] = [0, 43, 44, 51, 60, 135];
const GRE = 47;
const EXPERIMENT = 253;

/** Constraints of a flow. */
export interface FlowConstraints {
  /** Default: both. */
  readonly version?: 4 | 6;
  /** IP protocols. Default: mostly TCP and UDP, SCTP and UDP-Lite, any other but GRE and IPv6 extension headers. */
  readonly protocols?: readonly number[];
  /** Destination ports to leave out. Default: none. */
  readonly notDestinationPorts?: readonly number[];
}

/** Monitored flows: addresses in canonical text, ports 0 where the protocol has none (all but TCP, UDP, SCTP, UDP-Lite). */
export function flow(constraints: FlowConstraints = {}): fc.Arbitrary<Flow> {
  const { version, protocols, notDestinationPorts = [] } = constraints;
  const ends = (address: fc.Arbitrary<string>): fc.Arbitrary<[string, string]> => fc.tuple(address, address);
  const addresses =
    version === 4
      ? ends(ipv4Address)
      : version === 6
        ? ends(ipv6Address)
        : fc.oneof(ends(ipv4Address), ends(ipv6Address));
  const protocol =
    protocols === undefined
      ? fc.oneof(
          { arbitrary: fc.constantFrom(17, 6), weight: 4 },
          { arbitrary: fc.constantFrom(132, 136, 1, 58), weight: 1 },
          { arbitrary: fc.integer({ min: 0, max: 255 }), weight: 1 },
        )
      : fc.constantFrom(...protocols);
  const usable = new Map<number, number>();
  for (const port of notDestinationPorts) {
    let other = port;
    while (notDestinationPorts.includes(other)) other = (other + 1) & 0xffff;
    usable.set(port, other);
  }
  return fc.tuple(addresses, protocol, bits(16), bits(16)).map(([[source, destination], drawn, from, to]) => {
    const wrong = protocols === undefined && (drawn === GRE || (source.includes(':') && EXTENSIONS.includes(drawn)));
    const chosen = wrong ? EXPERIMENT : drawn;
    const ports = WITH_PORTS.includes(chosen);
    return {
      source,
      destination,
      protocol: chosen,
      sourcePort: ports ? from : 0,
      destinationPort: ports ? (usable.get(to) ?? to) : 0,
    };
  });
}
