/** Networks of switches that run gpint.p4, like those that `buildNetwork` makes of GpintSwitch. */
import { formatIpv4, GPINT_DSCP } from '@int/codec';
import {
  ADDRESSES,
  type BuildOptions,
  type BuiltNetwork,
  buildNetwork,
  type GpintSettings,
  Host,
  type Link,
  MonitorHost,
  Network,
  type Node,
} from '@int/netsim';
import { P4Switch } from '@int/netsim/p4';
import { programPath } from '@int/p4';
import type { IrProgram } from '@int/p4vm';
import { loadProgram } from '@int/p4vm/node';
import { undefinedOptions } from './undefined/options.js';

let program: IrProgram | undefined;

/** gpint.p4, read once. */
export function gpintProgram(): IrProgram {
  program ??= loadProgram(programPath('gpint'));
  return program;
}

/** What can be done with either network. */
export interface Probed {
  readonly network: Network;
  readonly switchNodes: readonly Node[];
  readonly links: readonly Link[];
  readonly hosts: readonly Host[];
  readonly monitor: MonitorHost;
}

export interface P4Network extends Probed {
  readonly switches: readonly P4Switch[];
  /** The network of GpintSwitch whose ports and routes this one has. */
  readonly model: BuiltNetwork;
}

/** Cells of the counter `GpintIngress.events`. */
export const EVENTS = [
  'probes',
  'completed',
  'inTransit',
  'feedbackSent',
  'feedbackMatched',
  'feedbackUnmatched',
  'notices',
  'clonesRefused',
  'droppedMalformed',
  'droppedTooLong',
  'droppedMisdirected',
  'forwarded',
  'unroutable',
] as const;

export type EventName = (typeof EVENTS)[number];

/** What a switch has counted. */
export function eventsOf(each: P4Switch): Record<EventName, number> {
  const counter = each.machine.counter('GpintIngress.events');
  return Object.fromEntries(EVENTS.map((name, index) => [name, counter.read(index).packets])) as Record<
    EventName,
    number
  >;
}

/** The same counters of the behaviour that the program is held to. */
export function eventsOfModel(built: BuiltNetwork, index: number): Record<EventName, number> {
  const each = built.switches[index];
  if (each === undefined) throw new RangeError(`no switch ${index}`);
  return Object.fromEntries(EVENTS.map((name) => [name, each[name]])) as Record<EventName, number>;
}

/** Commands that make a switch of a built network. */
function commandsOf(built: BuiltNetwork, index: number, settings: GpintSettings = {}): string {
  const each = built.switches[index];
  if (each === undefined) throw new RangeError(`no switch ${index}`);
  const { recovery = true, timeoutNs = 1_500_000_000, cloneCapacity = 1000 } = settings;
  const lines = [
    'mirroring_add 1 510',
    'set_queue_depth 4096 510',
    `table_set_default GpintIngress.identity GpintIngress.set_identity ${index} ${each.address} ${ADDRESSES.monitor} ${each.monitorPort}`,
  ];
  if (recovery) lines.push(`table_set_default GpintIngress.recovery GpintIngress.recover ${cloneCapacity}`);
  if (typeof timeoutNs === 'number') {
    lines.push(`table_set_default GpintIngress.clone_timeout GpintIngress.keep_for ${Math.floor(timeoutNs / 1000)}`);
  } else {
    for (let port = 0; port < 64; port++) {
      lines.push(
        `table_add GpintIngress.clone_timeout GpintIngress.keep_for ${port} => ${Math.floor(timeoutNs(port) / 1000)}`,
      );
    }
  }
  const addresses = [...built.hosts.keys()].map(ADDRESSES.host);
  for (const address of [...addresses, ADDRESSES.monitor]) {
    const entry = each.routes.entryOf(address);
    if (entry < 0) continue;
    lines.push(
      `table_add GpintIngress.forward GpintIngress.route ${formatIpv4(address)}/32 => ${each.routes.portOf(entry)} ${entry}`,
    );
  }
  return lines.join('\n');
}

/** @param recirculationNs time of a pass back to the parser */
export function p4Network(options: BuildOptions, recirculationNs: number): P4Network {
  const model = buildNetwork(options);
  const settingsOf = (index: number): GpintSettings =>
    (typeof options.gpint === 'function' ? options.gpint(index) : options.gpint) ?? {};
  const network = new Network({ seed: options.seed });
  const switches = model.switches.map(
    (_, index) =>
      new P4Switch(gpintProgram(), {
        ...undefinedOptions(),
        commands: commandsOf(model, index, settingsOf(index)),
        recirculationNs,
        queuePackets: 1000,
        maxPasses: 1_000_000,
      }),
  );
  const switchNodes = switches.map((each, index) => {
    const settings = typeof options.switchNode === 'function' ? options.switchNode(index) : options.switchNode;
    return network.add(`s${index}`, each, settings);
  });
  const nodeAt = (index: number): Node => {
    const node = switchNodes[index];
    if (node === undefined) throw new RangeError(`no switch ${index}`);
    return node;
  };
  const links = options.links.map(([a, b], index) => {
    const settings = typeof options.link === 'function' ? options.link(index, a, b) : options.link;
    return network.connect(nodeAt(a), nodeAt(b), { ...settings, aPort: model.portOf(a, b), bPort: model.portOf(b, a) });
  });
  const monitor = new MonitorHost({
    address: ADDRESSES.monitor,
    extended: model.extended,
    portOf: (entry) => model.entries.indexOf(entry),
    addressOf: ADDRESSES.switch,
  });
  const monitorNode = network.add('monitor', monitor);
  for (const [port, entry] of model.entries.entries()) {
    const given = options.monitor?.link;
    const settings = typeof given === 'function' ? given(entry) : given;
    network.connect(monitorNode, nodeAt(entry), { ...settings, aPort: port, bPort: 0 });
  }
  const hosts = model.hosts.map((_, index) => {
    const host = new Host({ address: ADDRESSES.host(index) });
    const hostNode = network.add(`host ${index}`, host);
    const link = model.hostLinks[index];
    if (link === undefined) throw new RangeError(`no host ${index}`);
    network.connect(hostNode, nodeAt(link.b.id), { ...options.hosts?.link, aPort: 0, bPort: link.bPort });
    return host;
  });
  return { network, switches, switchNodes, links, hosts, monitor, model };
}

/** What came home to a monitor. */
export interface Return {
  readonly kind: 'probe' | 'feedback' | 'notice';
  /** Payload, as hexadecimal digits. */
  readonly bytes: string;
  readonly port: number;
  readonly timeNs: number;
}

const KINDS: Readonly<Record<number, Return['kind']>> = {
  [GPINT_DSCP.PROBE]: 'probe',
  [GPINT_DSCP.FEEDBACK]: 'feedback',
  [GPINT_DSCP.RECOVERY]: 'notice',
};

/** Collects what comes home from now on. */
export function returnsOf({ monitor }: Pick<Probed, 'monitor'>): Return[] {
  const returns: Return[] = [];
  monitor.onPayload = (payload, dscp, port, timeNs) => {
    const kind = KINDS[dscp];
    if (kind === undefined) throw new TypeError(`DSCP ${dscp} came home`);
    returns.push({ kind, bytes: Buffer.from(payload).toString('hex'), port, timeNs });
  };
  return returns;
}
