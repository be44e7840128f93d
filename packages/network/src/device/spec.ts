/** What one device unit of a metric is: `ns`, `clock(200MHz)`, `cells`, `0.01%`; the bytes of a cell; what stands for 100 %. */
export type UnitSpec = string | { readonly cell: number | string } | { readonly full: number };

/** Units by metric, and that of ingress and egress timestamps. What is not named is a number without a unit. */
export interface UnitsSpec {
  readonly hopLatency?: UnitSpec;
  readonly queueOccupancy?: UnitSpec;
  readonly bufferOccupancy?: UnitSpec;
  readonly egressUtilization?: UnitSpec;
  /** A unit of time, or a clock. */
  readonly timestamps?: string;
}

/** What a network's switches are like, as people write it. */
export interface DeviceSpec {
  readonly units?: UnitsSpec;
  /** Dialect of the packets, see `DecodeOptions`. */
  readonly profile?: string;
  /** UDP destination ports that mark INT. */
  readonly intPorts?: readonly number[];
  /** DSCP that marks INT: a number, or text as `0x17` or `0x20/0x20` with a mask; `null`: none does. */
  readonly intDscp?: number | string | null;
  /** UDP destination ports of reports. */
  readonly reportPorts?: readonly number[];
  readonly probePorts?: readonly number[];
  readonly greProtocol?: number;
  /** 64 bits in hexadecimal digits. */
  readonly probeMarker?: string;
  /** Switches whose units are others: `3`, `3-5` or `3, 7-9` -> what differs. */
  readonly switches?: Readonly<
    Record<string, { readonly units: Omit<UnitsSpec, 'timestamps'> & { readonly timestamps?: string } }>
  >;
  /** Addresses and prefixes that may send. Default: anybody. */
  readonly sources?: readonly string[];
}
