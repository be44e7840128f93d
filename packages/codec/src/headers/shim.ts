/** What stands between an encapsulation and an INT header: shims, the v0.5 tail and the probe marker. */
import { type FixedHeaderCodec, fixedHeader, makeCodec, requireBytes, requireFit, writeUint16 } from './codec.js';

/** INT header types, the Type field of shims and of Geneve options. */
export const INT_TYPE = {
  /** INT-MD (v0.5, v1.0: hop-by-hop). */
  MD: 1,
  /** Destination: its format was never defined. */
  DESTINATION: 2,
  /** INT-MX (v2.1). */
  MX: 3,
} as const;

/** TCP/UDP shim of INT v0.5 (section 5.3.1), 4 bytes. */
export interface ShimV05 {
  /** 8 bits, 1 INT-MD, 2 destination (never defined), 3 INT-MX. */
  type: number;
  /** 8 bits. */
  reserved: number;
  /** 8 bits, words: shim, header, stack and tail. */
  length: number;
  /** 8 bits. */
  reserved2: number;
}

/** {@link ShimV05}. */
export const shimV05: FixedHeaderCodec<ShimV05> = /* @__PURE__ */ fixedHeader<ShimV05>('shim', [
  ['type', 8],
  ['reserved', 8],
  ['length', 8],
  ['reserved2', 8],
]);

/** TCP/UDP shim of INT v1.0 (section 4.6.1), 4 bytes. */
export interface ShimV10 {
  /** 8 bits, 1 INT-MD, 2 destination (never defined), 3 INT-MX. */
  type: number;
  /** 8 bits. */
  reserved: number;
  /** 8 bits, words: shim, header and stack. */
  length: number;
  /** 6 bits: original DSCP where DSCP marks INT. */
  dscp: number;
  /** 2 bits. */
  reserved2: number;
}

/** {@link ShimV10}. */
export const shimV10: FixedHeaderCodec<ShimV10> = /* @__PURE__ */ fixedHeader<ShimV10>('shim', [
  ['type', 8],
  ['reserved', 8],
  ['length', 8],
  ['dscp', 6],
  ['reserved2', 2],
]);

/** What all variants of the TCP/UDP shim of INT v2.x have. */
interface ShimV2Common {
  /** 4 bits, 1 INT-MD, 2 destination (never defined), 3 INT-MX. */
  type: number;
  /** 2 bits. */
  reserved: number;
  /** 8 bits, words behind the shim: header and stack (MD), header and source-inserted metadata (MX). */
  length: number;
}

/** NPT 0: INT is marked by DSCP or probe marker and stands between the L4 header and its payload. */
export interface ShimV2Marked extends ShimV2Common {
  npt: 0;
  /** 8 bits. */
  reserved2: number;
  /** 6 bits: original DSCP, optional. */
  dscp: number;
  /** 2 bits. */
  reserved3: number;
}

/** NPT 1: the UDP destination port marks INT; the packet has its own UDP header. */
export interface ShimV2Port extends ShimV2Common {
  npt: 1;
  /** 16 bits: original UDP destination port. */
  destinationPort: number;
}

/** NPT 2: the source inserted a UDP header. */
export interface ShimV2NewUdp extends ShimV2Common {
  npt: 2;
  /** 8 bits. */
  reserved2: number;
  /** 8 bits: original IP protocol. */
  protocol: number;
}

/** NPT 3: not defined. */
export interface ShimV2Undefined extends ShimV2Common {
  npt: 3;
  /** 16 bits, as carried. */
  value: number;
}

/** TCP/UDP shim of INT v2.0 and v2.1 (section 5.7.2), 4 bytes; the last two depend on the next protocol type. */
export type ShimV2 = ShimV2Marked | ShimV2Port | ShimV2NewUdp | ShimV2Undefined;

/** {@link ShimV2}. */
export const shimV2: FixedHeaderCodec<ShimV2> = /* @__PURE__ */ Object.assign(
  makeCodec<ShimV2>({
    layer: 'shim',
    decode(bytes, offset) {
      requireBytes(bytes, offset, 4, 'shim');
      const first = bytes[offset]!;
      const third = bytes[offset + 2]!;
      const last = bytes[offset + 3]!;
      const common = { type: first >>> 4, reserved: first & 3, length: bytes[offset + 1]! };
      switch ((first >>> 2) & 3) {
        case 0:
          return { ...common, npt: 0, reserved2: third, dscp: last >>> 2, reserved3: last & 3 };
        case 1:
          return { ...common, npt: 1, destinationPort: (third << 8) | last };
        case 2:
          return { ...common, npt: 2, reserved2: third, protocol: last };
        default:
          return { ...common, npt: 3, value: (third << 8) | last };
      }
    },
    measure: () => 4,
    check(value) {
      requireFit('type', value.type, 4);
      requireFit('npt', value.npt, 2);
      requireFit('reserved', value.reserved, 2);
      requireFit('length', value.length, 8);
      if (value.npt === 0) {
        requireFit('reserved2', value.reserved2, 8);
        requireFit('dscp', value.dscp, 6);
        requireFit('reserved3', value.reserved3, 2);
      } else if (value.npt === 1) {
        requireFit('destinationPort', value.destinationPort, 16);
      } else if (value.npt === 2) {
        requireFit('reserved2', value.reserved2, 8);
        requireFit('protocol', value.protocol, 8);
      } else {
        requireFit('value', value.value, 16);
      }
    },
    write(value, out, offset) {
      out[offset] = (value.type << 4) | (value.npt << 2) | value.reserved;
      out[offset + 1] = value.length;
      if (value.npt === 0) writeUint16(out, offset + 2, (value.reserved2 << 8) | (value.dscp << 2) | value.reserved3);
      else if (value.npt === 1) writeUint16(out, offset + 2, value.destinationPort);
      else if (value.npt === 2) writeUint16(out, offset + 2, (value.reserved2 << 8) | value.protocol);
      else writeUint16(out, offset + 2, value.value);
    },
  }),
  { byteLength: 4 },
);

/** VXLAN-GPE shim of INT v0.5 and v1.0 (section 4.6.2) and of the 2016 draft, 4 bytes. */
export interface VxlanGpeShimV1 {
  /** 8 bits, 1 INT-MD, 2 destination (never defined), 3 INT-MX. */
  type: number;
  /** 8 bits. */
  reserved: number;
  /** 8 bits, words: shim, header and stack. */
  length: number;
  /** 8 bits: VXLAN-GPE next protocol. */
  nextProtocol: number;
}

/** {@link VxlanGpeShimV1}. */
export const vxlanGpeShimV1: FixedHeaderCodec<VxlanGpeShimV1> = /* @__PURE__ */ fixedHeader<VxlanGpeShimV1>('shim', [
  ['type', 8],
  ['reserved', 8],
  ['length', 8],
  ['nextProtocol', 8],
]);

/** VXLAN-GPE shim of INT v2.0 and v2.1 (section 5.7.3), 4 bytes. */
export interface VxlanGpeShimV2 {
  /** 4 bits, 1 INT-MD, 2 destination (never defined), 3 INT-MX. */
  type: number;
  /** 4 bits. */
  reserved: number;
  /** 8 bits, words behind the shim. */
  length: number;
  /** G: the packet was plain VXLAN before the source made it VXLAN-GPE. */
  inserted: boolean;
  /** 7 bits. */
  reserved2: number;
  /** 8 bits: VXLAN-GPE next protocol. */
  nextProtocol: number;
}

/** {@link VxlanGpeShimV2}. */
export const vxlanGpeShimV2: FixedHeaderCodec<VxlanGpeShimV2> = /* @__PURE__ */ fixedHeader<VxlanGpeShimV2>('shim', [
  ['type', 4],
  ['reserved', 4],
  ['length', 8],
  ['inserted', 1, 'flag'],
  ['reserved2', 7],
  ['nextProtocol', 8],
]);

/** GRE shim of INT v2.0 and v2.1 (section 5.7.1), 4 bytes. */
export interface GreShim {
  /** 4 bits, 1 INT-MD, 2 destination (never defined), 3 INT-MX. */
  type: number;
  /** G: the source inserted GRE and the outer IP header; the sink removes them. */
  inserted: boolean;
  /** 3 bits. */
  reserved: number;
  /** 8 bits, words behind the shim. */
  length: number;
  /** 16 bits: EtherType of what follows INT. */
  nextProtocol: number;
}

/** {@link GreShim}. */
export const greShim: FixedHeaderCodec<GreShim> = /* @__PURE__ */ fixedHeader<GreShim>('shim', [
  ['type', 4],
  ['inserted', 1, 'flag'],
  ['reserved', 3],
  ['length', 8],
  ['nextProtocol', 16],
]);

/** Tail header of INT v0.5 over TCP or UDP (section 5.3.1), 4 bytes, behind the stack. */
export interface IntTail {
  /** 8 bits: copy of the IP protocol. */
  protocol: number;
  /** 16 bits: original destination port. */
  destinationPort: number;
  /** 8 bits: original DSCP, or reserved. Where 6 bits would stand is not said. */
  dscp: number;
}

/** {@link IntTail}. */
export const intTail: FixedHeaderCodec<IntTail> = /* @__PURE__ */ fixedHeader<IntTail>('tail', [
  ['protocol', 8],
  ['destinationPort', 16],
  ['dscp', 8],
]);

/** Probe marker between the L4 header and the shim (INT v1.0 section 4.6.1, v2.1 section 5.7.2), 8 bytes. */
export interface ProbeMarker {
  /** 64 bits, chosen by the operator. */
  value: bigint;
}

/** {@link ProbeMarker}. */
export const probeMarker: FixedHeaderCodec<ProbeMarker> = /* @__PURE__ */ fixedHeader<ProbeMarker>('shim', [
  ['value', 64, 'bigint'],
]);
