import type { Domains, Profile } from '../options.js';

/** Values that a record does not carry, and the marks of INT. */
export interface EncodeOptions {
  /** UDP destination ports that mark INT, as for decoding. The first is written. Default 5000. */
  readonly intPorts?: readonly number[];
  /** DSCP that marks INT if the port cannot. Default 0x17. */
  readonly intDscp?: number;
  /** GRE protocol type of INT. Default 0x88b5. */
  readonly greProtocol?: number;
  /** UDP destination port of telemetry reports. Default 32766. */
  readonly reportPort?: number;
  /** Addresses of the reporting node and the collector, both IPv4 or both IPv6. Default 192.0.2.1 and 192.0.2.2. */
  readonly reporter?: string;
  readonly collector?: string;
  /** Tunnel end points of VXLAN-GPE, Geneve and GRE. Default 198.51.100.1 and 198.51.100.2. */
  readonly tunnelSource?: string;
  readonly tunnelDestination?: string;
  /**
   * MAC addresses of Ethernet headers, except of those for which the record has `ethernet`. Default 02:00:00:00:00:01
   * and 02:00:00:00:00:02.
   */
  readonly sourceMac?: string;
  readonly destinationMac?: string;
  /** TTL or hop limit. Default 64. */
  readonly timeToLive?: number;
  /** Bytes behind the transport header of the monitored packet. Default 8 zero bytes. */
  readonly payload?: Uint8Array;
  /** Needed if a domain mixes exported and source-only items. Default: none known. */
  readonly domains?: Domains;
  /** Dialect to write INT v1.0 stacks in. Default `spec`. */
  readonly profile?: Profile;
}

/** Options with the defaults filled in. */
export type EncodeSettings = Required<EncodeOptions>;

export function encodeSettings(options: EncodeOptions = {}): EncodeSettings {
  return {
    intPorts: [5000],
    intDscp: 0x17,
    greProtocol: 0x88b5,
    reportPort: 32766,
    reporter: '192.0.2.1',
    collector: '192.0.2.2',
    tunnelSource: '198.51.100.1',
    tunnelDestination: '198.51.100.2',
    sourceMac: '02:00:00:00:00:01',
    destinationMac: '02:00:00:00:00:02',
    timeToLive: 64,
    payload: new Uint8Array(8),
    domains: {},
    profile: 'spec',
    ...options,
  };
}
