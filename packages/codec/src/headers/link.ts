/** Ethernet II, IEEE 802.1Q/802.1ad tags and MPLS label stack entries. */
import { fixedHeader, type HeaderOf } from './codec.js';

/** EtherTypes that this library uses. */
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

/**
 * Ethernet header, 14 bytes, without preamble and frame check sequence.
 * @interface
 */
export type Ethernet = HeaderOf<typeof ethernet>;

/** {@link Ethernet} header. */
export const ethernet = /* @__PURE__ */ fixedHeader('link', {
  /** 48 bits, `02:00:00:00:00:01`. */
  destination: 'mac',
  source: 'mac',
  /** 16 bits; below 0x0600 it is the length of an IEEE 802.3 frame. */
  etherType: 16,
});

/**
 * One VLAN tag as it follows an EtherType of 0x8100, 0x88a8 or 0x9100: tag control information, then the next
 * EtherType. 4 bytes; tags stack. 3 bits: `priority`; 12 bits: `vlanId`.
 * @interface
 */
export type VlanTag = HeaderOf<typeof vlanTag>;

/** {@link VlanTag}. */
export const vlanTag = /* @__PURE__ */ fixedHeader('link', {
  priority: 3,
  dropEligible: 'flag',
  vlanId: 12,
  /** 16 bits: what follows this tag. */
  etherType: 16,
});

/**
 * MPLS label stack entry (RFC 3032), 4 bytes; entries stack until `bottomOfStack`. 20 bits: `label`; 8 bits:
 * `timeToLive`.
 * @interface
 */
export type MplsLabel = HeaderOf<typeof mplsLabel>;

/** {@link MplsLabel} stack entry. */
export const mplsLabel = /* @__PURE__ */ fixedHeader('mpls', {
  label: 20,
  /** 3 bits (RFC 5462). */
  trafficClass: 3,
  bottomOfStack: 'flag',
  timeToLive: 8,
});
