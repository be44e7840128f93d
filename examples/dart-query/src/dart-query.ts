/** Paths of flows, written by a switch with dart.p4 into a collector's memory, where an operator looks them up. */
import { readFileSync } from 'node:fs';
import { type Flow, formatIpv4 } from '@int/codec';
import { DartStore, flowKey, pathOfValue, SoftRnic } from '@int/dart';
import { Host, Network } from '@int/netsim';
import { P4Switch } from '@int/netsim/p4';
import { commandsPath, type ProgramName, programPath } from '@int/p4';
import { loadProgram } from '@int/p4vm/node';

/** Where the collector's memory is, as its RDMA NIC tells the control plane. */
const MEMORY = { queuePair: 0x112, remoteKey: 0x1a2b, base: 0x10_0000_0000n };
const SLOTS = 1 << 16;
const COPIES = 2;
const RNIC_PORT = 7;

const commandsOf = (program: ProgramName, role: string): string => readFileSync(commandsPath(program, role), 'utf8');

/** Telemetry of a sink becomes two RDMA WRITEs, to one collector. */
const WRITES = [
  `table_set_default DartWrite.copies DartWrite.set_copies ${COPIES} 0 1`,
  `table_add DartWrite.collector DartWrite.write 0 => 02:00:00:00:00:03 02:00:00:00:00:99 10.0.9.3 10.0.9.9 49152 ${MEMORY.queuePair} ${MEMORY.remoteKey} ${MEMORY.base} ${SLOTS}`,
];

/** An answer of the store. */
export interface Answered {
  readonly flow: Flow;
  readonly status: string;
  /** Switches, from the INT source to the sink, `null` for one that is not named; null where nothing was found. */
  readonly path: readonly (number | null)[] | null;
  readonly agreeing: number;
}

export interface Traced {
  readonly store: DartStore;
  readonly rnic: SoftRnic;
  /** Before and after the route of the second flow has changed. */
  readonly before: readonly Answered[];
  readonly after: readonly Answered[];
}

/** Hosts at the ends of a diamond: s1, then s2 or s4, then s3. */
export function traced(): Traced {
  const store = new DartStore({ slots: SLOTS, copies: COPIES, hash: 'crc' });
  const rnic = new SoftRnic({
    queuePairs: [{ number: MEMORY.queuePair }],
    regions: [{ remoteKey: MEMORY.remoteKey, base: MEMORY.base, target: store }],
  });
  const int = loadProgram(programPath('int'));
  // dart.p4 has the tables of int.p4, but for those that reports need.
  const sinkOfInt = commandsOf('int', 'sink')
    .split('\n')
    .filter((line) => !line.includes('IntReport.'));
  const network = new Network({ seed: 1 });
  const source = new P4Switch(int, { commands: commandsOf('int', 'source') });
  const s1 = network.add('s1', source);
  const s2 = network.add('s2', new P4Switch(int, { commands: commandsOf('int', 'transit') }));
  const other = `${commandsOf('int', 'transit')}\ntable_set_default IntEgress.node IntEgress.set_node 4`;
  const s4 = network.add('s4', new P4Switch(int, { commands: other }));
  const sink = new P4Switch(loadProgram(programPath('dart')), {
    commands: [commandsOf('dart', 'hashes'), ...sinkOfInt, ...WRITES].join('\n'),
    controlPort: RNIC_PORT,
    onControl: (frame) => void rnic.receive(frame),
  });
  const s3 = network.add('s3', sink);
  const client = new Host({ address: 0x0a000101 });
  network.connect(network.add('client', client), s1, { aPort: 0, bPort: 1 });
  network.connect(s1, s2, { aPort: 2, bPort: 1 });
  network.connect(s1, s4, { aPort: 3, bPort: 1 });
  network.connect(s2, s3, { aPort: 2, bPort: 1 });
  network.connect(s4, s3, { aPort: 2, bPort: 3 });
  network.connect(s3, network.add('server', new Host({ address: 0x0a000202 })), { aPort: 2, bPort: 0 });

  const flows = [0x0a000202, 0x0a000203].map((destination) => ({ destination, sourcePort: 4000, destinationPort: 80 }));
  const send = (): void => {
    for (const flow of flows) client.send(flow, new Uint8Array(100));
    network.run(network.nowNs + 1e9);
  };
  // Nobody has sent to the last one.
  const asked = [...flows, { destination: 0x0a000204, sourcePort: 4000, destinationPort: 80 }];
  const ask = (): Answered[] =>
    asked.map(({ destination, ...ports }) => {
      const ends = { source: formatIpv4(client.address), destination: formatIpv4(destination) };
      const flow = { ...ends, protocol: 17, ...ports };
      const { status, value, agreeing } = store.query(flowKey(flow));
      return { flow, status, path: value === null ? null : pathOfValue(value), agreeing };
    });
  send();
  const before = ask();
  for (const { error } of source.machine.commands(
    'table_add IntIngress.forward_ipv4 IntIngress.forward 10.0.2.3/32 => 3',
  )) {
    if (error !== undefined) throw error;
  }
  send();
  return { store, rnic, before, after: ask() };
}

/** What the command prints: the operator's answers, then what the NIC has done. */
export function linesOf({ rnic, before, after }: Traced): string[] {
  const lineOf = ({ flow, status, path, agreeing }: Answered): string => {
    const { source, sourcePort, destination, destinationPort } = flow;
    const found =
      path === null ? status : `${path.map((id) => `s${id ?? '?'}`).join(' ')}  (${agreeing} of ${COPIES} slots)`;
    return `  ${source}:${sourcePort} > ${destination}:${destinationPort}  ${found}`;
  };
  const { write, rejected } = rnic.counters;
  return [
    'paths',
    ...before.map(lineOf),
    'paths after the route to 10.0.2.3 has changed',
    ...after.map(lineOf),
    `RDMA WRITEs: ${write} done, ${rejected} rejected`,
  ];
}
