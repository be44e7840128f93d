/** intmon.p4 as a switch, with what a packet is to find there. */
import type { Hop } from '@int/codec';
import { programPath } from '@int/p4';
import { createSwitch, type IrProgram, type V1Switch, VirtualClock } from '@int/p4vm';
import { loadProgram } from '@int/p4vm/node';
import { undefinedOptions } from './undefined/options.js';

let program: IrProgram | undefined;

/** Port that packets come in by, the one they leave by, and the management plane's. */
export const IN = 1;
export const OUT = 2;
export const MANAGEMENT = 7;
const NODE_ID = 0x1234_5678;

/** intmon.p4, read once. */
export function intmonProgram(): IrProgram {
  program ??= loadProgram(programPath('intmon'));
  return program;
}

/** What the switch is told. */
export interface IntmonSetup {
  readonly mtu?: number;
  readonly sink?: boolean;
  /** Without one it has nothing to say. */
  readonly hasNode?: boolean;
  readonly congestedAt?: number;
}

export interface IntmonSwitch {
  readonly machine: V1Switch;
  readonly clock: VirtualClock;
}

/** Runs commands, each of which must succeed. */
export function run(machine: V1Switch, commands: readonly string[]): void {
  for (const command of commands) {
    const { status, text } = machine.command(command);
    if (status !== 'done') throw new Error(`${command}: ${text}`);
  }
}

/** A switch that forwards all IP packets from IN to OUT. */
export function intmonSwitch(setup: IntmonSetup = {}): IntmonSwitch {
  const clock = new VirtualClock();
  const machine = createSwitch(intmonProgram(), { ...undefinedOptions(), clock });
  const { mtu = 0, sink = false, hasNode = true, congestedAt = 0 } = setup;
  run(machine, [
    ...(hasNode ? [`table_set_default IntmonEgress.node IntmonEgress.set_node ${NODE_ID}`] : []),
    `table_set_default IntmonIngress.forward_ipv4 IntmonIngress.forward ${OUT}`,
    `table_set_default IntmonIngress.forward_ipv6 IntmonIngress.forward ${OUT}`,
    `table_set_default IntmonIngress.forward_other IntmonIngress.forward ${OUT}`,
    `table_add IntmonEgress.port IntmonEgress.set_port ${OUT} => ${sink ? 1 : 0} ${mtu} ${congestedAt}`,
    `mirroring_add 5 ${MANAGEMENT}`,
    'table_set_default IntmonEgress.management IntmonEgress.copy_to 5',
  ]);
  return { machine, clock };
}

/** The metadata that the switch has for a packet while the clock stands still. */
export function ownMetadata(nowUs: number, setup: IntmonSetup = {}): Hop | null {
  if (setup.hasNode === false) return null;
  return {
    nodeId: NODE_ID,
    l1IngressInterface: IN,
    l1EgressInterface: OUT,
    hopLatency: 0,
    queueOccupancy: 0,
    ingressTimestamp: BigInt(nowUs) & 0x7fff_ffffn,
    queueCongestion: setup.congestedAt === undefined ? null : 0,
    egressUtilization: null,
  };
}
