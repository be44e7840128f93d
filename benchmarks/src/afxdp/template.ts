/** The frames that are sent: a telemetry report v2.0 of a packet that carries INT-MD over UDP over IPv4. */
import { encodeFrame, type Hop, telemetry } from '@int/codec';

/** UDP port of reports, and the one that marks INT in the packets they are about. */
export const REPORT_PORT = 32_766;
export const INT_PORT = 5000;

/** How many hops a report has, and the instruction bits of what each has pushed: bit 0, the switch id, and others. */
export interface Shape {
  readonly hops: number;
  readonly bits: readonly number[];
}

/** 5 hops of switch id, hop latency and queue. */
export const COMMON: Shape = { hops: 5, bits: [0, 2, 3] };

/** Items by instruction bit, in order; the timestamps, bits 4 and 5, have two words. */
const ITEM_BITS: readonly number[] = [0, 1, 2, 3, 4, 5, 7, 8];

export function shapeOf(hops: number, items: number): Shape {
  return { hops, bits: ITEM_BITS.slice(0, items) };
}

/** Values of the hop latency of a path's first hop, and a threshold that their difference exceeds and the first does not. */
export const LATENCY = { low: 50, high: 1050, threshold: 100 } as const;

/** Where frames go. */
export interface Destination {
  readonly mac: string;
  readonly address: string;
  readonly sender: string;
}

/** One frame, and where the sender writes into it, in bytes; see `benchmarks/native/receivers/live_send.c`. */
export interface Template {
  readonly frame: Uint8Array;
  readonly sequence: number;
  readonly port: number;
  readonly stack: number;
  readonly hops: number;
  /** Words a hop. */
  readonly words: number;
  /** Word of the switch id and of the hop latency within a hop; -1: not carried. */
  readonly node: number;
  readonly value: number;
}

/** Ethernet 14, IPv4 20, UDP 8; report 20; Ethernet 14, IPv4 20, UDP 8, shim 4, metadata header 12. */
const REPORT = 42;
const UDP_CHECKSUM = REPORT - 2;
const INNER_UDP = REPORT + 20 + 14 + 20;
const STACK = INNER_UDP + 8 + 4 + 12;
const START_NS = 1_700_000_000_000_000_000n;

function wordsOf(bits: readonly number[]): number {
  return bits.reduce((sum, bit) => sum + (bit >= 4 && bit <= 6 ? 2 : 1), 0);
}

function hopOf(bits: readonly number[], index: number): Hop {
  const items: Readonly<Record<number, Hop>> = {
    0: { nodeId: index + 1 },
    1: { l1IngressInterface: 2 * index + 1, l1EgressInterface: 2 * index + 2 },
    2: { hopLatency: LATENCY.low },
    3: { queueId: 0, queueOccupancy: 17 + index },
    4: { ingressTimestamp: START_NS + BigInt(index) * 50_000n },
    5: { egressTimestamp: START_NS + BigInt(index) * 50_000n + 1000n },
    7: { egressUtilization: 4000 + index },
    8: { bufferId: 0, bufferOccupancy: 900 + index },
  };
  return Object.assign({}, ...bits.map((bit) => items[bit])) as Hop;
}

export function templateOf({ hops, bits }: Shape, { mac, address, sender }: Destination): Template {
  const words = wordsOf(bits);
  const list = Array.from({ length: hops }, (_, index) => hopOf(bits, index));
  const frame = encodeFrame(
    telemetry({
      flow: { source: '10.0.1.1', destination: '10.0.2.2', sourcePort: 4000, destinationPort: 80 },
      hops: list,
    }),
    { reporter: sender, collector: address, destinationMac: mac, intPorts: [INT_PORT], reportPort: REPORT_PORT },
  );
  // The sender changes what they cover: 0 is 'not computed', for the report and for the packet in it.
  for (const at of [UDP_CHECKSUM, INNER_UDP + 6]) frame.fill(0, at, at + 2);
  const place = (bit: number): number => {
    const index = bits.indexOf(bit);
    return index < 0 ? -1 : wordsOf(bits.slice(0, index));
  };
  return {
    frame,
    sequence: REPORT,
    port: INNER_UDP,
    stack: STACK,
    hops,
    words,
    node: place(0),
    value: place(2),
  };
}
