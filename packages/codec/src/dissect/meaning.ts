/** Values of header fields in words. */
/** Fields whose digits say more in hexadecimal, with the number of these. */
const HEXADECIMAL: Readonly<Record<string, number>> = {
  etherType: 4,
  protocolType: 4,
  instructionBitmap: 4,
  instructions: 2,
  metadataBits: 4,
  domainMetadataBits: 4,
  domainMetadataStatus: 4,
  domainInstructions: 4,
  domainFlags: 4,
  headerChecksum: 4,
  checksum: 4,
  checksumComplement: 8,
  optionClass: 4,
  dscp: 2,
};

const ETHER_TYPES: Readonly<Record<number, string>> = {
  2048: 'IPv4',
  2054: 'ARP',
  25944: 'Ethernet',
  33024: '802.1Q',
  34984: '802.1ad',
  37120: 'QinQ',
  34525: 'IPv6',
  34887: 'MPLS',
  34888: 'MPLS, upstream label',
  35020: 'LLDP',
};

const PROTOCOLS: Readonly<Record<number, string>> = {
  0: 'hop-by-hop options',
  1: 'ICMP',
  4: 'IPv4',
  6: 'TCP',
  17: 'UDP',
  41: 'IPv6',
  43: 'routing',
  44: 'fragment',
  47: 'GRE',
  51: 'authentication',
  58: 'ICMPv6',
  59: 'no next header',
  60: 'destination options',
  132: 'SCTP',
  135: 'mobility',
  136: 'UDP-Lite',
};

const WORDS: Readonly<Record<string, Readonly<Record<number, string>>>> = {
  etherType: ETHER_TYPES,
  protocolType: ETHER_TYPES,
  protocol: PROTOCOLS,
  nextHeader: PROTOCOLS,
  reportType: { 0: 'inner packet only', 1: 'INT', 2: 'IOAM' },
  innerType: { 0: 'none', 1: 'TLV', 2: 'domain-specific', 3: 'Ethernet', 4: 'IPv4', 5: 'IPv6' },
  npt: { 0: 'marked by DSCP or probe marker', 1: 'original UDP port', 2: 'new UDP header' },
};

/** A value as people read it. `name` is that of the field: some are in hexadecimal, some have words for their values. */
export function meaningOf(name: string, value: number | bigint | boolean | string | null): string {
  if (value === null) return 'not available';
  if (typeof value === 'boolean') return value ? 'set' : 'not set';
  if (typeof value !== 'number') return String(value);
  const digits = HEXADECIMAL[name];
  const text = digits === undefined ? String(value) : `0x${value.toString(16).padStart(digits, '0')}`;
  const word = WORDS[name]?.[value];
  return word === undefined ? text : `${text} (${word})`;
}
