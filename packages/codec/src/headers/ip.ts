/** IPv4 (RFC 791), IPv6 and its extension headers (RFC 8200). */
import { FieldGroup, fixedHeader, type HeaderOf, headerWithTail } from './codec.js';

/** IP protocol numbers that this library uses. */
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

/**
 * IPv4 header, 20 to 60 bytes. The header length follows from `options`: these, as
 * carried, are a multiple of 4 bytes, at most 40. 6 bits: `dscp`; 2 bits: `ecn`; 16 bits:
 * `identification`; 8 bits: `timeToLive`, `protocol`.
 * @interface
 */
export type Ipv4 = HeaderOf<typeof ipv4>;

/** {@link Ipv4} header. Errors: `BAD_IP_VERSION`, `BAD_IP_LENGTH` (header length below 5 words). */
export const ipv4 = /* @__PURE__ */ headerWithTail(
  /* @__PURE__ */ new FieldGroup('ipv4', {
    version: { bits: 4, is: 4, code: 'BAD_IP_VERSION' },
    headerLength: { bits: 4 },
    dscp: 6,
    ecn: 2,
    /** 16 bits, bytes: header and payload. */
    totalLength: 16,
    identification: 16,
    /** The reserved flag. */
    reserved: 'flag',
    dontFragment: 'flag',
    moreFragments: 'flag',
    /** 13 bits, units of 8 bytes. */
    fragmentOffset: 13,
    timeToLive: 8,
    protocol: 8,
    /** 16 bits, as carried; `ipv4HeaderChecksum` computes one. */
    headerChecksum: 16,
    /** 32 bits, `10.0.0.1`. */
    source: 'ipv4',
    destination: 'ipv4',
  }),
  { name: 'options', length: 'headerLength', unit: 4, base: -20, short: ['BAD_IP_LENGTH', 'header length'] },
);

/**
 * IPv6 header, 40 bytes. 20 bits: `flowLabel`; 8 bits: `hopLimit`.
 * @interface
 */
export type Ipv6 = HeaderOf<typeof ipv6>;

/** {@link Ipv6} header. Errors: `BAD_IP_VERSION`. */
export const ipv6 = /* @__PURE__ */ fixedHeader('ipv6', {
  version: { bits: 4, is: 6, code: 'BAD_IP_VERSION' },
  /** 6 bits: upper part of the traffic class. */
  dscp: 6,
  /** 2 bits: lower part of the traffic class. */
  ecn: 2,
  flowLabel: 20,
  /** 16 bits, bytes behind this header. */
  payloadLength: 16,
  /** 8 bits: an IP protocol or the first extension header. */
  nextHeader: 8,
  hopLimit: 8,
  /** 128 bits, RFC 5952 text. */
  source: 'ipv6',
  destination: 'ipv6',
});

/**
 * Hop-by-hop or destination options header: 8 bytes and multiples of 8. 8 bits: `nextHeader`. The length field follows
 * from `options`: these, as carried, are 6 bytes more than a multiple of 8, at most 2046.
 * @interface
 */
export type Ipv6Options = HeaderOf<typeof ipv6Options>;

/** {@link Ipv6Options}: protocol 0 (hop-by-hop) or 60 (destination options). */
export const ipv6Options = /* @__PURE__ */ headerWithTail(
  /* @__PURE__ */ new FieldGroup('ipv6', { nextHeader: 8, length: { bits: 8 } }),
  { name: 'options', length: 'length', unit: 8, base: 6 },
);

/**
 * Routing header: 8 bytes and multiples of 8. 8 bits: `nextHeader`, `routingType`, `segmentsLeft`. The length field
 * follows from `data`: this, as the type has it, is 4 bytes more than a multiple of 8, at most 2044.
 * @interface
 */
export type Ipv6Routing = HeaderOf<typeof ipv6Routing>;

/** {@link Ipv6Routing}: protocol 43. */
export const ipv6Routing = /* @__PURE__ */ headerWithTail(
  /* @__PURE__ */ new FieldGroup('ipv6', { nextHeader: 8, length: { bits: 8 }, routingType: 8, segmentsLeft: 8 }),
  { name: 'data', length: 'length', unit: 8, base: 4 },
);

/**
 * Fragment header, 8 bytes. 8 bits: `nextHeader`, `reserved`; 2 bits: `reserved2`; 32 bits: `identification`.
 * @interface
 */
export type Ipv6Fragment = HeaderOf<typeof ipv6Fragment>;

/** {@link Ipv6Fragment}: protocol 44. */
export const ipv6Fragment = /* @__PURE__ */ fixedHeader('ipv6', {
  nextHeader: 8,
  reserved: 8,
  /** 13 bits, units of 8 bytes. */
  fragmentOffset: 13,
  reserved2: 2,
  moreFragments: 'flag',
  identification: 32,
});
