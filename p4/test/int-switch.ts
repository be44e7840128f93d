/** int.p4 as a switch, with what a packet is to find there. */
import type { Hop } from '@int/codec';
import { programPath } from '@int/p4';
import { createSwitch, type IrProgram, type SwitchClock, type V1Switch } from '@int/p4vm';
import { loadProgram } from '@int/p4vm/node';
import { undefinedOptions } from './undefined/options.js';

let program: IrProgram | undefined;

/** Port that packets come in by, and the one they leave by. */
export const IN = 1;
export const OUT = 2;
export const NODE_ID = 5;
/** Port of the collector, and the mirror session that leads to it. */
export const COLLECTOR = 7;
export const SESSION = 99;

/** What the switch is told besides where to send packets. */
export interface IntSetup {
  readonly mtu?: number;
  readonly sink?: boolean;
  /** Checksum Complements are used where they are asked for. */
  readonly complements?: boolean;
  /** Logical interfaces of the two ports. */
  readonly level2?: readonly [ingress: number, egress: number];
  /** Telemetry reports are sent. */
  readonly reports?: boolean;
}

/** A clock that stands where a test puts it. */
export class SetClock implements SwitchClock {
  time = 0;

  nowUs(): number {
    return this.time;
  }
}

export interface IntSwitch {
  readonly machine: V1Switch;
  readonly clock: SetClock;
}

/** A switch that forwards everything from IN to OUT, and starts no INT. */
export function intSwitch(setup: IntSetup = {}): IntSwitch {
  program ??= loadProgram(programPath('int'));
  const clock = new SetClock();
  const machine = createSwitch(program, { clock, ...undefinedOptions() });
  run(machine, [
    `table_set_default IntEgress.node IntEgress.set_node ${NODE_ID}`,
    `table_set_default IntIngress.forward_ipv4 IntIngress.forward ${OUT}`,
    `table_set_default IntIngress.forward_ipv6 IntIngress.forward ${OUT}`,
    `table_set_default IntIngress.forward_other IntIngress.forward ${OUT}`,
    `mirroring_add ${SESSION} ${COLLECTOR}`,
    `table_add IntReport.collector IntReport.send ${COLLECTOR} => 0 02:00:00:00:00:05 02:00:00:00:00:99 10.0.9.5 10.0.9.9 50000 32766 3 600`,
  ]);
  configure({ machine, clock }, setup);
  return { machine, clock };
}

/** Tells a switch of `intSwitch` another setup. A new switch takes longer than many packets. */
export function configure({ machine }: IntSwitch, setup: IntSetup): void {
  const { mtu = 0, sink = false, complements = false, level2, reports = false } = setup;
  const port = [Number(sink), mtu, 0xffffff, Number(complements), level2?.[1] ?? 0xffffffff];
  run(machine, [
    'table_clear IntEgress.port',
    `table_add IntEgress.port IntEgress.set_port ${OUT} => ${port.join(' ')}`,
    'table_clear IntEgress.ingress_port',
    ...(level2 === undefined
      ? []
      : [`table_add IntEgress.ingress_port IntEgress.set_level2_ingress ${IN} => ${level2[0]}`]),
    `table_set_default IntEgress.reports IntEgress.set_session ${reports ? SESSION : 0}`,
  ]);
}

/** Runs commands, each of which must succeed. */
export function run(machine: V1Switch, commands: readonly string[]): void {
  for (const command of commands) {
    const { status, text } = machine.command(command);
    if (status !== 'done') throw new Error(`${command}: ${text}`);
  }
}

/** The metadata that the switch has for a packet while the clock stands still. */
export function ownMetadata(nowUs: number, setup: IntSetup = {}): Hop {
  return {
    nodeId: NODE_ID,
    l1IngressInterface: IN,
    l1EgressInterface: OUT,
    hopLatency: 0,
    queueId: 0,
    queueOccupancy: 0,
    ingressTimestamp: BigInt(nowUs),
    egressTimestamp: BigInt(nowUs),
    l2IngressInterface: setup.level2?.[0] ?? null,
    l2EgressInterface: setup.level2?.[1] ?? null,
  };
}
