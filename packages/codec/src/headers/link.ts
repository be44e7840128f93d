/** Ethernet II, IEEE 802.1Q/802.1ad tags and MPLS label stack entries. */
import { type FixedHeaderCodec, fixedHeader } from './codec.js';

/** EtherTypes that matter here. */
export const ETHER_TYPE = {
  IPV4: 0x0800,
  TRANSPARENT_ETHERNET: 0x6558,
  VLAN: 0x8100,
  QINQ_OLD: 0x9100,
  IPV6: 0x86dd,
  MPLS: 0x8847,
  MPLS_UPSTREAM: 0x8848,
  SERVICE_VLAN: 0x88a8,
} as const;

/** Ethernet header, 14 bytes, without preamble and frame check sequence. */
export interface Ethernet {
  /** 48 bits, `02:00:00:00:00:01`. */
  destination: string;
  /** 48 bits. */
  source: string;
  /** 16 bits; below 0x0600 it is the length of an IEEE 802.3 frame. */
  etherType: number;
}

/** {@link Ethernet} header. */
export const ethernet: FixedHeaderCodec<Ethernet> = /* @__PURE__ */ fixedHeader<Ethernet>('link', [
  ['destination', 48, 'address'],
  ['source', 48, 'address'],
  ['etherType', 16],
]);

/**
 * One VLAN tag as it follows an EtherType of 0x8100, 0x88a8 or 0x9100: tag control information, then the next
 * EtherType. 4 bytes; tags stack.
 */
export interface VlanTag {
  /** 3 bits. */
  priority: number;
  /** 1 bit. */
  dropEligible: boolean;
  /** 12 bits. */
  vlanId: number;
  /** 16 bits: what follows this tag. */
  etherType: number;
}

/** {@link VlanTag}. */
export const vlanTag: FixedHeaderCodec<VlanTag> = /* @__PURE__ */ fixedHeader<VlanTag>('link', [
  ['priority', 3],
  ['dropEligible', 1, 'flag'],
  ['vlanId', 12],
  ['etherType', 16],
]);

/** MPLS label stack entry (RFC 3032), 4 bytes; entries stack until `bottomOfStack`. */
export interface MplsLabel {
  /** 20 bits. */
  label: number;
  /** 3 bits (RFC 5462). */
  trafficClass: number;
  bottomOfStack: boolean;
  /** 8 bits. */
  timeToLive: number;
}

/** {@link MplsLabel} stack entry. */
export const mplsLabel: FixedHeaderCodec<MplsLabel> = /* @__PURE__ */ fixedHeader<MplsLabel>('mpls', [
  ['label', 20],
  ['trafficClass', 3],
  ['bottomOfStack', 1, 'flag'],
  ['timeToLive', 8],
]);
