/** Flow entries and events of a switch with flowcache.p4, read as those of @int/flowcache, and into Redis. */
import { readFileSync } from 'node:fs';
import {
  DEFAULT_METRICS,
  EntryReader,
  type FlowEntry,
  type FlowEvent,
  geometryOf,
  readFlowEvent,
} from '@int/flowcache';
import { type Datagram, Host, Network } from '@int/netsim';
import { P4Switch } from '@int/netsim/p4';
import { commandsPath, programPath } from '@int/p4';
import { loadProgram } from '@int/p4vm/node';
import { flowText, RedisWriter, type RedisWriterTotals } from '@int/sink-redis';

/** The switch's cache has room for two flows, and the default metrics. Its readers are told the same. */
const DEFINES = { FLOWCACHE_ROWS: '1', FLOWCACHE_BUCKETS: '2', FLOWCACHE_HOPS: '3' };
const GEOMETRY = geometryOf({ rows: 1, buckets: 2, hops: 3 });

/** What a host sends: when, how many packets at once, and from which UDP port, which makes the flow. */
const BURSTS = [
  { atMs: 10, packets: 3, sourcePort: 4001 },
  { atMs: 20, packets: 1, sourcePort: 4002 },
  { atMs: 30, packets: 1, sourcePort: 4001 },
  { atMs: 40, packets: 1, sourcePort: 4003 },
  { atMs: 50, packets: 1, sourcePort: 4004 },
] as const;

/** Records of a datagram (p4/flowcache, "Packets to hosts") as words of this machine; what an entry leaves out is zeros. */
function recordsOf(payload: Uint8Array): Int32Array[] {
  const view = new DataView(payload.buffer, payload.byteOffset + 12, payload.length - 12);
  const count = payload[3]!;
  const words = view.byteLength / 4 / count;
  const wordOf = (record: number, word: number): number =>
    word < words ? view.getInt32(4 * (record * words + word)) : 0;
  const buckets = Array.from({ length: count }, () => new Int32Array(GEOMETRY.bucketStride));
  return buckets.map((bucket, record) => bucket.map((_, word) => wordOf(record, word)));
}

/** What the switch has told, in order. */
export interface Exported {
  readonly entries: readonly FlowEntry[];
  readonly events: readonly FlowEvent[];
}

/** Sends the bursts through source, transit and the sink with the cache. */
export function exported(): Exported {
  const entries: FlowEntry[] = [];
  const events: FlowEvent[] = [];
  const reader = new EntryReader(GEOMETRY);
  const int = loadProgram(programPath('int'));
  const commandsOf = (...of: Parameters<typeof commandsPath>): string => readFileSync(commandsPath(...of), 'utf8');
  const network = new Network({ seed: 1 });
  const client = new Host({ address: 0x0a000101 });
  const flowcache = loadProgram(programPath('flowcache'), { defines: DEFINES });
  const nodes = [
    network.add('client', client),
    network.add('s1', new P4Switch(int, { commands: commandsOf('int', 'source') })),
    // Bursts wait here: a byte takes a microsecond.
    network.add('s2', new P4Switch(int, { commands: commandsOf('int', 'transit'), rateBps: 8e6 })),
    network.add('s5', new P4Switch(flowcache, { commands: commandsOf('flowcache', 'sink') })),
    network.add('server', new Host({ address: 0x0a000202 })),
  ];
  // Port 1 of a switch leads back, port 2 on; a host has port 0.
  for (const [index, node] of nodes.slice(0, -1).entries()) {
    const [aPort, bPort] = [index === 0 ? 0 : 2, index === nodes.length - 2 ? 0 : 1];
    network.connect(node, nodes[index + 1]!, { aPort, bPort });
  }
  /** A host for what the sink sends by a port. */
  const listen = (port: number, onRecord: (words: Int32Array) => void): void => {
    const onDatagram = ({ payload }: Datagram): void => recordsOf(payload).forEach(onRecord);
    const host = network.add(`host ${port}`, new Host({ address: 0x0a000900 + port, onDatagram }));
    network.connect(nodes[3]!, host, { aPort: port, bPort: 0 });
  };
  listen(8, (words) => entries.push(reader.read(words, 0)));
  listen(9, (words) => events.push(readFlowEvent(words, 0, DEFAULT_METRICS)));
  for (const { atMs, packets, sourcePort } of BURSTS) {
    network.at(atMs * 1e6, () => {
      for (let i = 0; i < packets; i++) {
        client.send({ destination: 0x0a000202, sourcePort, destinationPort: 80 }, new Uint8Array(500));
      }
    });
  }
  network.run(1e9);
  return { entries, events };
}

/** Writes it to Redis. @returns what was written, and what could not be within five seconds */
export async function store({ entries, events }: Exported, url: string): Promise<RedisWriterTotals> {
  const sink = new RedisWriter({ url, geometry: GEOMETRY, onProblem: ({ message }) => console.error(message) });
  void sink.open();
  for (const event of events) sink.event(event);
  for (const entry of entries) sink.entry(entry);
  return await sink.close();
}

/** What the command prints: a line for each event and each entry. */
export function linesOf({ entries, events }: Exported): string[] {
  const raised = events.map(
    ({ timeNs, flow, kinds, metric, nodeId, value, previous, threshold }) =>
      `event ${flowText(flow)}  ${Number(timeNs) / 1e6} ms  ${kinds.join('+')} ${metric} ${value} at s${nodeId} (before ${previous}, threshold ${threshold})`,
  );
  const handed = entries.map(
    ({ flow, reason, packets, path, endToEnd }) =>
      `entry ${flowText(flow)}  ${reason}, ${packets} packets by s${path.join(' s')}, latency ${endToEnd?.mean} us on average`,
  );
  return [...raised, ...handed];
}
