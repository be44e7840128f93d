import type { LinkEnd, Topology } from '@int/network';
import type { ObservedFlow } from './rehearsal.js';
import type { Representative } from './representative.js';
import type { TwinSwitch } from './twin-switch.js';

/** Where a copy of a packet ends. */
export interface End {
  readonly kind: 'delivered' | 'loop' | 'black-hole' | 'drop' | 'wrong-port';
  /** The switch, or its port as `<id>:<port>`. */
  readonly where: string;
  readonly message: string;
}

/** A switch on the way of a packet, with the packet as it came. */
export interface Hop {
  readonly switchId: number;
  readonly port: number;
  readonly frame: Uint8Array;
}

/** What a flow sends over a link. */
export interface Sent {
  /** `<switch id>:<port>`. */
  readonly link: string;
  /** Bytes that the network has added to each packet; of a report all its bytes. */
  readonly bytes: number;
  readonly isReport: boolean;
  /** Packets here for each that entered the network. */
  readonly share: number;
}

/** The way of a flow's packets, as their representative goes it. */
export interface Walk {
  /** Ids of switches: of the first copy, if the packet is copied. */
  readonly path: readonly number[];
  readonly end: End;
  readonly hops: readonly Hop[];
  readonly sent: readonly Sent[];
}

/** Where a flow enters the network. */
export interface Entrance {
  readonly switchId: number;
  readonly port: number;
}

/** The network that packets walk through. */
export interface Ground {
  readonly topology: Topology;
  readonly switches: ReadonlyMap<number, TwinSwitch>;
  readonly failedLinks: ReadonlySet<string>;
}

/** Switches that a packet and all its copies may pass. */
const MOST_HOPS = 256;
/** Packets that tell which share of a flow is reported. */
const TRAIN = 16;
const LONGEST_GAP_US = 1_000_000;

/** The port by which a flow comes in; `null`: nobody knows. */
export function entranceOf(
  { topology, switches }: Ground,
  { path }: ObservedFlow,
  { source }: Representative,
): Entrance | null {
  const host = topology.hostOf(source)?.name;
  const first = path[0];
  let other: Entrance | null = null;
  for (const id of first === undefined ? topology.switches.keys() : [first]) {
    if (!switches.has(id)) continue;
    for (const { number, to } of topology.switches.get(id)?.ports.values() ?? []) {
      if (to?.kind !== 'host') continue;
      if (to.host === host) return { switchId: id, port: number };
      // An address that is not of here, or forged: the report says by which switch it came.
      if (first !== undefined) other ??= { switchId: id, port: number };
    }
  }
  return other;
}

interface Step extends Hop {
  readonly path: readonly number[];
  readonly share: number;
  readonly isReport: boolean;
}

/** Sends a flow's representative through the network. @param gapUs microseconds between two packets of the flow */
export function walk(ground: Ground, { frame, destination }: Representative, entrance: Entrance, gapUs: number): Walk {
  const hops: Hop[] = [];
  const sent: Sent[] = [];
  const ends: End[] = [];
  let first: readonly number[] = [];
  let left = MOST_HOPS;
  const open: Step[] = [{ ...entrance, frame, path: [], share: 1, isReport: false }];
  for (let step = open.shift(); step !== undefined; step = open.shift()) {
    const { switchId, port, isReport, share } = step;
    const ended = (kind: End['kind'], where: string, message: string): void => {
      if (!isReport) ends.push({ kind, where, message });
    };
    const name = ground.topology.switchText(switchId);
    const path = [...step.path, switchId];
    if (step.path.includes(switchId) || left-- === 0) {
      ended('loop', name, `${name} sees a packet again that it has sent`);
      if (first.length === 0 && !isReport) first = path;
      continue;
    }
    const machine = ground.switches.get(switchId);
    if (machine === undefined) {
      ended('black-hole', name, `${name} is no switch whose tables are known`);
      continue;
    }
    if (!isReport) hops.push(step);
    machine.rest();
    const outputs = machine.process(port, step.frame);
    const packets = outputs.filter((each) => !each.isReport);
    if (packets.length === 0) {
      ended('drop', name, `${name} drops it`);
      if (first.length === 0 && !isReport) first = path;
    }
    const reports = outputs.length - packets.length;
    const reported = reports === 0 || isReport ? 0 : reportedShare(machine, port, step.frame, gapUs) / reports;
    for (const output of outputs) {
      // Reports of reports are not followed.
      if (output.isReport && isReport) continue;
      const copyShare = output.isReport ? share * reported : share;
      const here = `${switchId}:${output.port}`;
      const to = ground.topology.peer(switchId, output.port);
      const isOriginal = !output.isReport && !isReport;
      const lost = (kind: End['kind'], message: string): void => {
        if (!isOriginal) return;
        ends.push({ kind, where: `${name}:${output.port}`, message });
        if (first.length === 0) first = path;
      };
      if (to !== null) {
        const bytes = isOriginal ? output.frame.length - frame.length : output.frame.length;
        sent.push({ link: here, bytes, isReport: !isOriginal, share: copyShare });
      }
      if (to === null) lost('wrong-port', `port ${output.port} of ${name} leads nowhere`);
      else if (isFailed(ground, switchId, output.port, to)) {
        lost('black-hole', `the link at port ${output.port} of ${name} carries nothing`);
      } else if (to.kind === 'host') {
        const host = ground.topology.hostOf(destination);
        if (host !== null && host.name !== to.host) {
          lost('wrong-port', `port ${output.port} of ${name} leads to ${to.host}, not to ${host.name}`);
        } else lost('delivered', to.host);
      } else {
        open.push({
          switchId: to.switchId,
          port: to.port ?? portTowards(ground.topology, to.switchId, switchId),
          frame: output.frame,
          path,
          share: copyShare,
          isReport: !isOriginal,
        });
      }
    }
  }
  return { path: first, end: worst(ends), hops, sent };
}

function isFailed({ failedLinks }: Ground, switchId: number, port: number, to: LinkEnd): boolean {
  if (failedLinks.has(`${switchId}:${port}`)) return true;
  return to.kind === 'switch' && to.port !== null && failedLinks.has(`${to.switchId}:${to.port}`);
}

/** The port of a switch that leads to a neighbour; 0: nobody knows. */
function portTowards(topology: Topology, switchId: number, neighbour: number): number {
  for (const { number, to } of topology.switches.get(switchId)?.ports.values() ?? []) {
    if (to?.kind === 'switch' && to.switchId === neighbour) return number;
  }
  return 0;
}

/** Reports for each packet of a flow at a switch. The first packet says nothing: it is new to every detector. */
function reportedShare(machine: TwinSwitch, port: number, frame: Uint8Array, gapUs: number): number {
  const gap = Math.max(1, Math.min(LONGEST_GAP_US, Math.round(gapUs)));
  let reports = 0;
  for (let i = 0; i < TRAIN; i++) {
    reports += machine.process(port, frame, gap).filter(({ isReport }) => isReport).length;
  }
  return reports / TRAIN;
}

const RANK: readonly End['kind'][] = ['loop', 'delivered', 'black-hole', 'wrong-port', 'drop'];

/** A packet of which some copy arrives is delivered, but a loop is one whatever else arrives. */
function worst(ends: readonly End[]): End {
  let best = ends[0] ?? { kind: 'drop', where: '', message: '' };
  for (const end of ends) if (RANK.indexOf(end.kind) < RANK.indexOf(best.kind)) best = end;
  return best;
}
