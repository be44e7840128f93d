/** A network of real switches, each packet carried by hand from switch to switch. */

import { fileURLToPath } from 'node:url';
import type { DesiredState, ModelSwitch, NetworkModel } from '@int/control';
import { Topology, type TopologySpec } from '@int/network';
import { P4vmTarget, type p4config, p4infoOf } from '@int/p4runtime';
import { LocalProgram, LocalSwitch } from '@int/p4runtime/internals';
import type { SwitchClock } from '@int/p4vm';
import { loadProgram } from '@int/p4vm/node';

type ProgramName = ModelSwitch['program'];
const shared = new Map<ProgramName, LocalProgram>();

/** int.p4 or intmon.p4, read once. */
export function programNamed(name: ProgramName): LocalProgram {
  let local = shared.get(name);
  if (local === undefined) {
    const program = loadProgram(fileURLToPath(new URL(`../../../../p4/${name}.p4`, import.meta.url)));
    local = new LocalProgram(program, p4infoOf(program));
    shared.set(name, local);
  }
  return local;
}

export const intProgram = (): LocalProgram => programNamed('int');

/** intmon.p4's port of the control plane: where INT sinks send copies. */
const CPU_PORT = 510;

const COLLECTOR = { address: '10.255.0.9', port: 32766 } as const;
const COLLECTOR_HOST = 'collector';

/** Host `h<n>` has 10.<n >> 8>.<n & 255>.1. */
export const addressOf = (host: number): string => `10.${host >>> 8}.${host & 0xff}.1`;
export const numberOf = (address: string): number =>
  address.split('.').reduce((sum, part) => ((sum << 8) | Number(part)) >>> 0, 0);

interface Ports {
  readonly [port: string]: { readonly to: string };
}

/** Switches with links between them, ports counted from 1 in the order of the links; hosts come after them. */
export function topologyOf(
  switches: readonly number[],
  links: readonly (readonly [number, number])[],
  hosts: readonly number[],
): TopologySpec {
  const ports = new Map<number, Record<string, { to: string }>>(switches.map((id) => [id, {}]));
  const next = (id: number): number => Object.keys(ports.get(id)!).length + 1;
  for (const [a, b] of links) {
    const [portA, portB] = [next(a), a === b ? next(b) + 1 : next(b)];
    ports.get(a)![portA] = { to: `${b}:${portB}` };
    ports.get(b)![portB] = { to: `${a}:${portA}` };
  }
  const attached: Record<string, { addresses: string[] }> = {};
  for (const [index, id] of hosts.entries()) {
    ports.get(id)![next(id)] = { to: `host h${index}` };
    attached[`h${index}`] = { addresses: [`10.${index >>> 8}.${index & 0xff}.0/24`] };
  }
  ports.get(switches[0]!)![next(switches[0]!)] = { to: `host ${COLLECTOR_HOST}` };
  attached[COLLECTOR_HOST] = { addresses: [COLLECTOR.address] };
  return {
    switches: Object.fromEntries([...ports].map(([id, each]) => [id, { ports: each as Ports }])),
    hosts: attached,
  };
}

/** Leaves 1 to `leaves`, spines from 101, hosts in turn at the leaves. */
export function leafSpine(leaves: number, spines: number, hosts: number, parallel = 1): TopologySpec {
  const leafIds = Array.from({ length: leaves }, (_, k) => k + 1);
  const spineIds = Array.from({ length: spines }, (_, k) => k + 101);
  const links = leafIds.flatMap((leaf) =>
    spineIds.flatMap((spine) => Array.from({ length: parallel }, () => [leaf, spine] as const)),
  );
  const at = Array.from({ length: hosts }, (_, k) => (k % leaves) + 1);
  return topologyOf([...leafIds, ...spineIds], links, at);
}

export function modelOf(
  spec: TopologySpec,
  options: {
    readonly failed?: readonly string[];
    readonly p4info?: p4config.P4Info;
    readonly down?: readonly number[];
    /** By id; the others run int.p4. */
    readonly programs?: Readonly<Record<number, ProgramName>>;
  } = {},
): NetworkModel {
  const topology = new Topology(spec);
  return {
    topology,
    switches: new Map(
      [...topology.switches.keys()].map((id) => {
        const program = options.programs?.[id] ?? 'int';
        const p4info = options.p4info ?? programNamed(program).p4info;
        return [id, { id, program, p4info, isUp: options.down?.includes(id) !== true }];
      }),
    ),
    failedLinks: new Set(options.failed ?? []),
    collector: COLLECTOR,
  };
}

/** Where a packet went. */
export interface Trip {
  /** Names of the hosts that got it, telemetry left out. */
  readonly deliveredTo: readonly string[];
  /** Switches in order. */
  readonly path: readonly number[];
  /** Ports that it left by, `<switch>:<port>`. */
  readonly links: readonly string[];
  /** Bytes of it there. */
  readonly lengths: readonly number[];
  /** Telemetry reports that it caused. */
  readonly reports: readonly Uint8Array[];
  /** Packets that INT sinks have copied to the controller. */
  readonly copies: readonly Uint8Array[];
  readonly isLooping: boolean;
  readonly frames: readonly Uint8Array[];
}

const MOST_HOPS = 40;

export class Fabric {
  readonly clock: SwitchClock & { us: number } = {
    us: 0,
    nowUs(): number {
      return this.us;
    },
  };
  readonly switches = new Map<number, LocalSwitch>();
  readonly #network: NetworkModel;

  constructor(network: NetworkModel) {
    this.#network = network;
    for (const [id, { program }] of network.switches) {
      const target = new P4vmTarget({ environment: { clock: this.clock } });
      this.switches.set(id, new LocalSwitch(programNamed(program), target));
    }
  }

  /** Writes all entities in the order of their stages. */
  install(desired: DesiredState): void {
    const all = [...desired].flatMap(([id, entities]) => entities.map((each) => ({ id, ...each })));
    for (const { id, entity } of all.sort((a, b) => a.stage - b.stage)) {
      const isDefault = entity.kind === 'table-entry' && entity.isDefault === true;
      const refused = this.switches.get(id)!.write({ type: isDefault ? 'modify' : 'insert', entity });
      if (refused !== undefined)
        throw new Error(`switch ${id}: ${refused.grpcName} ${refused.message}: ${show(entity)}`);
    }
  }

  /** Sends a frame from a host. */
  send(host: string, frame: Uint8Array): Trip {
    const { topology, failedLinks } = this.#network;
    const trip = {
      deliveredTo: [] as string[],
      path: [] as number[],
      links: [] as string[],
      lengths: [] as number[],
      reports: [] as Uint8Array[],
      copies: [] as Uint8Array[],
      isLooping: false,
      frames: [] as Uint8Array[],
    };
    const start = [...topology.switches.values()].flatMap(({ id, ports }) =>
      [...ports.values()].flatMap(({ number, to }) =>
        to?.kind === 'host' && to.host === host ? [{ id, port: number }] : [],
      ),
    )[0]!;
    const waiting = [{ id: start.id, port: start.port, bytes: frame, hops: 0, isReport: false }];
    for (let at = waiting.shift(); at !== undefined; at = waiting.shift()) {
      const { id, port, bytes, hops } = at;
      if (hops > MOST_HOPS) {
        trip.isLooping = true;
        break;
      }
      if (!at.isReport) trip.path.push(id);
      for (const output of this.switches.get(id)!.machine.process(port, bytes)) {
        if (failedLinks.has(`${id}:${output.port}`)) continue;
        if (output.port === CPU_PORT) {
          // The header in front says by which port the packet came.
          trip.copies.push(output.frame.subarray(2));
          continue;
        }
        const isReport = isReportFrame(output.frame);
        const to = topology.peer(id, output.port);
        if (!isReport) {
          trip.links.push(`${id}:${output.port}`);
          trip.lengths.push(output.frame.length);
        }
        if (to?.kind === 'host') {
          if (isReport && to.host === COLLECTOR_HOST) trip.reports.push(output.frame);
          else {
            trip.deliveredTo.push(to.host);
            trip.frames.push(output.frame);
          }
        } else if (to?.kind === 'switch') {
          waiting.push({ id: to.switchId, port: to.port!, bytes: output.frame, hops: hops + 1, isReport });
        }
      }
    }
    return trip;
  }
}

const show = (value: unknown): string =>
  JSON.stringify(value, (_, each) => (typeof each === 'bigint' ? `${each}` : each));

/** Whether a frame is a UDP datagram to the collector. */
function isReportFrame(frame: Uint8Array): boolean {
  const view = new DataView(frame.buffer, frame.byteOffset, frame.length);
  return (
    frame.length > 42 &&
    view.getUint16(12) === 0x0800 &&
    frame[23] === 17 &&
    view.getUint32(30) === numberOf(COLLECTOR.address) &&
    view.getUint16(36) === COLLECTOR.port
  );
}
