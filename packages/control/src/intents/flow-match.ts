/** Inclusive range of ports. */
export type PortRange = readonly [low: number, high: number];

/** Packets by their five-tuple; what is left out matches anything. */
export interface FlowMatch {
  /** An address or a prefix, IPv4 or IPv6. */
  readonly source?: string;
  readonly destination?: string;
  /** Number of the protocol. */
  readonly protocol?: number;
  readonly sourcePort?: PortRange;
  readonly destinationPort?: PortRange;
}
