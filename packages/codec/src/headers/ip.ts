/** IPv4 (RFC 791), IPv6 and its extension headers (RFC 8200). */
import { CodecError } from '../errors.js';
import {
  FieldGroup,
  type FixedHeaderCodec,
  fixedHeader,
  type HeaderCodec,
  makeCodec,
  requireBytes,
  requireFit,
  requireSize,
} from './codec.js';

/** IP protocol numbers that matter here. */
export const IP_PROTOCOL = {
  HOP_BY_HOP: 0,
  ICMP: 1,
  IPV4: 4,
  TCP: 6,
  UDP: 17,
  IPV6: 41,
  ROUTING: 43,
  FRAGMENT: 44,
  GRE: 47,
  AUTHENTICATION: 51,
  NO_NEXT_HEADER: 59,
  DESTINATION_OPTIONS: 60,
  SCTP: 132,
  MOBILITY: 135,
  UDP_LITE: 136,
} as const;

/** IPv4 header, 20 to 60 bytes. The header length follows from `options`. */
export interface Ipv4 {
  /** 6 bits. */
  dscp: number;
  /** 2 bits. */
  ecn: number;
  /** 16 bits, bytes: header and payload. */
  totalLength: number;
  /** 16 bits. */
  identification: number;
  /** The reserved flag. */
  reserved: boolean;
  dontFragment: boolean;
  moreFragments: boolean;
  /** 13 bits, units of 8 bytes. */
  fragmentOffset: number;
  /** 8 bits. */
  timeToLive: number;
  /** 8 bits. */
  protocol: number;
  /** 16 bits, as carried; `ipv4HeaderChecksum` computes one. */
  headerChecksum: number;
  /** 32 bits, `10.0.0.1`. */
  source: string;
  /** 32 bits. */
  destination: string;
  /** As carried: a multiple of 4 bytes, at most 40. */
  options: Uint8Array;
}

type Ipv4Fixed = Omit<Ipv4, 'options'>;
const IPV4 = /* @__PURE__ */ new FieldGroup<Ipv4Fixed>('ipv4', [
  [null, 4, 4, 'BAD_IP_VERSION'],
  [null, 4],
  ['dscp', 6],
  ['ecn', 2],
  ['totalLength', 16],
  ['identification', 16],
  ['reserved', 1, 'flag'],
  ['dontFragment', 1, 'flag'],
  ['moreFragments', 1, 'flag'],
  ['fragmentOffset', 13],
  ['timeToLive', 8],
  ['protocol', 8],
  ['headerChecksum', 16],
  ['source', 32, 'address'],
  ['destination', 32, 'address'],
]);

/** {@link Ipv4} header. Errors: `BAD_IP_VERSION`, `BAD_IP_LENGTH` (header length below 5 words). */
export const ipv4: HeaderCodec<Ipv4> = /* @__PURE__ */ makeCodec<Ipv4>({
  layer: 'ipv4',
  decode(bytes, offset) {
    requireBytes(bytes, offset, 20, 'ipv4');
    const fields = IPV4.read(bytes, offset);
    const length = (bytes[offset]! & 15) * 4;
    if (length < 20) throw new CodecError('BAD_IP_LENGTH', 'ipv4', offset, `header length ${length} bytes`);
    requireBytes(bytes, offset, length, 'ipv4');
    return Object.assign(fields, { options: bytes.subarray(offset + 20, offset + length) });
  },
  measure(value) {
    requireSize('options', value.options, 4, 40);
    return 20 + value.options.length;
  },
  check: (value) => IPV4.check(value),
  write(value, out, offset) {
    IPV4.write(value, out, offset);
    out[offset]! |= 5 + value.options.length / 4;
    out.set(value.options, offset + 20);
  },
});

/** IPv6 header, 40 bytes. */
export interface Ipv6 {
  /** 6 bits: upper part of the traffic class. */
  dscp: number;
  /** 2 bits: lower part of the traffic class. */
  ecn: number;
  /** 20 bits. */
  flowLabel: number;
  /** 16 bits, bytes behind this header. */
  payloadLength: number;
  /** 8 bits: an IP protocol or the first extension header. */
  nextHeader: number;
  /** 8 bits. */
  hopLimit: number;
  /** 128 bits, RFC 5952 text. */
  source: string;
  /** 128 bits. */
  destination: string;
}

/** {@link Ipv6} header. Errors: `BAD_IP_VERSION`. */
export const ipv6: FixedHeaderCodec<Ipv6> = /* @__PURE__ */ fixedHeader<Ipv6>('ipv6', [
  [null, 4, 6, 'BAD_IP_VERSION'],
  ['dscp', 6],
  ['ecn', 2],
  ['flowLabel', 20],
  ['payloadLength', 16],
  ['nextHeader', 8],
  ['hopLimit', 8],
  ['source', 128, 'address'],
  ['destination', 128, 'address'],
]);

/**
 * Hop-by-hop or destination options header: 8 bytes and multiples of 8. The length field follows from `options`.
 */
export interface Ipv6Options {
  /** 8 bits. */
  nextHeader: number;
  /** The options as carried: 6 bytes more than a multiple of 8, at most 2046. */
  options: Uint8Array;
}

/** {@link Ipv6Options}: protocol 0 (hop-by-hop) or 60 (destination options). */
export const ipv6Options: HeaderCodec<Ipv6Options> = /* @__PURE__ */ makeCodec<Ipv6Options>({
  layer: 'ipv6',
  decode(bytes, offset) {
    requireBytes(bytes, offset, 8, 'ipv6');
    const length = 8 + bytes[offset + 1]! * 8;
    requireBytes(bytes, offset, length, 'ipv6');
    return { nextHeader: bytes[offset]!, options: bytes.subarray(offset + 2, offset + length) };
  },
  measure(value) {
    requireSize('options', value.options, 8, 2046, 6);
    return 2 + value.options.length;
  },
  check: (value) => requireFit('nextHeader', value.nextHeader, 8),
  write(value, out, offset) {
    out[offset] = value.nextHeader;
    out[offset + 1] = (value.options.length - 6) / 8;
    out.set(value.options, offset + 2);
  },
});

/** Routing header: 8 bytes and multiples of 8. The length field follows from `data`. */
export interface Ipv6Routing {
  /** 8 bits. */
  nextHeader: number;
  /** 8 bits. */
  routingType: number;
  /** 8 bits. */
  segmentsLeft: number;
  /** Type-specific data: 4 bytes more than a multiple of 8, at most 2044. */
  data: Uint8Array;
}

/** {@link Ipv6Routing}: protocol 43. */
export const ipv6Routing: HeaderCodec<Ipv6Routing> = /* @__PURE__ */ makeCodec<Ipv6Routing>({
  layer: 'ipv6',
  decode(bytes, offset) {
    requireBytes(bytes, offset, 8, 'ipv6');
    const length = 8 + bytes[offset + 1]! * 8;
    requireBytes(bytes, offset, length, 'ipv6');
    return {
      nextHeader: bytes[offset]!,
      routingType: bytes[offset + 2]!,
      segmentsLeft: bytes[offset + 3]!,
      data: bytes.subarray(offset + 4, offset + length),
    };
  },
  measure(value) {
    requireSize('data', value.data, 8, 2044, 4);
    return 4 + value.data.length;
  },
  check(value) {
    requireFit('nextHeader', value.nextHeader, 8);
    requireFit('routingType', value.routingType, 8);
    requireFit('segmentsLeft', value.segmentsLeft, 8);
  },
  write(value, out, offset) {
    out[offset] = value.nextHeader;
    out[offset + 1] = (value.data.length - 4) / 8;
    out[offset + 2] = value.routingType;
    out[offset + 3] = value.segmentsLeft;
    out.set(value.data, offset + 4);
  },
});

/** Fragment header, 8 bytes. */
export interface Ipv6Fragment {
  /** 8 bits. */
  nextHeader: number;
  /** 8 bits. */
  reserved: number;
  /** 13 bits, units of 8 bytes. */
  fragmentOffset: number;
  /** 2 bits. */
  reserved2: number;
  moreFragments: boolean;
  /** 32 bits. */
  identification: number;
}

/** {@link Ipv6Fragment}: protocol 44. */
export const ipv6Fragment: FixedHeaderCodec<Ipv6Fragment> = /* @__PURE__ */ fixedHeader<Ipv6Fragment>('ipv6', [
  ['nextHeader', 8],
  ['reserved', 8],
  ['fragmentOffset', 13],
  ['reserved2', 2],
  ['moreFragments', 1, 'flag'],
  ['identification', 32],
]);
