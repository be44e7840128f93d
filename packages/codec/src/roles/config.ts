/** Options and results of the switch roles. */
import type { Hop, TelemetryRecord } from '../model.js';
import type { DecodeOptions } from '../options.js';

/**
 * How INT is found in a packet, as in decoding. An object is read once, at its first use; to change it, make a new one.
 */
export type LocateOptions = Pick<
  DecodeOptions,
  'intPorts' | 'intDscp' | 'greProtocol' | 'probeMarker' | 'probePorts' | 'profile' | 'domains'
>;

/** What a transit node needs. */
export interface TransitConfig extends LocateOptions {
  /** Largest IP packet that may leave, bytes. Default: no limit but those of the length fields. */
  readonly mtu?: number;
  /**
   * How the UDP or TCP checksum remains right. `update` (default): the field is updated, and a Checksum Complement, if
   * the instructions ask for one, says 'not used'. `complement`: if instruction bit 15 asks for a complement, this
   * cancels the change and the field remains as it is; otherwise as `update`.
   */
  readonly checksum?: 'update' | 'complement';
}

/**
 * Where a source puts INT.
 *
 * | Value | Versions | Packet | Marked by |
 * |---|---|---|---|
 * | `port` | 0.5, 2 (NPT 1) | UDP | UDP destination port |
 * | `dscp` | 0.5, 1.0, 2 (NPT 0) | UDP, TCP | DSCP |
 * | `probe-marker` | 1.0, 2 (NPT 0) | UDP, TCP | 64-bit marker |
 * | `new-udp` | 2 (NPT 2) | any IP | UDP header inserted by the source |
 * | `gre` | 2 (G = 0) | GRE | GRE protocol type |
 * | `gre-new` | 2 (G = 1) | any IP | IP and GRE headers inserted by the source |
 * | `vxlan-gpe` | 0.5, 1.0, 2 | VXLAN-GPE; 2 also VXLAN (G = 1) | VXLAN-GPE next protocol |
 * | `geneve` | 0.5, 1.0, 2 | Geneve | Geneve option |
 * | `intmon` | IntMon | UDP | UDP port 54321 |
 */
export const SOURCE_ENCAPSULATIONS = [
  'port',
  'dscp',
  'probe-marker',
  'new-udp',
  'gre',
  'gre-new',
  'vxlan-gpe',
  'geneve',
  'intmon',
] as const;
export type SourceEncapsulation = (typeof SOURCE_ENCAPSULATIONS)[number];

/** What a source needs for a flow: a rule of its watchlist. */
export interface SourceConfig extends TransitConfig {
  /** INT version. Default `2`; ignored for `intmon`. */
  readonly version?: '0.5' | '1.0' | '2';
  /** Default `md`; `mx` is version 2 only. */
  readonly mode?: 'md' | 'mx';
  /** Default `port`. */
  readonly encapsulation?: SourceEncapsulation;
  /** 16-bit instruction bitmap, bit 0 = 0x8000. */
  readonly instructions: number;
  /** How many nodes may push, the source included: 1 to 255. Default 8. Geneve: fewer if the option has less room. */
  readonly maxHops?: number;
  /** D bit (version 2). Default false. */
  readonly discard?: boolean;
  /** Domain Specific ID (version 2). Default 0. */
  readonly domainId?: number;
  /** DS Instruction (version 2). Default 0. Every bit set must be defined in `domains`. */
  readonly domainInstructions?: number;
  /** DS Flags (version 2). Default 0. */
  readonly domainFlags?: number;
  /** `new-udp`: UDP source port. Default: 0xc000 and 14 bits of a hash of the flow. */
  readonly entropyPort?: number;
  /** `gre-new`: addresses of the outer IP header, of the same IP version. Default: those of the packet. */
  readonly tunnel?: { readonly source: string; readonly destination: string };
  /** VXLAN-GPE next protocol of INT. Default 0x05, 0x08, 0x82 for version 0.5, 1.0, 2. */
  readonly gpeProtocol?: number;
  /** Geneve option class of INT. Default 0x00ab for version 0.5 and 1.0, 0x0103 for 2. */
  readonly geneveClass?: number;
}

/** What a sink needs. */
export interface SinkConfig extends LocateOptions {
  /** Whether to write the stored DSCP back if DSCP marked INT. Default true; false if the sources do not store it. */
  readonly restoreDscp?: boolean;
  /**
   * NPT 2 over protocol 4 or 41: whether to remove the outer IP header as well, which the source has added (INT v2.1
   * section 6.7). Default false: IP in IP is left.
   */
  readonly removeOuterIp?: boolean;
}

/** Why a node pushed nothing. */
export type RoleReason =
  /** The packet carries no INT. */
  | 'not-int'
  /** A source met a packet that carries INT. */
  | 'already-int'
  /** The encapsulation does not fit the packet. */
  | 'not-applicable'
  /** A fragment, to which no byte may be added, nor removed. */
  | 'fragment'
  /** No hop may push any more; E is set. */
  | 'hop-count'
  /** The packet would exceed the MTU; M is set where the header has it. */
  | 'mtu'
  /** A length field has no room. */
  | 'length'
  /** The instructions ask for nothing. */
  | 'no-instructions'
  /** The caller gave no metadata. */
  | 'no-metadata'
  /** INT-MX: nodes report, and push nothing. */
  | 'int-mx';

/** What a transit node has made of a packet. */
export interface TransitResult {
  /** A new array, also if nothing changed. */
  readonly packet: Uint8Array;
  readonly pushed: boolean;
  /** `null` if metadata was pushed. */
  readonly reason: RoleReason | null;
}

/** What a source has made of a packet. */
export interface SourceResult extends TransitResult {
  /** Whether the packet now carries an INT header. */
  readonly started: boolean;
}

/** What a sink has found. */
export interface SinkResult {
  /** The packet to send on, as it was before INT; `null` if it is to be discarded. */
  readonly packet: Uint8Array | null;
  /** The D bit (v2.x), or the mark of a copy (C bit of v0.5 and v1.0): the packet ends here. */
  readonly discard: boolean;
  /** The packet as it was before INT, also if it is to be discarded. A new array. */
  readonly restored: Uint8Array;
  /**
   * The INT bytes, a view of the input: probe marker, shim (Geneve: option header), header, stack, tail. `null` without
   * INT.
   */
  readonly int: Uint8Array | null;
  /** Metadata in path order: source first. */
  readonly hops: readonly Hop[];
  /** Header, flow and hops. `null` without INT. */
  readonly record: TelemetryRecord | null;
  /** Why nothing was removed: `not-int` or `fragment`; else `null`. */
  readonly reason: 'not-int' | 'fragment' | null;
}
