/**
 * The columns of a {@link TelemetryBatch}, with their order and width. The columns of hops are in `fields.ts`.
 *
 * The order is part of the memory layout that the WebAssembly accelerator, the C twin and other threads read: append,
 * never reorder.
 */

/** Per-report 32-bit columns. */
export const REPORT_WORD_COLUMNS = [
  /** Index of the frame within the decode call. */
  'frame',
  /** Bit field, see {@link FLAG}. */
  'flags',
  /** The reporting node, or all ones. */
  'nodeId',
  /** Sequence number: 22 bits in v2.0, 32 before. */
  'sequence',
  /** Instruction bitmap (upper half) and the report's own metadata bits in the same numbering (lower half). */
  'instructions',
  /** First row of the report in the hop columns. */
  'hopStart',
  /** Ports of the monitored flow: source << 16 | destination. */
  'ports',
  /** Source address; an IPv4 address is in `source0` and words 1 to 3 are undefined. */
  'source0',
  'source1',
  'source2',
  'source3',
  /** Destination address; an IPv4 address is in `destination0` and words 1 to 3 are undefined. */
  'destination0',
  'destination1',
  'destination2',
  'destination3',
  /** Ingress timestamp of a v0.5 or v1.0 report; undefined for others. */
  'reportTimestamp',
  /** Queue id 8, drop reason 8, padding 16, as carried; all ones if the report has none. */
  'drop',
  /**
   * Byte offset, in the input, of the monitored packet's Ethernet header: 6 bytes destination MAC, 6 bytes source MAC
   * (VLAN tags and MPLS labels come behind them). All ones if there is none, or if it has less than its 14 bytes.
   *
   * It is the header in front of the flow's IP header: that of the packet inside a report, that of the frame itself if
   * the frame carries INT, that of the encapsulated packet in a tunnel.
   */
  'ethernet',
] as const;

/** Per-report byte columns. */
export const REPORT_BYTE_COLUMNS = [
  /** 0 or a code of {@link CODES}. */
  'code',
  /** Rows of the report in the hop columns: the embedded stack and, if {@link FLAG}.OWN is set, the node's own row. */
  'hopCount',
  /** IP protocol of the monitored flow. */
  'protocol',
] as const;

export type ReportWordColumn = (typeof REPORT_WORD_COLUMNS)[number];
export type ReportByteColumn = (typeof REPORT_BYTE_COLUMNS)[number];

/** Bits of the `flags` column. */
export const FLAG = {
  /** Bits 0-1: 0 no report (a packet that carries INT), 1 v0.5, 2 v1.0, 3 v2.0. */
  REPORT_SHIFT: 0,
  REPORT_MASK: 0x3,
  INTERMEDIATE: 1 << 2,
  TRACKED_FLOW: 1 << 3,
  QUEUE_CONGESTED: 1 << 4,
  DROPPED: 1 << 5,
  /** Bits 6-8: 0 none, 1 md, 2 mx, 3 xd, 4 gpint. */
  MODE_SHIFT: 6,
  MODE_MASK: 0x7,
  /** Bits 9-11: 0 none, 1 v0.5, 2 v1.0, 3 v2.x, 4 2016, 5 intmon. */
  INT_VERSION_SHIFT: 9,
  INT_VERSION_MASK: 0x7,
  /** Bits 12-14: 0 none, 1 udp, 2 tcp, 3 udp-new, 4 vxlan-gpe, 5 geneve, 6 gre. */
  ENCAPSULATION_SHIFT: 12,
  ENCAPSULATION_MASK: 0x7,
  MTU_EXCEEDED: 1 << 15,
  HOP_EXCEEDED: 1 << 16,
  DISCARD: 1 << 17,
  /** The monitored flow is known. */
  FLOW: 1 << 18,
  /** The monitored flow is IPv6: all address words are set. */
  IPV6: 1 << 19,
  /** The last hop row holds the reporting node's own values. */
  OWN: 1 << 20,
  /**
   * An event that is reported besides the sample of its flow: it says nothing of how many packets there are. No decoder sets it; a
   * stage does that knows the rules of the INT sinks.
   */
  BESIDES: 1 << 21,
  /** Bits 24-29. */
  HW_ID_SHIFT: 24,
  HW_ID_MASK: 0x3f,
} as const;

export const REPORT_VERSIONS = [null, '0.5', '1.0', '2.0'] as const;
export const MODES = [null, 'md', 'mx', 'xd', 'gpint'] as const;
export const INT_VERSIONS = [null, '0.5', '1.0', '2', '2016', 'intmon'] as const;
export const ENCAPSULATIONS = ['none', 'udp', 'tcp', 'udp-new', 'vxlan-gpe', 'geneve', 'gre'] as const;

/** A cell that holds no value. */
export const NOT_AVAILABLE = 0xffffffff;
