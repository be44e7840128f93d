import type { LinkEnd, Topology } from '@int/network';
import type { ObservedFlow } from './rehearsal.js';
import type { Representative } from './representative.js';
import type { Output, TwinSwitch } from './twin-switch.js';

/** Where a copy of a packet ends. */
export interface End {
  readonly kind: 'delivered' | 'loop' | 'black-hole' | 'drop' | 'wrong-port';
  /** The switch, or its port as `<name>:<port>`. */
  readonly where: string;
  readonly message: string;
  /** Share of the flow's packets. */
  readonly share: number;
  /** Where it was last. */
  readonly hop: Hop;
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
  /** The switches that they have passed. */
  readonly path: readonly number[];
}

/** The way of a flow's packets, as their representative goes it. */
export interface Walk {
  /** Ids of switches: of the first copy, if the packet is copied. */
  readonly path: readonly number[];
  /** The worst of all ends. */
  readonly end: End;
  readonly ends: readonly End[];
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
/** Packets that tell which share of a flow is treated how. */
const TRAIN = 64;
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
  /** Where this packet was: a report may go back over the switches of its flow. */
  readonly visited: readonly number[];
  readonly share: number;
  readonly isReport: boolean;
}

/** What a switch did with a packet of a flow: it does the same with the next one while nothing is written to it. */
export interface Treated {
  readonly frame: Uint8Array;
  /** Of the switch. */
  readonly version: number;
  readonly outputs: readonly Output[];
}

/**
 * Sends a flow's representative through the network.
 * @param packets of the flow
 * @param gapUs microseconds between two of them
 * @param treated what switches did with it on its last walk, by `<switch id>:<port>`; what they do now is put in
 */
export function walk(
  ground: Ground,
  { frame, destination }: Representative,
  entrance: Entrance,
  packets: number,
  gapUs: number,
  treated: Map<string, Treated>,
): Walk {
  const { topology, switches } = ground;
  const hops: Hop[] = [];
  const sent: Sent[] = [];
  const ends: End[] = [];
  let first: readonly number[] | null = null;
  let left = MOST_HOPS;
  const open: Step[] = [{ ...entrance, frame, path: [], visited: [], share: 1, isReport: false }];
  for (let step = open.shift(); step !== undefined; step = open.shift()) {
    const { switchId, isReport } = step;
    const name = topology.switchText(switchId);
    const path = [...step.path, switchId];
    const ended = (kind: End['kind'], where: string, message: string, share: number): void => {
      if (isReport) return;
      ends.push({ kind, where, message, share, hop: step! });
      first ??= path;
    };
    if (step.visited.includes(switchId) || left-- === 0) {
      ended('loop', name, `${name} sees a packet again that it has sent`, step.share);
      continue;
    }
    const machine = switches.get(switchId);
    if (machine === undefined) {
      ended('black-hole', name, `${name} is no switch whose tables are known`, step.share);
      continue;
    }
    if (!isReport) hops.push(step);
    for (const [outputs, ofThese] of treatments(machine, step, packets, gapUs, treated)) {
      const share = step.share * ofThese;
      if (outputs.every((each) => each.isReport)) ended('drop', name, `${name} drops it`, share);
      for (const output of outputs) {
        const isCopy = output.isReport || isReport;
        // Reports of reports are not followed.
        if (output.isReport && isReport) continue;
        const at = `${name}:${output.port}`;
        const to = topology.peer(switchId, output.port);
        if (to !== null) {
          const bytes = isCopy ? output.frame.length : output.frame.length - frame.length;
          sent.push({ link: `${switchId}:${output.port}`, bytes, isReport: isCopy, share, path });
        }
        const end = to === null ? null : endOf(ground, switchId, output.port, to, destination);
        if (to?.kind === 'switch' && end === null) {
          open.push({
            switchId: to.switchId,
            port: to.port ?? portTowards(topology, to.switchId, switchId),
            frame: output.frame,
            path,
            visited: output.isReport ? [switchId] : [...step.visited, switchId],
            share,
            isReport: isCopy,
          });
        } else if (!isCopy) {
          if (end === null) ended('wrong-port', at, `port ${output.port} of ${name} leads nowhere`, share);
          else ended(end.kind, at, end.message, share);
        }
      }
    }
  }
  return { path: first ?? [], end: worst(ends), ends, hops, sent };
}

/** How a packet ends behind a port; `null`: it goes on to a switch. */
function endOf(
  { topology, failedLinks }: Ground,
  switchId: number,
  port: number,
  to: LinkEnd,
  destination: Uint8Array,
): Pick<End, 'kind' | 'message'> | null {
  const name = topology.switchText(switchId);
  const isFailed =
    failedLinks.has(`${switchId}:${port}`) ||
    (to.kind === 'switch' && to.port !== null && failedLinks.has(`${to.switchId}:${to.port}`));
  if (isFailed) return { kind: 'black-hole', message: `the link at port ${port} of ${name} carries nothing` };
  if (to.kind === 'switch') return null;
  const host = topology.hostOf(destination);
  if (host === null || host.name === to.host) return { kind: 'delivered', message: to.host };
  return { kind: 'wrong-port', message: `port ${port} of ${name} leads to ${to.host}, not to ${host.name}` };
}

/** The port of a switch that leads to a neighbour; 0: nobody knows. */
function portTowards(topology: Topology, switchId: number, neighbour: number): number {
  for (const { number, to } of topology.switches.get(switchId)?.ports.values() ?? []) {
    if (to?.kind === 'switch' && to.switchId === neighbour) return number;
  }
  return 0;
}

/**
 * What a switch does with the packets of a flow, with the share of them: its program may count, as one that samples does. If it
 * does the same with a second packet, it does so with all. Else a train of packets tells. Meters are measured apart, of all flows
 * together.
 */
function treatments(
  machine: TwinSwitch,
  { port, frame, isReport }: Step,
  packets: number,
  gapUs: number,
  treated: Map<string, Treated>,
): [outputs: readonly Output[], share: number][] {
  const { version } = machine;
  const key = `${machine.id}:${port}`;
  const known = isReport ? undefined : treated.get(key);
  if (known?.version === version && isSame(known.frame, frame)) return [[known.outputs, 1]];
  if (!isReport) treated.delete(key);
  machine.rest();
  const first = machine.process(port, frame);
  if (isReport || packets <= 1) return [[first, 1]];
  const gap = Math.max(1, Math.min(LONGEST_GAP_US, Math.round(gapUs)));
  const next = (): Output[] => {
    machine.pause(gap);
    return machine.process(port, frame);
  };
  const second = next();
  if (kindOf(second) === kindOf(first)) {
    treated.set(key, { frame, version, outputs: first });
    return [[first, 1]];
  }
  const train = [first, second];
  while (train.length < Math.min(packets, TRAIN)) train.push(next());
  const kinds = train.map(kindOf);
  // Rounds begin with what the first packet was; whole rounds tell the shares exactly.
  const rounds = kinds.lastIndexOf(kinds[0]!);
  const counts = new Map<string, { readonly outputs: readonly Output[]; count: number }>();
  for (const [at, kind] of kinds.entries()) {
    if (rounds > 0 && at >= rounds) break;
    const counted = counts.get(kind);
    if (counted === undefined) counts.set(kind, { outputs: train[at]!, count: 1 });
    else counted.count++;
  }
  if (rounds > 0) return [...counts.values()].map(({ outputs, count }) => [outputs, count / rounds]);
  // It comes once in more packets than these: count it once.
  const others = (packets - 1) / packets / (train.length - 1);
  return [...counts.values()].map(({ outputs, count }, at) => [outputs, at === 0 ? 1 / packets : count * others]);
}

function isSame(one: Uint8Array, other: Uint8Array): boolean {
  if (one === other) return true;
  if (one.length !== other.length) return false;
  // Most that differ do so in their headers.
  for (let k = 0; k < one.length; k++) if (one[k] !== other[k]) return false;
  return true;
}

function kindOf(outputs: readonly Output[]): string {
  return outputs.map(({ port, frame, isReport }) => `${port}:${frame.length}:${isReport}`).join();
}

const RANK: readonly End['kind'][] = ['loop', 'black-hole', 'wrong-port', 'drop', 'delivered'];

function worst(ends: readonly End[]): End {
  return [...ends].sort((a, b) => RANK.indexOf(a.kind) - RANK.indexOf(b.kind))[0]!;
}
