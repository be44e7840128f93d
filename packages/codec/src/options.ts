/** Dialects of public tools whose packets deviate from the specifications (wire-format notes in the README). */
export const PROFILES = [
  'spec',
  'intcollector',
  'geant-generator',
  'geant-v10-ts64',
  'geant-nibble3',
  'elhnoah-md-report',
  'int-afxdp-kafka',
  'intmon',
] as const;
export type Profile = (typeof PROFILES)[number];

/** What a frame starts with. `report`: it is the UDP payload of a telemetry report. `raw`: IPv4 or IPv6. */
export const LINK_TYPES = ['ethernet', 'raw', 'linux-sll', 'linux-sll2', 'report'] as const;
export type LinkLayer = (typeof LINK_TYPES)[number];

/** One bit of a domain's DS Instruction (INT v2.x sections 5.8 and 5.9). */
export interface DomainItem {
  /** Bytes that the bit selects: a multiple of 4. */
  readonly bytes: number;
  /** Who writes them: `export` every hop; `source-only` (INT-MD) and `source-inserted` (INT-MX) the source alone. */
  readonly mode: 'export' | 'source-only' | 'source-inserted';
}

/** Domain definitions: Domain Specific ID -> bit of DS Instruction (0 = 0x8000) -> item. */
export type Domains = Readonly<Record<number, Readonly<Record<number, DomainItem>>>>;

/** How to find and read INT. */
export interface DecodeOptions {
  /** Default `ethernet`. */
  readonly linkType?: LinkLayer;
  /** UDP destination ports that mark INT. Default 5000 and 4096. */
  readonly intPorts?: readonly number[];
  /** DSCP that marks INT, or `null` for none. Default value 0x17 under mask 0x3f. */
  readonly intDscp?: { readonly value: number; readonly mask: number } | null;
  /** GRE protocol type of INT. Default 0x88b5. */
  readonly greProtocol?: number;
  /** 64-bit probe marker between L4 header and shim, or `null` (default) for none. */
  readonly probeMarker?: bigint | null;
  /** UDP ports of telemetry reports. `null` (default): any unmarked UDP payload that parses strictly is one. */
  readonly reportPorts?: readonly number[] | null;
  /** UDP ports of GPINT probes: the first has the plain, the second the extended layout. Default 5017 and 5018. */
  readonly probePorts?: readonly number[];
  /** Default `spec`. */
  readonly profile?: Profile;
  /** Default: none known. */
  readonly domains?: Domains;
  /** Verify IPv4, UDP and TCP checksums of complete packets; a wrong one is `malformed`. Default false. */
  readonly verifyChecksums?: boolean;
}
