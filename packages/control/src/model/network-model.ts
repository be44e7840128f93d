import type { Topology } from '@int/network';
import type { p4config } from '@int/p4runtime';

/** A switch as the controller knows it. */
export interface ModelSwitch {
  /** As in the topology, and as the switch writes it into telemetry. */
  readonly id: number;
  /** The program whose tables the compiler knows. */
  readonly program: 'int' | 'intmon';
  readonly p4info: p4config.P4Info;
  /** Whether its session is there. */
  readonly isUp: boolean;
}

/** What the compiler and the twin work on: the network as it is known now. */
export interface NetworkModel {
  readonly topology: Topology;
  /** By id. */
  readonly switches: ReadonlyMap<number, ModelSwitch>;
  /** Links that carry nothing: `<switch id>:<port>`, both ends. */
  readonly failedLinks: ReadonlySet<string>;
  /** Where reports go; `null`: there is no collector. */
  readonly collector: {
    readonly address: string;
    readonly port: number;
    /** Of the collector's interface; without it reports go to all of its link. */
    readonly mac?: string;
  } | null;
}
