/** Watched packets on their way through three switches with intmon.p4, as the management plane sees them. */
import { readFileSync } from 'node:fs';
import { FrameDecoder, recordToJson, type TelemetryRecord } from '@int/codec';
import { Host, Network } from '@int/netsim';
import { P4Switch } from '@int/netsim/p4';
import { commandsPath, programPath } from '@int/p4';
import { loadProgram } from '@int/p4vm/node';

/** What 10.0.1.1 sends to 10.0.2.2. The watch rules are in p4/intmon/commands/source.txt. */
const PACKETS = [
  // All eight fields of this flow.
  { atUs: 10_000, sourcePort: 5000, destinationPort: 80 },
  { atUs: 10_000, sourcePort: 5000, destinationPort: 80 },
  { atUs: 11_500, sourcePort: 5000, destinationPort: 80 },
  // Of its neighbours two fields, switch id and hop latency, but nothing of their DNS.
  { atUs: 20_000, sourcePort: 5001, destinationPort: 80 },
  { atUs: 30_000, sourcePort: 5001, destinationPort: 53 },
] as const;

const MANAGEMENT_PORT = 3;
const LINK_DELAY_NS = 50_000;

export interface Watched {
  /** Copies that the sink gave the management plane. */
  readonly records: readonly TelemetryRecord[];
  /** Bytes of payload of the packets that the host got. */
  readonly delivered: readonly number[];
}

/** Sends the packets, and gives what came of them. */
export function watched(): Watched {
  const program = loadProgram(programPath('intmon'));
  const commandsOf = (role: string): string => readFileSync(commandsPath('intmon', role), 'utf8');
  const decoder = new FrameDecoder({ profile: 'intmon' });
  const records: TelemetryRecord[] = [];
  const delivered: number[] = [];
  const network = new Network({ seed: 1 });
  const client = new Host({ address: 0x0a000101 });
  const server = new Host({ address: 0x0a000202, onDatagram: ({ payload }) => void delivered.push(payload.length) });
  const nodes = [
    network.add('client', client),
    network.add('s1', new P4Switch(program, { commands: commandsOf('source') })),
    // A byte takes a microsecond here: the second of two packets waits.
    network.add('s2', new P4Switch(program, { commands: commandsOf('transit'), rateBps: 8e6 })),
    network.add(
      's3',
      new P4Switch(program, {
        commands: commandsOf('sink'),
        controlPort: MANAGEMENT_PORT,
        onControl: (frame) => void records.push(...decoder.decode(frame)),
      }),
    ),
    network.add('server', server),
  ];
  // Port 1 of a switch leads back, port 2 on; a host has port 0.
  for (const [index, node] of nodes.slice(0, -1).entries()) {
    const [aPort, bPort] = [index === 0 ? 0 : 2, index === nodes.length - 2 ? 0 : 1];
    network.connect(node, nodes[index + 1]!, { aPort, bPort, delayNs: LINK_DELAY_NS });
  }
  for (const { atUs, ...ports } of PACKETS) {
    network.at(atUs * 1000, () => client.send({ destination: server.address, ...ports }, new Uint8Array(100)));
  }
  network.run(1e9);
  return { records, delivered };
}

/** What the command prints: a line of JSON for each packet, then what the host got. */
export function linesOf({ records, delivered }: Watched): string[] {
  const lines = records.map((record) => {
    const { flow, hops } = recordToJson(record);
    return JSON.stringify({ sourcePort: flow?.sourcePort, destinationPort: flow?.destinationPort, hops });
  });
  const lengths = [...new Set(delivered)].join(' and ');
  return [
    ...lines,
    `${records.length} copies; the host got ${delivered.length} packets with ${lengths} bytes of payload`,
  ];
}
