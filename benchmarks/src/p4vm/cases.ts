/** What the switches are given to do: a program, the commands that set it up, and packets. */
import { fileURLToPath } from 'node:url';
import { type Hop, source, transit } from '@int/codec';
import { ipv4HeaderChecksum, udpChecksum } from '@int/codec/internals';

/** Bundles lie in benchmarks/dist. */
const INT = fileURLToPath(new URL('../../p4/int.p4', import.meta.url));
const ROUTER = fileURLToPath(new URL('../programs/router.p4', import.meta.url));

/** Ports packets come in by, leave by, and reports leave by. */
export const IN = 0;
export const OUT = 1;
export const COLLECTOR = 2;

export interface Case {
  readonly name: string;
  readonly about: string;
  readonly program: string;
  readonly commands: readonly string[];
  readonly frames: () => readonly Uint8Array[];
  /** Packets out for each one in. */
  readonly copies: number;
  /** Packets leave the same whenever they are sent: two switches must send the same bytes. */
  readonly isTimeless: boolean;
}

/** Flows that packets take turns of. */
const FLOWS = 64;
const PAYLOAD = 64;
const LOCATE = { intPorts: [5000], intDscp: { value: 0x17, mask: 0x3f } } as const;
/** Node id, interfaces, hop latency, queue. */
const ITEMS = 0xf000;

function udpFrame(flow: number): Uint8Array {
  const bytes = new Uint8Array(42 + PAYLOAD);
  const view = new DataView(bytes.buffer);
  bytes.set([2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x08, 0x00, 0x45]);
  view.setUint16(16, 28 + PAYLOAD);
  bytes[22] = 64;
  bytes[23] = 17;
  view.setUint32(26, 0x0a00_0100 + flow);
  view.setUint32(30, 0x0a00_0200 + (flow % 7));
  view.setUint16(24, ipv4HeaderChecksum(bytes, 14));
  view.setUint16(34, 10_000 + flow);
  view.setUint16(36, 9);
  view.setUint16(38, 8 + PAYLOAD);
  for (let at = 42; at < bytes.length; at++) bytes[at] = at * 7 + flow;
  view.setUint16(40, udpChecksum(bytes, 14, 34, 8 + PAYLOAD));
  return bytes;
}

const plain = (): Uint8Array[] => Array.from({ length: FLOWS }, (_, flow) => udpFrame(flow));

function hop(nodeId: number, flow: number): Hop {
  return {
    nodeId,
    l1IngressInterface: 1,
    l1EgressInterface: 2,
    hopLatency: 500 + 13 * flow + nodeId,
    queueId: 0,
    queueOccupancy: (flow * nodeId) % 40,
  };
}

/** INT-MD by DSCP, with so many hops on the stack. */
const withHops = (hops: number) => (): Uint8Array[] =>
  plain().map((frame, flow) => {
    let { packet } = source(frame, { ...LOCATE, instructions: ITEMS, maxHops: 8, encapsulation: 'dscp' }, hop(1, flow));
    for (let node = 2; node <= hops; node++) packet = transit(packet, LOCATE, hop(node, flow)).packet;
    return packet;
  });

const forwarding = [
  'table_set_default IntEgress.node IntEgress.set_node 9',
  `table_add IntIngress.forward_ipv4 IntIngress.route 10.0.2.0/24 => ${OUT} 02:00:00:00:00:03 02:00:00:00:00:04`,
];
const sink = [
  ...forwarding,
  `table_add IntEgress.port IntEgress.set_port ${OUT} => 1 0 0xffffff 0 0xffffffff`,
  'mirroring_add 99 2',
  'table_set_default IntEgress.reports IntEgress.set_session 99',
  `table_add IntReport.collector IntReport.send ${COLLECTOR} => 0 02:00:00:00:00:05 02:00:00:00:00:99 10.0.9.5 10.0.9.9 50000 32766 3 600`,
];
const anything = '0&&&0 0&&&0 0&&&0 0->65535 0->65535 0&&&0 0&&&0';

export const CASES: readonly Case[] = [
  {
    name: 'transit',
    about: 'int.p4, 3 hops of 4 words on the stack, a fourth is pushed',
    program: INT,
    commands: forwarding,
    frames: withHops(3),
    copies: 1,
    isTimeless: false,
  },
  {
    name: 'sink',
    about: 'int.p4, 3 hops, pushes its own, strips; no rule reports',
    program: INT,
    commands: [...sink, 'table_set_default IntSink.algorithm_ipv4_a IntSink.report_none'],
    frames: withHops(3),
    copies: 1,
    isTimeless: true,
  },
  {
    name: 'sink+perHop',
    about: 'the same with perHop detection of the queue occupancy, never an event',
    program: INT,
    commands: [
      ...sink,
      // Algorithm 1 of metric 1, with the largest threshold there is.
      `table_add IntSink.algorithm_ipv4_a IntSink.fast_detection ${anything} => 0 1 1 0 0xffffffff 0 0 0 1`,
    ],
    frames: withHops(3),
    copies: 1,
    isTimeless: true,
  },
  {
    name: 'sink+reports',
    about: 'the same, and a telemetry report of each packet',
    program: INT,
    commands: [...sink, 'table_set_default IntSink.algorithm_ipv4_a IntSink.report_all'],
    frames: withHops(3),
    copies: 2,
    isTimeless: false,
  },
  {
    name: 'forwarding',
    about: 'int.p4, packets without INT, watched by no rule',
    program: INT,
    commands: forwarding,
    frames: plain,
    copies: 1,
    isTimeless: true,
  },
  {
    name: 'router',
    about: 'programs/router.p4: one table of one prefix, time to live, header checksum',
    program: ROUTER,
    commands: [
      `table_add RouterIngress.routes RouterIngress.route 10.0.2.0/24 => ${OUT} 02:00:00:00:00:03 02:00:00:00:00:04`,
    ],
    frames: plain,
    copies: 1,
    isTimeless: true,
  },
];

export function caseOf(name: string): Case {
  const found = CASES.find((each) => each.name === name);
  if (found === undefined) throw new Error(`there is no case '${name}'`);
  return found;
}
