/**
 * Link types: the first header of a frame. Names are those of the registry without `LINKTYPE_`. This is a selection;
 * any 16-bit number may occur in a capture.
 *
 * Source: https://www.tcpdump.org/linktypes.html
 */
export const LinkType = /* @__PURE__ */ Object.freeze({
  /** BSD loopback: a 4-byte address family in the byte order of the capturing machine, then the packet. */
  NULL: 0,
  /** IEEE 802.3 Ethernet, from the destination address on. */
  ETHERNET: 1,
  AX25: 3,
  IEEE802_5: 6,
  ARCNET_BSD: 7,
  SLIP: 8,
  /** PPP, with or without HDLC-like framing. */
  PPP: 9,
  FDDI: 10,
  PPP_HDLC: 50,
  PPP_ETHER: 51,
  ATM_RFC1483: 100,
  /** An IPv4 or IPv6 packet; the first four bits tell which. */
  RAW: 101,
  C_HDLC: 104,
  IEEE802_11: 105,
  FRELAY: 107,
  /** OpenBSD loopback: as NULL, with the address family in network byte order. */
  LOOP: 108,
  /** Linux cooked capture: a 16-byte header. */
  LINUX_SLL: 113,
  PFLOG: 117,
  IEEE802_11_PRISM: 119,
  IP_OVER_FC: 122,
  IEEE802_11_RADIOTAP: 127,
  PPP_PPPD: 166,
  USB_LINUX: 189,
  PPI: 192,
  IEEE802_15_4_WITHFCS: 195,
  ERF: 197,
  PPP_WITH_DIR: 204,
  MPLS: 219,
  USB_LINUX_MMAPPED: 220,
  CAN_SOCKETCAN: 227,
  /** An IPv4 packet. */
  IPV4: 228,
  /** An IPv6 packet. */
  IPV6: 229,
  IEEE802_15_4_NOFCS: 230,
  NFLOG: 239,
  NETANALYZER: 240,
  IPOIB: 242,
  INFINIBAND: 247,
  SCTP: 248,
  WIRESHARK_UPPER_PDU: 252,
  NETLINK: 253,
  PKTAP: 258,
  VSOCK: 271,
  ETHERNET_MPACKET: 274,
  /** Linux cooked capture, version 2: a 20-byte header with the interface index. */
  LINUX_SLL2: 276,
  VPP_DISPATCH: 280,
  DSA_TAG_BRCM: 281,
  DSA_TAG_BRCM_PREPEND: 282,
  DSA_TAG_DSA: 284,
  DSA_TAG_EDSA: 285,
} as const);

/** One of the link types named in {@link LinkType}. */
export type LinkType = (typeof LinkType)[keyof typeof LinkType];
