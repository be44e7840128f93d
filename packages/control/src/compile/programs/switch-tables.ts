import type { Prefix } from '@int/network';
import type { Entity } from '@int/p4runtime';
import type { FlowSpace } from '../../intents/flow-space.js';
import type { BlockIntent, DetectIntent, LimitIntent } from '../../intents/intent.js';
import type { WatchField } from '../../intents/watch-fields.js';
import type { NetworkGraph } from '../../model/network-graph.js';
import type { NetworkModel } from '../../model/network-model.js';
import type { Piece, Unplaced } from '../draft.js';
import type { Settings } from '../options.js';

/** What the tables of switches are made of. */
export interface Ground {
  readonly network: NetworkModel;
  readonly graph: NetworkGraph;
  readonly settings: Settings;
  /** Where reports are sent: the port by switch, `null`: there is no way, or no collector. */
  readonly collectorPort: (switchId: number) => number | null;
}

/** The way to a prefix of a host. */
export interface Route {
  readonly owner: string;
  readonly prefix: Prefix;
  /** Ports of the shortest ways, ascending, at least one. */
  readonly ports: readonly number[];
  readonly stage: number;
}

/** The way of flows, whatever the routes say. */
export interface Steering extends Omit<Route, 'prefix'> {
  readonly space: FlowSpace;
  readonly priority: number;
}

/** Flows that are dropped or bounded. */
export interface AccessRule {
  readonly intent: BlockIntent | LimitIntent;
  readonly space: FlowSpace;
  /** Of the counters of dropped packets. */
  readonly cell: bigint;
  /** Telemetry reports, which pass; `null`: there are none. */
  readonly reports: FlowSpace | null;
}

/** Flows that are watched. */
export interface WatchRule {
  readonly owner: string;
  readonly space: FlowSpace;
  /** Of the intent. */
  readonly priority: number;
  /** Of INT 2.1. */
  readonly instructions: number;
  /** By name; `null`: none are named. */
  readonly fields: readonly WatchField[] | null;
  /** Whether all of the instructions are asked for by name; otherwise it is what a switch has of them. */
  readonly isExplicit: boolean;
  readonly oneIn: number;
  /** Telemetry reports, which are not watched: each would make another one. `null`: there are none. */
  readonly reports: FlowSpace | null;
}

/** Flows whose events an INT sink reports. */
export interface DetectRule {
  readonly intent: DetectIntent;
  readonly space: FlowSpace;
  /** Its number in the switch and in reports. */
  readonly rule: number;
}

/** Why a switch cannot have something; the message goes behind the switch's name. */
export type Refusal = Pick<Unplaced, 'code' | 'message'>;

export const isRefusal = (placed: readonly Piece[] | Refusal): placed is Refusal => 'code' in placed;

/** The tables of a program: how a switch that runs it does what the compiler wants. Of one network and compilation. */
export interface SwitchTables {
  /** The program, for people. */
  readonly file: string;
  /** Where telemetry goes: over the network, or to the controller as packets of P4Runtime. */
  readonly reportsTo: 'collector' | 'controller';
  /** What no intent changes: the switch's id, its ports, the way of its reports. */
  settings(switchId: number): readonly Piece[];
  route(switchId: number, route: Route): readonly Piece[] | Refusal;
  /** `null`: the program sends packets by their routes alone. */
  readonly steer: ((switchId: number, steering: Steering) => readonly Piece[] | Refusal) | null;
  /** `null`: the program neither drops nor bounds flows. */
  readonly access: ((switchId: number, rule: AccessRule) => readonly Piece[]) | null;
  /** INT begins here for some flows. */
  watch(switchId: number, rule: WatchRule): readonly Piece[] | Refusal;
  /** `null`: the program has no detectors. */
  readonly detect: ((switchId: number, rule: DetectRule) => readonly Piece[]) | null;
  /** Which of the flows are not watched though the others are, in words; `null`: all are. */
  unwatched(space: FlowSpace): string | null;
}

/** Ports to which an entity of a program sends packets; none if it is not of this program. @param contents all of its switch */
export type PortsOf = (entity: Entity, contents: readonly Entity[]) => readonly number[];

/** Microseconds in which the load of a port is measured; shorter for fast ports, for the factor's precision. */
const WINDOW_US = 10_000;
const FAST_WINDOW_US = 1000;
const FAST_BPS = 10e9;
/** Factor of utilization: 8 bits, hundredths of a percent, 16 binary places, microseconds. */
const UTILIZATION = 8 * 10_000 * 65_536 * 1_000_000;

/** Parameters with which our programs measure the utilization of a port. */
export function utilizationOf(speedBps: number): { readonly microseconds: bigint; readonly per_byte: bigint } {
  const windowUs = speedBps > FAST_BPS ? FAST_WINDOW_US : WINDOW_US;
  const factor = Math.min(0xffff_ffff, Math.max(1, Math.round(UTILIZATION / (speedBps * windowUs))));
  return { microseconds: BigInt(windowUs), per_byte: BigInt(factor) };
}

/** Ports of a switch; INT leaves by none that leads elsewhere than to a switch of ours. */
export function portsOfSwitch(
  { network }: Pick<Ground, 'network'>,
  switchId: number,
): readonly { readonly number: number; readonly isSink: boolean; readonly speedBps: number | null }[] {
  return [...(network.topology.switches.get(switchId)?.ports.values() ?? [])].map(({ number, to, speedBps }) => {
    const isInside = to?.kind === 'switch' && network.switches.has(to.switchId);
    return { number, isSink: !isInside, speedBps };
  });
}
