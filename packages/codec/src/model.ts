/**
 * The object model: what the comfort API decodes to and encodes from.
 *
 * A field has the same name in objects, in columns and in the JSON of the `int` command. 64-bit values are `bigint`,
 * addresses are text, raw bytes are `Uint8Array`.
 */

import type { NumberName, TimeName } from './fields.js';

/** What became of a frame: `ok` or why not. */
export type Status = 'ok' | 'not-int' | 'truncated' | 'malformed' | 'unsupported';

/** The layer of a problem. */
export type Layer =
  | 'link'
  | 'mpls'
  | 'ipv4'
  | 'ipv6'
  | 'tcp'
  | 'udp'
  | 'gre'
  | 'vxlan-gpe'
  | 'geneve'
  | 'shim'
  | 'int'
  | 'stack'
  | 'tail'
  | 'report'
  | 'tlv'
  | 'gpint'
  | 'roce';

/** A problem with the input: where and what. `offset` counts bytes from the frame's first byte. */
export interface Problem {
  readonly code: string;
  readonly layer: Layer;
  readonly offset: number;
  readonly message: string;
}

/**
 * One hop's metadata, with a field for each item. {@link FIELDS} has the widths, instruction bits and meanings. A field
 * is present only if the instruction bitmap selects it. `null` means 'not available': the whole 4- or 8-byte item is
 * all ones (INT v2.1 section 5.8). Timestamps have 64 bits in v2.x, 32 bits before; the 2016 layout has 31 bits of each
 * value.
 */
export type Hop = { [K in NumberName]?: number | null } & { [K in TimeName]?: bigint | null } & {
  /** Domain-specific words as carried (INT v2.x: Hop ML words beyond the instruction bitmap), in wire order. */
  domain?: Uint8Array;
};

/** Telemetry report versions. */
export type ReportVersion = '0.5' | '1.0' | '2.0';

/** What a report carries. */
export type ReportType = 'int-md' | 'int-mx' | 'int-xd' | 'ethernet' | 'ipv4' | 'ipv6' | 'tlv' | 'drop' | 'none';

/** One TLV of a report v2.0 with InType 1 (section 3.3.2). */
export interface Tlv {
  /** 0 domain-specific extension data, 1 Ethernet, 2 IPv4, 3 IPv6, 4-15 reserved. */
  type: number;
  /** TLV Data Template. 16 bits. */
  template: number;
  data: Uint8Array;
}

/** One individual report with what its group header says. */
export interface ReportInfo {
  version: ReportVersion;
  /** 6 bits. */
  hwId: number;
  /** 22 bits in v2.0, 32 bits before. Per (node, hwId, destination). */
  sequence: number;
  /** The reporting node; `null` if the header does not name it (v0.5 without drop or switch-local header). */
  nodeId: number | null;
  type: ReportType;
  dropped: boolean;
  queueCongested: boolean;
  trackedFlow: boolean;
  /** v2.0 only: sent by a transit node. */
  intermediate: boolean;
  /** v0.5 and v1.0: 32 bits, from the header. v2.0: from the node's own metadata; `null` if that has none. */
  ingressTimestamp: bigint | null;
  /** Code of the drop reason (v2.0 RepMdBits bit 15, v1.0 bit 4, v0.5 drop header); `null` if none. */
  dropReason: number | null;
  dropQueueId: number | null;
  /** The reporting node's own values, without `nodeId`. Empty if none. */
  metadata: Hop;
  /** Present if the report carries TLVs. */
  tlvs?: Tlv[];
}

/** What carries INT in the packet. */
export type Encapsulation = 'udp' | 'tcp' | 'udp-new' | 'vxlan-gpe' | 'geneve' | 'gre' | 'none';

/** INT header versions. On the wire 2.0 and 2.1 are the same: both are `2`. */
export type IntVersion = '0.5' | '1.0' | '2' | '2016' | 'intmon';

/** An INT-MD or INT-MX header, or what a report says of INT-XD. Fields that the version lacks are `null`. */
export interface IntHeaderInfo {
  mode: 'md' | 'mx' | 'xd';
  version: IntVersion;
  encapsulation: Encapsulation;
  /** Words a hop pushes. v0.5 and the 2016 layout: Instruction Count. */
  hopMl: number | null;
  /** v0.5 and the 2016 layout: Max Hop Count minus Total Hop Count. */
  remainingHopCount: number | null;
  /** 16 bits. An INT-XD report: its RepMdBits. */
  instructionBitmap: number;
  /** D bit (v2.x). */
  discard: boolean;
  /** E bit. */
  hopExceeded: boolean;
  /** M bit (v1.0, v2.x). */
  mtuExceeded: boolean;
  /** Domain Specific ID, v2.x; an INT-XD report: the report's. 0 = default domain. */
  domainId: number;
  domainInstructions: number;
  domainFlags: number;
  /** Source-only (INT-MD) or source-inserted (INT-MX) domain-specific metadata, if any. */
  sourceMetadata?: Uint8Array;
}

/** A GPINT probe (section IV of the paper; the extended layout has 16-bit switch ids). */
export interface GpintInfo {
  mode: 'gpint';
  extended: boolean;
  /** What the probe is, by DSCP: 0x17 probe, 0x19 feedback, 0x21 recovery notice, else `unknown`. */
  kind: 'probe' | 'feedback' | 'recovery' | 'unknown';
  /** 15 bits. */
  requestId: number;
  type: 'rule-hits' | 'port-packets';
  /** Source route: next port of each hop and its measurement range. */
  route: { nextPort: number; firstMeasurement: number; measurementCount: number }[];
  /** DLV headers, in wire order. */
  switches: { switchId: number; queueDepth: number; measurementCount: number }[];
  /** 32-bit values in the order of the DLV headers. */
  measurements: number[];
}

/** The monitored flow, with its original ports. They are 0 for protocols without ports. */
export interface Flow {
  /** Dotted IPv4 or RFC 5952 IPv6 text. */
  source: string;
  destination: string;
  protocol: number;
  sourcePort: number;
  destinationPort: number;
}

/** One individual report, one INT packet, or one frame that is neither. */
export interface TelemetryRecord {
  /** Which individual report of its frame, from 0. */
  index: number;
  status: Status;
  /** `null` if `status` is `ok`, and for plain packets (`not-int`). */
  error: Problem | null;
  report: ReportInfo | null;
  int: IntHeaderInfo | GpintInfo | null;
  flow: Flow | null;
  /**
   * MAC addresses of the monitored packet, as `02:00:00:00:00:01`; absent if it has no Ethernet header. The header is
   * the one in front of the flow's IP header: that of the packet inside a report, that of the frame itself if the frame
   * carries INT, that of the encapsulated packet in a tunnel. Not part of the JSON form.
   */
  ethernet?: { source: string; destination: string };
  /**
   * Ids of the nodes, from the INT source on, of all hops that carry one. The reporting node is last, unless the last
   * hop is that node. `null` stands for a hop without an available id.
   */
  path: (number | null)[];
  /** The embedded stack in path order: INT source first. */
  hops: Hop[];
}
