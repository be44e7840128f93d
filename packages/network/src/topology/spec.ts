/** A port of a switch, as people write it. */
export interface PortSpec {
  readonly name?: string;
  /** What is at the other end: a switch and its port (`spine-1:3`, `101:3`), a switch (`spine-1`), or `host h1`. */
  readonly to?: string;
  /** `10G`, `400M`, or bits a second. */
  readonly speed?: string | number;
}

export interface SwitchSpec {
  readonly name?: string;
  /** Port number -> port. */
  readonly ports?: Readonly<Record<string, PortSpec>>;
  /** Switches at the other end of links whose ports nobody knows, by name or id. */
  readonly links?: readonly string[];
}

export interface HostSpec {
  /** Addresses and prefixes. */
  readonly addresses: readonly string[];
  /** Security level: a weight; 1 if it is not given. */
  readonly level?: number;
}

/** Switches, their ports and links, and hosts, as people write them (topology.yaml). */
export interface TopologySpec {
  /** Switch id -> switch. */
  readonly switches?: Readonly<Record<string, SwitchSpec>>;
  /** Name -> host, or a group of them. */
  readonly hosts?: Readonly<Record<string, HostSpec>>;
}
