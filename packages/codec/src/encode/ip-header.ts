/** IP headers without options, as encoders write them. */
import { ipv4HeaderChecksum } from '../checksum.js';
import { writeUint16 } from '../headers/codec.js';
import { type Ipv4, type Ipv6, ipv4, ipv6 } from '../headers/ip.js';

/** What an IP header says, besides its lengths and checksum. Each version has a part of it. */
type IpValues = Pick<Ipv4, 'source' | 'destination' | 'protocol' | 'timeToLive'> &
  Partial<Pick<Ipv4, 'dscp' | 'ecn' | 'identification' | 'dontFragment'> & Pick<Ipv6, 'flowLabel'>>;

/**
 * An IPv6 or IPv4 header in front of `length` bytes. The IPv4 header has its checksum.
 *
 * @param values defaults: DSCP, ECN, identification and flow label 0, do not fragment
 * @throws RangeError or AddressError for a value that does not fit
 */
export function encodeIpHeader(isIpv6: boolean, values: IpValues, length: number): Uint8Array {
  const { source, destination, protocol, timeToLive, dscp = 0, ecn = 0 } = values;
  const common = { dscp, ecn, source, destination };
  if (isIpv6) {
    const { flowLabel = 0 } = values;
    return ipv6.encode({ ...common, flowLabel, payloadLength: length, nextHeader: protocol, hopLimit: timeToLive });
  }
  const { identification = 0, dontFragment = true } = values;
  const header = ipv4.encode({
    ...common,
    totalLength: 20 + length,
    identification,
    reserved: false,
    dontFragment,
    moreFragments: false,
    fragmentOffset: 0,
    timeToLive,
    protocol,
    headerChecksum: 0,
    options: new Uint8Array(0),
  });
  writeUint16(header, 10, ipv4HeaderChecksum(header, 0));
  return header;
}
