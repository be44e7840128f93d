/** What surrounds INT in a packet: shims, the v0.5 tail and the probe marker. */
import {
  FieldGroup,
  type FixedHeaderCodec,
  fixedHeader,
  type HeaderFields,
  type HeaderOf,
  makeCodec,
  requireBytes,
  requireFit,
} from './codec.js';

/** INT header types, the Type field of shims and of Geneve options. */
export const INT_TYPE = {
  /** INT-MD (v0.5, v1.0: hop-by-hop). */
  MD: 1,
  /** Destination: its format was never defined. */
  DESTINATION: 2,
  /** INT-MX (v2.1). */
  MX: 3,
} as const;

/**
 * TCP/UDP shim of INT v0.5 (section 5.3.1), 4 bytes. 8 bits: `reserved`, `reserved2`.
 * @interface
 */
export type ShimV05 = HeaderOf<typeof shimV05>;

/** {@link ShimV05}. */
export const shimV05 = /* @__PURE__ */ fixedHeader('shim', {
  /** 8 bits, 1 INT-MD, 2 destination (never defined), 3 INT-MX. */
  type: 8,
  reserved: 8,
  /** 8 bits, words: shim, header, stack and tail. */
  length: 8,
  reserved2: 8,
});

/**
 * TCP/UDP shim of INT v1.0 (section 4.6.1), 4 bytes. 8 bits: `reserved`; 2 bits: `reserved2`.
 * @interface
 */
export type ShimV10 = HeaderOf<typeof shimV10>;

/** {@link ShimV10}. */
export const shimV10 = /* @__PURE__ */ fixedHeader('shim', {
  /** 8 bits, 1 INT-MD, 2 destination (never defined), 3 INT-MX. */
  type: 8,
  reserved: 8,
  /** 8 bits, words: shim, header and stack. */
  length: 8,
  /** 6 bits: original DSCP where DSCP marks INT. */
  dscp: 6,
  reserved2: 2,
});

/** What all variants of the TCP/UDP shim of INT v2.x have. */
const SHIM_V2_COMMON = {
  /** 4 bits, 1 INT-MD, 2 destination (never defined), 3 INT-MX. */
  type: 4,
  /** 2 bits: next protocol type. */
  npt: 2,
  /** 2 bits. */
  reserved: 2,
  /** 8 bits, words behind the shim: header and stack (MD), header and source-inserted metadata (MX). */
  length: 8,
} as const;

/** The variants by NPT. */
export const SHIM_V2 = /* @__PURE__ */ [
  /* @__PURE__ */ new FieldGroup('shim', {
    ...SHIM_V2_COMMON,
    /** 8 bits. */
    reserved2: 8,
    /** 6 bits: original DSCP, optional. */
    dscp: 6,
    /** 2 bits. */
    reserved3: 2,
  }),
  /* @__PURE__ */ new FieldGroup('shim', {
    ...SHIM_V2_COMMON,
    /** 16 bits: original UDP destination port. */
    destinationPort: 16,
  }),
  /* @__PURE__ */ new FieldGroup('shim', {
    ...SHIM_V2_COMMON,
    /** 8 bits. */
    reserved2: 8,
    /** 8 bits: original IP protocol. */
    protocol: 8,
  }),
  /* @__PURE__ */ new FieldGroup('shim', {
    ...SHIM_V2_COMMON,
    /** 16 bits, as carried. */
    value: 16,
  }),
] as const;

type ShimV2Of<Npt extends 0 | 1 | 2 | 3> = HeaderFields<(typeof SHIM_V2)[Npt]['layout']> & { npt: Npt };

/** NPT 0: DSCP or probe marker marks INT, which stands between the L4 header and its payload. @interface */
export type ShimV2Marked = ShimV2Of<0>;

/** NPT 1: the UDP destination port marks INT; the packet has its own UDP header. @interface */
export type ShimV2Port = ShimV2Of<1>;

/** NPT 2: the source inserted a UDP header. @interface */
export type ShimV2NewUdp = ShimV2Of<2>;

/** NPT 3: not defined. @interface */
export type ShimV2Undefined = ShimV2Of<3>;

/** TCP/UDP shim of INT v2.0 and v2.1 (section 5.7.2), 4 bytes; the last two depend on the next protocol type. */
export type ShimV2 = ShimV2Marked | ShimV2Port | ShimV2NewUdp | ShimV2Undefined;

/** {@link ShimV2}. */
export const shimV2: FixedHeaderCodec<ShimV2> = /* @__PURE__ */ Object.assign(
  makeCodec<ShimV2>({
    layer: 'shim',
    decode(bytes, offset) {
      requireBytes(bytes, offset, 4, 'shim');
      return SHIM_V2[((bytes[offset]! >>> 2) & 3) as 0].read(bytes, offset) as ShimV2;
    },
    measure: () => 4,
    check(value) {
      requireFit('npt', value.npt, 2);
      (SHIM_V2[value.npt] as FieldGroup<typeof SHIM_V2_COMMON>).check(value);
    },
    write: (value, out, offset) => (SHIM_V2[value.npt] as FieldGroup<typeof SHIM_V2_COMMON>).write(value, out, offset),
  }),
  { byteLength: 4 },
);

/**
 * VXLAN-GPE shim of INT v0.5 and v1.0 (section 4.6.2) and of the 2016 draft, 4 bytes. 8 bits: `reserved`.
 * @interface
 */
export type VxlanGpeShimV1 = HeaderOf<typeof vxlanGpeShimV1>;

/** {@link VxlanGpeShimV1}. */
export const vxlanGpeShimV1 = /* @__PURE__ */ fixedHeader('shim', {
  /** 8 bits, 1 INT-MD, 2 destination (never defined), 3 INT-MX. */
  type: 8,
  reserved: 8,
  /** 8 bits, words: shim, header and stack. */
  length: 8,
  /** 8 bits: VXLAN-GPE next protocol. */
  nextProtocol: 8,
});

/**
 * VXLAN-GPE shim of INT v2.0 and v2.1 (section 5.7.3), 4 bytes. 4 bits: `reserved`; 7 bits: `reserved2`.
 * @interface
 */
export type VxlanGpeShimV2 = HeaderOf<typeof vxlanGpeShimV2>;

/** {@link VxlanGpeShimV2}. */
export const vxlanGpeShimV2 = /* @__PURE__ */ fixedHeader('shim', {
  /** 4 bits, 1 INT-MD, 2 destination (never defined), 3 INT-MX. */
  type: 4,
  reserved: 4,
  /** 8 bits, words behind the shim. */
  length: 8,
  /** G: the packet was plain VXLAN before the source made it VXLAN-GPE. */
  inserted: 'flag',
  reserved2: 7,
  /** 8 bits: VXLAN-GPE next protocol. */
  nextProtocol: 8,
});

/**
 * GRE shim of INT v2.0 and v2.1 (section 5.7.1), 4 bytes. 3 bits: `reserved`.
 * @interface
 */
export type GreShim = HeaderOf<typeof greShim>;

/** {@link GreShim}. */
export const greShim = /* @__PURE__ */ fixedHeader('shim', {
  /** 4 bits, 1 INT-MD, 2 destination (never defined), 3 INT-MX. */
  type: 4,
  /** G: the source inserted GRE and the outer IP header; the sink removes them. */
  inserted: 'flag',
  reserved: 3,
  /** 8 bits, words behind the shim. */
  length: 8,
  /** 16 bits: EtherType of what follows INT. */
  nextProtocol: 16,
});

/**
 * Tail header of INT v0.5 over TCP or UDP (section 5.3.1), 4 bytes, behind the stack.
 * @interface
 */
export type IntTail = HeaderOf<typeof intTail>;

/** {@link IntTail}. */
export const intTail = /* @__PURE__ */ fixedHeader('tail', {
  /** 8 bits: copy of the IP protocol. */
  protocol: 8,
  /** 16 bits: original destination port. */
  destinationPort: 16,
  /** 8 bits: original DSCP, or reserved. The specification does not say which of the 8 bits are the 6 of a DSCP. */
  dscp: 8,
});

/**
 * Probe marker between the L4 header and the shim (INT v1.0 section 4.6.1, v2.1 section 5.7.2), 8 bytes.
 * @interface
 */
export type ProbeMarker = HeaderOf<typeof probeMarker>;

/** {@link ProbeMarker}. */
export const probeMarker = /* @__PURE__ */ fixedHeader('shim', {
  /** 64 bits, chosen by the operator. */
  value: 'uint64',
});
