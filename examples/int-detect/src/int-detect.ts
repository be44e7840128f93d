/** INT rules run twice: in the tables of a switch with int.p4, and by @int/detect on all reports of the same switch. */
import { readFileSync } from 'node:fs';
import { FrameDecoder, type TelemetryRecord } from '@int/codec';
import { Detector, type Event, exportTables } from '@int/detect';
import { readRules } from '@int/detect/yaml';
import { Host, Network } from '@int/netsim';
import { P4Switch } from '@int/netsim/p4';
import { commandsPath, programPath } from '@int/p4';
import { loadProgram } from '@int/p4vm/node';

/** v1model switches count hop latencies in microseconds, queues in packets. */
const RULES = readRules(`
version: 1
default: drop
units: { hopLatency: us }
rules:
  - name: web-jam
    priority: 20
    match: { protocol: udp, destinationPort: 80 }
    detect: { complex: "sum(hopLatency) > 1ms and max(queueOccupancy) >= 2" }
  - name: any-jump
    priority: 10
    match: any
    detect: { perFlow: { metric: hopLatency, threshold: 500us } }
`);

/** Bursts that h1 sends to h2: when, how many packets, and to which UDP port. */
const BURSTS = [
  { atMs: 10, packets: 2, port: 80 },
  { atMs: 20, packets: 6, port: 5201 },
  { atMs: 30, packets: 1, port: 5201 },
  { atMs: 40, packets: 10, port: 80 },
] as const;

/** A telemetry report, and when the sink sent it. */
interface Report {
  readonly timeNs: number;
  readonly record: TelemetryRecord;
}

const program = loadProgram(programPath('int'));
const commandsOf = (role: string): string => readFileSync(commandsPath('int', role), 'utf8');

/** Sends the bursts through source, transit and sink, and gives the sink's reports. @param rules more commands for the sink */
function reportsOf(rules: readonly string[]): Report[] {
  const network = new Network({ seed: 1 });
  const reports: Report[] = [];
  const decoder = new FrameDecoder();
  const switches = [
    new P4Switch(program, { commands: commandsOf('source') }),
    // Bursts wait here: a byte takes a microsecond.
    new P4Switch(program, { commands: commandsOf('transit'), rateBps: 8e6 }),
    new P4Switch(program, {
      commands: [commandsOf('sink'), ...rules].join('\n'),
      controlPort: 7,
      onControl: (frame, { nowNs }) => {
        for (const record of decoder.decode(frame)) reports.push({ timeNs: nowNs, record });
      },
    }),
  ];
  const [h1, h2] = [new Host({ address: 0x0a000101 }), new Host({ address: 0x0a000202 })];
  const nodes = [h1, ...switches, h2].map((each, index) => network.add(`n${index}`, each));
  // Port 1 leads back, port 2 on; a host has port 0.
  for (const [index, node] of nodes.slice(0, -1).entries()) {
    const [aPort, bPort] = [index === 0 ? 0 : 2, index === nodes.length - 2 ? 0 : 1];
    network.connect(node, nodes[index + 1]!, { aPort, bPort });
  }
  for (const { atMs, packets, port } of BURSTS) {
    network.at(atMs * 1e6, () => {
      for (let i = 0; i < packets; i++) {
        h1.send({ destination: h2.address, sourcePort: 4000, destinationPort: port }, new Uint8Array(500));
      }
    });
  }
  network.run(1e9);
  return reports;
}

/** A report in which something happened, by the rule of this name. */
interface Finding extends Report {
  readonly rule: string;
}

interface Findings {
  /** Reports that the host looked at: all packets. */
  readonly reports: number;
  readonly host: readonly (Finding & { readonly event: Event })[];
  /** The reports that the switch sent once it had the rules: nothing else came. */
  readonly inSwitch: readonly Finding[];
}

/** Once with no rules in the switch, where the host decides; once with the rules in the switch's tables. */
export function findings(): Findings {
  const detector = new Detector(RULES);
  const all = reportsOf([]);
  const host = all.flatMap((report) =>
    detector.observe(report.record).map((event) => ({ ...report, rule: event.rule ?? 'none', event })),
  );
  const { commands, ruleNames } = exportTables(RULES);
  // The number of the rule is domain-specific metadata of the report, all ones for none.
  const inSwitch = reportsOf(commands).map((report) => {
    const { buffer, byteOffset } = report.record.report?.metadata.domain ?? new Uint8Array(4).fill(255);
    return { ...report, rule: ruleNames[new DataView(buffer, byteOffset).getUint32(0)] ?? 'none' };
  });
  return { reports: all.length, host, inSwitch };
}

/** What the command prints: a line for each event of the host, and the sums. */
export function linesOf({ reports, host, inSwitch }: Findings): string[] {
  const told = host.map(({ timeNs, rule, event, record }) => {
    const latencies = record.hops.map(({ nodeId, hopLatency }) => `s${nodeId} ${hopLatency}`).join(', ');
    const isTold = inSwitch.some((each) => each.timeNs === timeNs && each.rule === rule);
    const who = isTold ? 'host and switch' : 'host only';
    return `${(timeNs / 1e6).toFixed(2)} ms  ${rule}  to port ${event.flow?.destinationPort}  us: ${latencies}  ${who}`;
  });
  return [...told, `host: ${host.length} events in ${reports} reports; switch: ${inSwitch.length} reports sent`];
}
