/** Probes through switches with gpint.p4: a plan that covers a grid, and a probe that is lost and recovered. */
import { formatIpv4 } from '@int/codec';
import { gpint, grid, Monitor, type SessionReport } from '@int/gpint';
import { ADDRESSES, MonitorHost, Network, udpFrame } from '@int/netsim';
import { P4Switch } from '@int/netsim/p4';
import { programPath } from '@int/p4';
import { loadProgram } from '@int/p4vm/node';

const GRAPH = grid(3, 3);
const PLAN = gpint(GRAPH, { paths: 3 });
/** The last link of the first path loses all packets. */
const BROKEN = PLAN.paths.path(0).slice(-2);
/** How long a switch waits for the next one to confirm a probe; the copy that it keeps makes a pass in so long. */
const [TIMEOUT_NS, PASS_NS] = [100e6, 2e6] as const;

/** What p4/gpint/commands/switch.txt is for one switch: its number and address, the monitor's, and how long copies wait. */
const commandsOf = (node: number): string => `
mirroring_add 1 510
set_queue_depth 1024 510
table_set_default GpintIngress.identity GpintIngress.set_identity ${node} ${formatIpv4(ADDRESSES.switch(node))} ${formatIpv4(ADDRESSES.monitor)} 0
table_set_default GpintIngress.recovery GpintIngress.recover 1000
table_set_default GpintIngress.clone_timeout GpintIngress.keep_for ${TIMEOUT_NS / 1000}`;

/** A line of what happened in the monitor. */
export interface Happened {
  /** Since the session began. */
  readonly ms: number;
  readonly kind: 'sent' | 'notice' | 'home' | 'link';
  /** Where a probe was sent to; whose measurements came; the ends of a link. */
  readonly nodes: readonly number[];
}

export interface Probed {
  readonly switches: readonly P4Switch[];
  readonly happened: readonly Happened[];
  readonly report: SessionReport;
}

/** Collects once from all switches. */
export function probed(): Probed {
  const network = new Network({ seed: 1 });
  const program = loadProgram(programPath('gpint'));
  const passes = { recirculationNs: PASS_NS, maxPasses: 1000 };
  const switches = GRAPH.names.map((_, node) => new P4Switch(program, { ...passes, commands: commandsOf(node) }));
  const nodes = switches.map((each, node) => network.add(GRAPH.names[node]!, each));
  const host = new MonitorHost({ address: ADDRESSES.monitor, addressOf: ADDRESSES.switch, portOf: (node) => node });
  const monitorNode = network.add('monitor', host);
  for (const [aPort, node] of nodes.entries()) {
    network.connect(monitorNode, node, { aPort, bPort: 0, delayNs: 50_000 });
  }
  // Ports as the monitor counts them: 0 leads to itself, then come the neighbours in order.
  for (const [a, b] of GRAPH.pairs()) {
    const [aPort, bPort] = [GRAPH.positionOf(a, b) + 1, GRAPH.positionOf(b, a) + 1];
    const link = network.connect(nodes[a]!, nodes[b]!, { aPort, bPort, delayNs: 50_000 });
    if (BROKEN.includes(a) && BROKEN.includes(b)) link.fail();
  }
  // Something to measure: as many packets, from the monitor's side, as the switch's number says.
  const datagram = { source: ADDRESSES.monitor, destination: ADDRESSES.host(0), sourcePort: 1, destinationPort: 9 };
  for (const node of nodes.keys()) {
    for (let i = 0; i < node; i++) monitorNode.send(node, udpFrame(datagram, new Uint8Array(8)));
  }
  network.run(1e9);

  const happened: Happened[] = [];
  const note = (kind: Happened['kind'], of: readonly number[]): void =>
    void happened.push({ ms: (network.nowNs - 1e9) / 1e6, kind, nodes: of });
  const monitor = new Monitor({
    graph: GRAPH,
    plan: PLAN,
    // Packets that came in by port 0, from the monitor.
    requestType: 'port-packets',
    measurements: { first: 0, count: 1 },
    transport: {
      send: (node, payload) => {
        note('sent', [node]);
        host.send(node, payload);
      },
    },
    clock: {
      nowNs: () => network.nowNs,
      at: (timeNs, callback) => {
        const timer = network.at(Math.max(timeNs, network.nowNs), callback);
        return () => timer.cancel();
      },
    },
    // A switch's notice comes some passes after its time is up.
    config: { timeoutNs: TIMEOUT_NS + 20 * PASS_NS },
    onEvent: (event) => {
      if (event.kind === 'home' || event.kind === 'notice') note(event.kind, event.nodes);
      if (event.kind === 'link') note('link', [event.from, event.to]);
    },
  });
  host.onPayload = (payload, dscp) => monitor.receive(payload, dscp);
  let report: SessionReport | undefined;
  monitor.collect((ended) => {
    report = ended;
  });
  network.runWhile(() => report === undefined);
  return { switches, happened, report: report! };
}

/** What the command prints: the plan, what happened, and what the switches measured. */
export function linesOf({ happened, report }: Probed): string[] {
  const namesOf = (nodes: Iterable<number>): string => Array.from(nodes, (node) => GRAPH.names[node]).join(' ');
  const paths = PLAN.paths.named(GRAPH).map((path, index) => `path ${index + 1}: ${path.join(' ')}`);
  const story = happened.map(({ ms, kind, nodes }) => `${ms.toFixed(2)} ms  ${kind} ${namesOf(nodes)}`);
  const measured = Array.from(report.telemetry, ({ name, measurements }) => `${name} ${measurements[0]}`);
  const sum = `${report.telemetry.size} of ${GRAPH.nodeCount} switches collected, ${report.sentRecovery} probe for recovery`;
  return [...paths, `dead link: ${namesOf(BROKEN)}`, ...story, `packets by port 0: ${measured.join(', ')}`, sum];
}
