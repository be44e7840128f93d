/** Schemas of the layers below INT: from Ethernet to TCP, and the tunnels. */
import type * as header from '../headers/index.js';
import { atLeast, equals, FLAG, type HeaderSchema, IPV4, IPV6, MAC, Parser, schema } from './schema.js';

export const ethernetSchema: HeaderSchema<header.Ethernet> = /* @__PURE__ */ schema('link', () =>
  new Parser().buffer('destination', MAC).buffer('source', MAC).uint16('etherType'),
);

export const vlanTagSchema: HeaderSchema<header.VlanTag> = /* @__PURE__ */ schema('link', () =>
  new Parser().bit3('priority').bit1('dropEligible', FLAG).bit12('vlanId').uint16('etherType'),
);

export const mplsLabelSchema: HeaderSchema<header.MplsLabel> = /* @__PURE__ */ schema('mpls', () =>
  new Parser().bit20('label').bit3('trafficClass').bit1('bottomOfStack', FLAG).bit8('timeToLive'),
);

/** IPv4 header; `headerLength` in words. */
export const ipv4Schema: HeaderSchema<header.Ipv4 & { version: number; headerLength: number }> = /* @__PURE__ */ schema(
  'ipv4',
  () =>
    new Parser()
      .bit4('version', equals(4))
      .bit4('headerLength', atLeast(5))
      .bit6('dscp')
      .bit2('ecn')
      .uint16('totalLength')
      .uint16('identification')
      .bit1('reserved', FLAG)
      .bit1('dontFragment', FLAG)
      .bit1('moreFragments', FLAG)
      .bit13('fragmentOffset')
      .uint8('timeToLive')
      .uint8('protocol')
      .uint16('headerChecksum')
      .uint32('source', IPV4)
      .uint32('destination', IPV4)
      .buffer('options', { length: (item: { headerLength: number }): number => item.headerLength * 4 - 20 }),
  { codes: { version: 'BAD_IP_VERSION', headerLength: 'BAD_IP_LENGTH' } },
);

export const ipv6Schema: HeaderSchema<header.Ipv6 & { version: number }> = /* @__PURE__ */ schema(
  'ipv6',
  () =>
    new Parser()
      .bit4('version', equals(6))
      .bit6('dscp')
      .bit2('ecn')
      .bit20('flowLabel')
      .uint16('payloadLength')
      .uint8('nextHeader')
      .uint8('hopLimit')
      .buffer('source', IPV6)
      .buffer('destination', IPV6),
  { codes: { version: 'BAD_IP_VERSION' } },
);

/** Hop-by-hop and destination options; `length` in 8 bytes, the first 8 excluded. */
export const ipv6OptionsSchema: HeaderSchema<header.Ipv6Options & { length: number }> = /* @__PURE__ */ schema(
  'ipv6',
  () =>
    new Parser()
      .uint8('nextHeader')
      .uint8('length')
      .buffer('options', { length: (item: { length: number }): number => 6 + item.length * 8 }),
);

/** Routing header; `length` in 8 bytes, the first 8 excluded. */
export const ipv6RoutingSchema: HeaderSchema<header.Ipv6Routing & { length: number }> = /* @__PURE__ */ schema(
  'ipv6',
  () =>
    new Parser()
      .uint8('nextHeader')
      .uint8('length')
      .uint8('routingType')
      .uint8('segmentsLeft')
      .buffer('data', { length: (item: { length: number }): number => 4 + item.length * 8 }),
);

export const ipv6FragmentSchema: HeaderSchema<header.Ipv6Fragment> = /* @__PURE__ */ schema('ipv6', () =>
  new Parser()
    .uint8('nextHeader')
    .uint8('reserved')
    .bit13('fragmentOffset')
    .bit2('reserved2')
    .bit1('moreFragments', FLAG)
    .uint32('identification'),
);

export const udpSchema: HeaderSchema<header.Udp> = /* @__PURE__ */ schema('udp', () =>
  new Parser().uint16('sourcePort').uint16('destinationPort').uint16('length').uint16('checksum'),
);

/** TCP header; `dataOffset` in words. */
export const tcpSchema: HeaderSchema<header.Tcp & { dataOffset: number }> = /* @__PURE__ */ schema(
  'tcp',
  () =>
    new Parser()
      .uint16('sourcePort')
      .uint16('destinationPort')
      .uint32('sequenceNumber')
      .uint32('acknowledgementNumber')
      .bit4('dataOffset', atLeast(5))
      .bit4('reserved')
      .uint8('flags')
      .uint16('window')
      .uint16('checksum')
      .uint16('urgentPointer')
      .buffer('options', { length: (item: { dataOffset: number }): number => item.dataOffset * 4 - 20 }),
  { codes: { dataOffset: 'BAD_TCP_LENGTH' } },
);

export const vxlanGpeSchema: HeaderSchema<header.VxlanGpe> = /* @__PURE__ */ schema('vxlan-gpe', () =>
  new Parser()
    .bit2('reserved')
    .bit2('version')
    .bit1('vniValid', FLAG)
    .bit1('nextProtocolValid', FLAG)
    .bit1('bumTraffic', FLAG)
    .bit1('oam', FLAG)
    .uint16('reserved2')
    .uint8('nextProtocol')
    .bit24('vni')
    .bit8('reserved3'),
);

/** One option; `length` in words. In an array the item is `this`; the argument is the outermost result. */
const geneveOptionParser = (): Parser =>
  new Parser()
    .uint16('optionClass')
    .uint8('type')
    .bit3('reserved')
    .bit5('length')
    .buffer('data', {
      length(this: { length: number }): number {
        return this.length * 4;
      },
    });

/**
 * Geneve; `optionLength` in words. The array stops at or behind the end of the options, because binary-parser does not
 * limit an item to its array. A later check finds an option that runs past the option length.
 */
export const geneveSchema: HeaderSchema<
  Omit<header.Geneve, 'options'> & {
    optionLength: number;
    options: (header.Geneve['options'][number] & { length: number })[];
  }
> = /* @__PURE__ */ schema(
  'geneve',
  () =>
    new Parser()
      .bit2('version')
      .bit6('optionLength')
      .bit1('control', FLAG)
      .bit1('critical', FLAG)
      .bit6('reserved')
      .uint16('protocolType')
      .bit24('vni')
      .bit8('reserved2')
      .array('options', {
        type: geneveOptionParser(),
        lengthInBytes: (item: { optionLength: number }): number => item.optionLength * 4,
      }),
  {
    fault: ({ optionLength, options }) =>
      options.reduce((words, { length }) => words + 1 + length, 0) === optionLength ? null : 'BAD_TUNNEL',
  },
);

/** The flags of a GRE header, and the optional words. A word that is absent is `null`. */
export interface GreFields extends header.Gre {
  checksumPresent: boolean;
  routingPresent: boolean;
  keyPresent: boolean;
  sequencePresent: boolean;
  version: number;
}

/**
 * GRE. A `choice` without a name writes the fields of its branch into the result. This describes the optional words;
 * the absent ones are added later.
 */
export const greSchema: HeaderSchema<GreFields> = /* @__PURE__ */ schema<GreFields>(
  'gre',
  () =>
    new Parser()
      .bit1('checksumPresent', FLAG)
      .bit1('routingPresent', { ...FLAG, ...equals(0) })
      .bit1('keyPresent', FLAG)
      .bit1('sequencePresent', FLAG)
      .bit9('reserved')
      .bit3('version', equals(0))
      .uint16('protocolType')
      .choice({
        tag: (item: GreFields): number => Number(item.checksumPresent),
        choices: { 0: new Parser(), 1: new Parser().uint16('checksum').uint16('reserved2') },
      })
      .choice({
        tag: (item: GreFields): number => Number(item.keyPresent),
        choices: { 0: new Parser(), 1: new Parser().uint32('key') },
      })
      .choice({
        tag: (item: GreFields): number => Number(item.sequencePresent),
        choices: { 0: new Parser(), 1: new Parser().uint32('sequenceNumber') },
      }),
  {
    codes: { routingPresent: 'BAD_TUNNEL', version: 'BAD_TUNNEL' },
    finish: (value) => ({
      ...value,
      checksum: value.checksum ?? null,
      reserved2: value.reserved2 ?? 0,
      key: value.key ?? null,
      sequenceNumber: value.sequenceNumber ?? null,
    }),
  },
);
